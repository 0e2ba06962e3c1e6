// The table itself: players, their throws at the corners, the stock and the indicator in the middle, and tiles in flight.

import { h, icon, isStill, set } from "./dom.js";
import { follow } from "./drag.js";
import { clack } from "./sound.js";
import { tileFigure, tileSvg } from "./tile.js";
import { botName, t, tileName } from "./words.js";

const SIDES = ["bottom", "right", "top", "left"]; // as seen from the player, in the order of play
const CORNERS = ["bottom-right", "top-right", "top-left", "bottom-left"]; // where each of them throws to
const SEEN = 4; // throws shown on a heap
const FLIGHT = 320; // ms

export class Felt {
  /** `page` answers to: drawTo(what, place), hover(target), tapped(what), openThrows(). */
  constructor(page) {
    this.page = page;
    this.plates = SIDES.map((side) => h("div", { class: `plate ${side}` }));
    this.heaps = CORNERS.map((corner, side) => this.heap(corner, side));
    this.stock = h("button", {
      class: "stock", "data-drop": "finish",
      onpointerdown: (event) => this.pull(event, "draw"),
      onclick: (event) => event.detail === 0 && page.tapped("stock"),
    });
    this.indicator = h("div", { class: "shown" });
    this.wild = h("div", { class: "shown" });
    this.says = h("span", {});
    this.clock = h("b", { class: "clock", role: "timer", hidden: true });
    this.status = h("p", { class: "status" }, this.says, this.clock);
    this.element = h("section", { class: "felt" },
      h("div", { class: "star", "aria-hidden": "true" }),
      this.plates, this.heaps,
      h("div", { class: "middle" }, this.indicator, this.stock, this.wild),
      this.status);
  }

  heap(corner, side) {
    const what = ["throw", null, null, "take"][side];
    const tap = (event) => (!what || event.target.closest(".count") ? this.page.openThrows() : this.page.tapped(what));
    return h("button", {
      class: `heap ${corner}`,
      "data-drop": what === "throw" ? "throw" : null,
      onpointerdown: (event) => (what === "take" && !event.target.closest(".count") ? this.pull(event, "take") : follow(event, { tap: () => tap(event) })),
      onclick: (event) => event.detail === 0 && tap(event),
    });
  }

  /** Draws or takes a tile that is dragged to the rack. */
  pull(event, what) {
    const may = this.view?.round?.may[what];
    follow(event, {
      ghost: may ? () => h("div", { html: tileSvg(what === "draw" ? "?" : this.view.round.offer, this.view.round.okey) }) : null,
      over: (target) => this.page.hover(target),
      tap: () => this.page.tapped(what === "draw" ? "stock" : "take"),
      drop: (target) => target?.dataset.drop === "place" && this.page.drawTo(what, Number(target.dataset.place)),
    });
  }

  side(seat) {
    return (seat - (this.view.you ?? 0) + 4) % 4;
  }

  show(view, names) {
    this.view = view;
    const { round } = view;
    const playing = view.stage === "play";
    for (let seat = 0; seat < 4; seat++) {
      const side = this.side(seat);
      this.showPlate(this.plates[side], view, seat, names);
      const heap = round.heaps[seat];
      const element = this.heaps[side];
      const offered = side === 3 && round.may.take;
      element.classList.toggle("offered", offered);
      element.classList.toggle("wanted", side === 0 && round.may.throw);
      const key = heap.slice(-SEEN).join(" ") + heap.length + round.okey;
      if (element.dataset.key !== key) {
        element.dataset.key = key;
        const tiles = heap.slice(-SEEN);
        element.innerHTML = `<span class="dish"></span>${tiles
          .map((tile, i) => tileSvg(tile, round.okey, `under-${tiles.length - 1 - i}`)).join("")}`;
        if (heap.length > 1) element.append(h("span", { class: "count" }, heap.length));
      }
      const last = heap.at(-1);
      set(element, "aria-label", `${t.throwsOf(names[seat])}: ${last ? tileName(last, round.okey) : t.nothing}${offered ? `. ${t.actions.take}` : ""}`);
    }
    this.stock.classList.toggle("wanted", round.may.draw);
    set(this.stock, "aria-label", t.stockLeft(round.stock));
    if (this.stock.dataset.key !== String(round.stock)) {
      this.stock.dataset.key = round.stock;
      const layers = Math.min(4, Math.ceil(round.stock / 12));
      this.stock.innerHTML = `<span class="dish"></span>${Array.from({ length: layers }, (_, i) => tileSvg("?", null, `layer-${i}`)).join("")}
        <span class="count">${round.stock}</span>`;
    }
    this.showFigure(this.indicator, t.indicator, round.indicator, round.okey);
    this.showFigure(this.wild, t.okey, "*", round.okey);
    this.says.textContent = this.statusText(view, names, playing);
    this.status.classList.toggle("preparing", view.preparing.length > 0 && round.turn !== view.you);
    this.element.classList.toggle("mine", playing && round.turn === view.you);
  }

