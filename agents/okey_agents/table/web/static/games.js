// My games: the matches that this browser has played to their end, with replay, review, export and delete.

import { h } from "./dom.js";
import { replayDialog } from "./replay.js";
import { botName, language, t, tileName } from "./words.js";

/** The page of earlier matches. `app` answers to: askGames(ask, record, round), leave(). */
export function gamesPage(app, games) {
  const name = (game, seat) => (seat === game.seat ? t.you : game.players[seat] === "?" ? t.player(seat + 1) : game.players[seat]);
  return h("main", { class: "home" }, h("section", { class: "setup games" },
    h("h2", {}, t.games.title),
    games.length ? statistics(games) : h("p", {}, t.games.none),
    games.map((game) => h("section", { class: "story" },
      h("h3", {}, new Date(game.ended).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" }),
        game.winners.includes(game.seat) ? h("span", { class: "crown" }, ` ★ ${t.games.won}`) : null),
      h("p", {}, game.scores.map((score, seat) => `${name(game, seat)} ${score}`.replace("-", "−")).join(" · ")),
      h("p", { class: "note" }, `${opponents(game)} · ${t.games.rounds(game.rounds.length, roundsWon(game))}`),
      game.review ? reviewOf(game) : null,
      h("div", { class: "buttons" },
        h("button", { onclick: () => app.askGames("replay", game.record) }, t.replay),
        game.review ? null : h("button", { onclick: (event) => {
          event.target.disabled = true;
          event.target.textContent = t.thinking;
          app.askGames("review", game.record);
        } }, t.games.review),
        h("button", { onclick: () => app.askGames("export", game.record) }, t.record),
        h("button", { onclick: () => app.askGames("forget", game.record) }, t.games.forget)))),
    h("div", { class: "buttons" }, h("button", { class: "primary", onclick: () => app.leave() }, t.games.back))));
}

const roundsWon = (game) => game.rounds.filter((winner) => winner === game.seat).length;
const decimal = (value) => value.toLocaleString(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Against whom: the levels of the bots, and people. */
function opponents(game) {
  const others = game.bots.filter((_, seat) => seat !== game.seat).map((bot) => (bot === null ? t.games.people : bot === "" ? t.bot : botName(bot)));
  return [...new Set(others)].sort().join(", ");
}

/** Rounds won by level of the opponents, and the points given away in each decision, by the coach's measure. */
function statistics(games) {
  const levels = Map.groupBy ? Map.groupBy(games, opponents) : new Map([[t.games.all, games]]);
  const sum = (list, value) => list.reduce((total, game) => total + value(game), 0);
  return h("table", { class: "sheet" },
    h("thead", {}, h("tr", {}, [t.games.against, t.games.roundsWon, t.games.given].map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, [...levels].map(([level, list]) => {
      const rounds = sum(list, (game) => game.rounds.length);
      const won = sum(list, roundsWon);
      const reviewed = list.filter((game) => game.review);
      const decisions = sum(reviewed, (game) => game.review.decisions);
      const given = sum(reviewed, (game) => game.review.given) / 100;
      return h("tr", {}, h("th", { scope: "row" }, level), h("td", {}, t.games.of(won, rounds)), h("td", {}, decisions ? decimal(given / decisions) : "·"));
    })));
}

/** What the coach says of a match. */
function reviewOf({ review }) {
  const words = (action) => {
    const [what, tile] = action.split(" ");
    return tile ? t.hints[what](tile === "*" ? t.okey : tileName(tile)) : t.actions[what];
  };
  return h("div", {}, h("p", {}, t.games.reviewed(review.decisions, review.agreed, decimal(review.given / 100))),
    h("ul", {}, review.notes.map((note) => h("li", {}, `${t.round(note.round)}, ${t.games.throw(note.throws)}: ${words(note.played)} (−${decimal(note.cost / 100)}) → ${words(note.best)}`))));
}

/** Opens the replay of a round of an earlier match. */
export function showGame(app, replay) {
  document.querySelector("dialog.replay")?.remove();
  const names = replay.players.map((player, seat) => (player === "?" ? t.player(seat + 1) : player));
  const dialog = replayDialog(replay, replay, names, { onRound: (round) => app.askGames("replay", replay.record, round), onClose: () => dialog.remove() });
  document.body.append(dialog);
  dialog.showModal();
}
