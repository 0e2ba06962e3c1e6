// The end of a round and of a match: who has won, all racks as melds, the score.

import { h } from "./dom.js";
import { tileFigure } from "./tile.js";
import { t, tileName } from "./words.js";

/** The dialog at the end. `page` answers to: ready(), replay(round), record(), closeEnd(). */
export function endDialog(view, names, page) {
  const { result, match } = view;
  const finish = result.winner === null ? null : h("p", { class: "last-tile" },
    tileFigure(result.finish, view.round.okey, tileName(result.finish, view.round.okey)),
    h("span", {}, `${t.how(result)} · ${tileName(result.finish, view.round.okey)} ${t.laid}`));
  const waiting = view.seats.filter((seat, i) => seat.here && !seat.bot && !seat.ready && i !== view.you).map((seat) => seat.name);
  const ready = view.you !== null && view.seats[view.you].ready;
  return h("dialog", { class: `end ${match.over ? "match" : ""}`, "aria-labelledby": "end-title" },
    h("h2", { id: "end-title", tabindex: -1 }, match.over ? matchTitle(view, names) : roundTitle(view, names)),
    match.over ? h("p", { class: "small-title" }, roundTitle(view, names)) : null,
    finish,
    h("div", { class: "racks" }, [0, 1, 2, 3].map((i) => ((view.you ?? 0) + i) % 4).map((seat) => rackOf(view, names, seat))),
    h("div", { class: "buttons" },
      h("button", { class: "primary", disabled: ready, onclick: () => page.ready(), autofocus: true },
        ready ? (waiting.length ? t.waitingFor(waiting.join(", ")) : "…") : match.over ? t.newMatch : t.nextRound),
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
    h("div", { class: "laid" },
      melds.map((meld) => h("span", { class: "meld" }, figures(meld))),
      parts.map((part) => h("span", { class: "part" }, figures(part))),
      left.length ? h("span", { class: "part" }, figures(left)) : null));
}
