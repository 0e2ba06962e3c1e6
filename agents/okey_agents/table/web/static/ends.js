// The end of a round and of a match: who has won and how, all racks as melds, what each player lost and why, the score sheet.

import { h } from "./dom.js";
import { tileFigure } from "./tile.js";
import { t, tileName } from "./words.js";

/** The dialog at the end. `page` answers to: ready(), replay(round), record(), closeEnd(). */
export function endDialog(view, names, page) {
  const { result, match } = view;
  const finish = result.winner === null ? null : h("p", { class: "last-tile" },
    tileFigure(result.finish, view.round.okey, tileName(result.finish, view.round.okey)),
    h("span", {}, `${t.how(result)} · ${t.lastTile(tileName(result.finish, view.round.okey))}`));
  const waiting = view.seats.filter((seat, i) => seat.here && !seat.bot && !seat.ready && i !== view.you).map((seat) => seat.name);
  const ready = view.you !== null && view.seats[view.you].ready;
  return h("dialog", { class: `end ${match.over ? "match" : ""}`, "aria-labelledby": "end-title" },
    h("h2", { id: "end-title", tabindex: -1 }, match.over ? matchTitle(view, names) : roundTitle(view, names)),
    match.over ? h("p", { class: "small-title" }, roundTitle(view, names)) : null,
    finish,
    h("div", { class: "racks" }, [0, 1, 2, 3].map((i) => ((view.you ?? 0) + i) % 4).map((seat) => rackOf(view, names, seat))),
    scoreSheet(view, names, (round) => page.replay(round)),
    match.over ? fairDeals(view) : null,
    h("div", { class: "buttons" },
      h("button", { class: "primary", disabled: ready, onclick: () => page.ready(), autofocus: true },
        ready ? (waiting.length ? t.waitingFor(waiting.join(", ")) : "…") : match.over ? t.newMatch : t.nextRound, h("span", { class: "until" })),
      h("button", { onclick: () => page.replay(match.history.length) }, t.replay),
      match.over ? h("button", { onclick: () => page.record() }, t.record) : null,
      h("button", { onclick: () => page.closeEnd() }, t.close)));
}

function roundTitle(view, names) {
  const { winner, ending } = view.result;
  if (winner === null) return ending === "void" ? t.roundVoid : t.truncated;
  return winner === view.you ? t.youWonRound : t.roundWon(names[winner]);
}

function matchTitle(view, names) {
  const { winners } = view.match;
  if (!winners.length) return t.matchOver;
  return winners.length === 1 && winners[0] === view.you ? t.youWonMatch : t.matchWon(winners.map((seat) => names[seat]).join(t.and));
}

function rackOf(view, names, seat) {
  const { result, round, match } = view;
  const { melds, parts, left } = result.racks[seat];
  const figures = (tiles) => tiles.map((tile) => tileFigure(tile, round.okey, tileName(tile, round.okey)));
  const lost = result.lost[seat];
  const won = match.over ? match.winners.includes(seat) : result.winner === seat;
  return h("section", { class: `end-rack ${result.winner === seat ? "winner" : ""}` },
    h("h3", {}, won ? h("span", { class: "crown", "aria-hidden": "true" }, "★") : null, h("span", {}, names[seat]),
      h("span", { class: "change" }, lost ? `−${lost}` : ""), h("b", {}, view.seats[seat].score)),
    h("p", { class: "why" }, reasons(view, names, seat).join(" · ")),
    h("div", { class: "laid" },
      melds.map((meld) => h("span", { class: "meld" }, figures(meld))),
      parts.map((part) => h("span", { class: "part" }, figures(part))),
      left.length ? h("span", { class: "part" }, figures(left)) : null));
}

/** Why a player has lost points in the round, or what they did in it. */
function reasons(view, names, seat) {
  const { lost, winner, shown_by: shown } = view.result;
  const partner = view.rules.teams && shown !== null && (seat - shown + 4) % 4 === 2;
  const twin = shown === null || shown === seat || partner ? 0 : view.rules.indicator_points;
  const rest = lost[seat] - twin;
  return [
    seat === winner && t.how(view.result), seat === shown && t.because.showed,
    rest > 0 && (winner === null ? t.because.void(rest) : t.because.finish(rest, names[winner])), twin > 0 && t.because.twin(twin, names[shown]),
  ].filter(Boolean);
}

/** The score sheet: a line for each round, with how it ended. */
export function scoreSheet(view, names, onReplay) {
  const { history } = view.match;
  const running = view.round && view.stage === "play";
  const cells = (values, row) => values.map((value, seat) => h("td", { class: history[row]?.winner === seat ? "won" : null }, value));
  const rounds = [...history, ...(running ? [view.round] : [])];
  const starts = view.seats.map(({ score }, seat) => rounds.reduce((points, { lost }) => points + lost[seat], score));
  const minus = (lost) => lost.map((points) => (points ? `−${points}` : "·"));
  const how = (round) => (round.winner === null ? t.void : [round.by_pairs ? t.actions.pairs : t.melds, round.by_okey && t.okey].filter(Boolean).join(" + "));
  return h("table", { class: "sheet" },
    h("thead", {}, h("tr", {}, h("th", {}), names.map((name, seat) => h("th", { scope: "col", class: seat === view.you ? "own" : null }, name)))),
    h("tbody", {},
      h("tr", {}, h("th", { scope: "row" }, t.start), starts.map((points) => h("td", {}, points))),
      history.map((round, i) => h("tr", {},
        h("th", { scope: "row" }, h("button", { class: "link", title: t.replay, onclick: () => onReplay(i + 1) }, `${i + 1} ▸`), h("small", {}, how(round))),
        cells(minus(round.lost), i))),
      running ? h("tr", {}, h("th", { scope: "row" }, view.match.round), cells(minus(view.round.lost), -1)) : null),
    h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, t.now), view.seats.map((seat) => h("td", {}, seat.score)))));
}

/** The hash from which the deals of this match were settled; after the match also the secret, and how to check it. */
export function fairDeals({ fair }) {
  return h("details", { class: "fair", open: Boolean(fair.secret) }, h("summary", {}, t.fair.title), h("p", {}, fair.secret ? t.fair.after : t.fair.before),
    h("code", {}, fair.secret ? `okey verify FILE --secret ${fair.secret} --hash ${fair.hash}` : fair.hash));
}