  showFigure(element, label, tile, okey) {
    const key = `${label} ${tile} ${okey}`;
    if (element.dataset.key === key) return;
    element.dataset.key = key;
    element.replaceChildren(tileFigure(tile, okey, `${label}: ${tileName(tile, okey)}`), h("span", { class: "label" }, label));
  }

  showPlate(plate, view, seat, names) {
    const { name, bot, here, taken, score } = view.seats[seat];
    const { round } = view;
    const turn = view.stage === "play" && round.turn === seat;
    const lost = round.lost[seat];
    const getsReady = view.preparing.includes(bot);
    const note = getsReady ? t.getsReady : bot ? botName(bot) : !taken ? t.bot : view.seats[seat].bot_plays ? t.away : here ? "" : t.gone;
    plate.classList.toggle("turn", turn);
    const key = JSON.stringify([name, note, score, lost, round.tiles[seat], round.shown_by === seat]);
    if (plate.dataset.key === key) return;
    plate.dataset.key = key;
    plate.style.setProperty("--hue", [18, 205, 130, 285][seat]);
    plate.replaceChildren(
      h("span", { class: "face", "aria-hidden": "true" }, bot ? h("span", { html: icon("robot") }) : !here ? h("span", { html: icon("away") }) : firstSign(names[seat])),
      h("span", { class: "who" }, h("b", {}, names[seat]), note ? h("small", {}, note) : null),
      h("span", { class: "points", "aria-label": t.points(score), role: "img" }, score),
      seat === view.you ? "" : h("span", { class: "backs", role: "img", "aria-label": t.tilesOf(round.tiles[seat]) },
        Array.from({ length: round.tiles[seat] }, () => h("i"))));
  }

  statusText(view, names, playing) {
    const { round } = view;
    if (!playing) return "";
    if (view.preparing.length && round.turn !== view.you) {
      const bots = new Set([...view.seats.map((seat) => seat.bot).filter(Boolean), ...view.preparing]);
      return t.preparing(view.preparing.map(botName).join(", "), bots.size - view.preparing.length, bots.size);
    }
    if (view.seats[view.you]?.bot_plays) return t.asleep;
    if (view.you === null) return `${t.watching} ${t.turnOf(names[round.turn])}`;
    if (round.turn !== view.you) return t.turnOf(names[round.turn]);
    if (round.phase === "throw") return t.yourTurn.throw;
    return round.may.take ? t.yourTurn.draw : t.yourTurn.drawOnly;
  }

  // --- tiles in flight ---------------------------------------------------------------------------------

  /** Shows what has just happened. `rackCell` gives the place of the rack to which the player's own tile comes. */
  fly(events, view, rackCell) {
    for (const [seat, what, tile] of events) {
      if (what === "show") continue;
      clack(what === "draw" ? 0.8 : what === "finish" ? 1.4 : 1);
      if (isStill()) continue;
      const side = this.side(seat);
      const mine = seat === view.you;
      const hand = mine ? rackCell(tile) : this.plates[side].querySelector(".face");
      const [from, to] = {
        draw: [this.stock, hand],
        take: [this.heaps[(side + 3) % 4], hand],
        throw: [mine ? null : hand, this.heaps[side]],
        finish: [mine ? null : hand, this.stock],
      }[what];
      if (from && to) flyTile(what === "draw" && !mine ? "?" : what === "finish" ? "?" : tile, view.round.okey, from, to, what === "throw" ? to : mine ? hand : null);
    }
  }
}

/** The first sign of a name as people see it: an emoji may be several characters. */
const firstSign = (name) => (Intl.Segmenter ? new Intl.Segmenter().segment(name)[Symbol.iterator]().next().value.segment : [...name][0]);

/** Moves a tile from one element to another; the last tile of `hidden` is not shown until it has come. */
function flyTile(text, okey, from, to, hidden) {
  const a = from.getBoundingClientRect();
  const b = to.getBoundingClientRect();
  if (!a.width || !b.width) return;
  const size = (r) => Math.min(r.width, r.height / 1.4);
  const image = h("div", { class: "flying", html: tileSvg(text, okey) });
  document.body.append(image);
  const at = (r) => `translate(${r.left + r.width / 2}px, ${r.top + r.height / 2}px) translate(-50%, -50%) scale(${size(r) / 60})`;
  const last = hidden?.querySelector(".tile:last-of-type");
  if (last) last.style.visibility = "hidden";
  image.animate([{ transform: at(a) }, { transform: at(b) }], { duration: FLIGHT, easing: "cubic-bezier(.3,.1,.25,1)" })
    .finished.finally(() => {
      image.remove();
      if (last) last.style.visibility = "";
    });
}
