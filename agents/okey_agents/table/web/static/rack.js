// The rack (ıstaka): two rows of fifteen places. It keeps the player's order and sends it to the server.

import { PLACES, ROW, blockAt, inserted, merged, moved, movedBlock, sameTiles, sorted } from "./arrange.js";
import { h, isStill, set } from "./dom.js";
import { follow } from "./drag.js";
import { tileSvg } from "./tile.js";
import { t, tileName } from "./words.js";

export class RackView {
  /** `page` answers to: arranged(places, down), laid(place, target), say(text). */
  constructor(page) {
    this.page = page;
    this.okey = null;
    this.places = Array(PLACES).fill(null);
    this.leaving = null;
    this.chosen = null;
    this.focus = 0;
    this.round = null;
    this.cells = Array.from({ length: PLACES }, (_, place) => this.cell(place));
    const row = (from) => h("div", { class: "ledge", role: "row" }, this.cells.slice(from, from + ROW));
    this.element = h("div", { class: "rack", role: "grid", "aria-label": t.yourRack }, row(0), row(ROW));
    this.element.addEventListener("keydown", (event) => this.key(event));
  }

  cell(place) {
    return h("button", {
      class: "place",
      role: "gridcell",
      "data-drop": "place",
      "data-place": place,
      tabindex: place === 0 ? 0 : -1,
      onpointerdown: (event) => this.press(event, place),
      onclick: (event) => event.detail === 0 && this.enter(place, event.shiftKey),
      oncontextmenu: (event) => event.preventDefault(), // a long press takes a block
      onfocus: () => this.focusOn(place, false),
    });
  }

  // --- what lies there ---------------------------------------------------------------------------------

  /** Shows the tiles that the server says the rack holds, in the player's order unless the round is new. */
  hold(view, roundKey) {
    const { rack, down, okey } = view.round;
    this.okey = okey;
    const fresh = this.round !== roundKey;
    const mine = this.places.map(faceUp);
    if (fresh) this.places = rack.map((tile, place) => (down.includes(place) ? DOWN : tile));
    else if (!sameTiles(mine, rack)) {
      const next = merged(mine, rack).map((tile, place) => (tile === "*" && this.places[place] === DOWN ? DOWN : tile));
      if (this.chosen !== null && next[this.chosen] !== this.places[this.chosen]) this.chosen = null;
      this.places = next;
      if (!same(next.map(faceUp), rack)) this.tell();
    }
    if (fresh) this.chosen = null;
    this.round = roundKey;
    this.leaving = null;
    this.draw(fresh && !view.round.events.length);
  }

  draw(dealt = false) {
    this.cells.forEach((cell, place) => {
      const tile = this.places[place];
      const look = tile === null ? "" : `${tile}/${this.okey}`;
      if (cell.dataset.look !== look) {
        cell.dataset.look = look;
        cell.innerHTML = tile === null ? "" : tileSvg(shown(tile), this.okey);
      }
      set(cell, "aria-label", `${this.nameOf(tile)}, ${t.place(Math.floor(place / ROW) + 1, (place % ROW) + 1)}`);
      set(cell, "aria-selected", tile === null ? null : String(place === this.chosen));
      cell.classList.toggle("chosen", place === this.chosen);
      cell.classList.toggle("leaving", this.leaving !== null && place >= this.leaving[0] && place <= this.leaving[1]);
      set(cell, "tabindex", place === this.focus ? 0 : -1);
      if (dealt) deal(cell.firstChild, place % ROW);
    });
  }

  nameOf(tile) {
    return tile === null ? t.empty : tile === DOWN ? t.faceDown : tileName(tile, this.okey);
  }

  tell() {
    const down = this.places.flatMap((tile, place) => (tile === DOWN ? [place] : []));
    this.page.arranged(this.places.map(faceUp), down);
  }

  /** The tile at a place, as an action names it. */
  tileAt(place) {
    return faceUp(this.places[place]);
  }

  /** The place of a tile, one that lies face up if there is one; -1: the rack does not hold it. */
  placeOf(tile) {
    const place = this.places.indexOf(tile);
    return place >= 0 ? place : this.places.map(faceUp).indexOf(tile);
  }

  mark(places, kind) {
    this.cells.forEach((cell, place) => cell.classList.toggle(kind, places.includes(place)));
  }

  // --- what the player does ----------------------------------------------------------------------------

  sort(by, wrap) {
    this.lay(sorted(this.places, by, this.okey, wrap, PHONE.matches ? PHONE_ROW : ROW));
  }

  flip() {
    const wilds = this.places.flatMap((tile, place) => (tile === "*" || tile === DOWN ? [place] : []));
    const place = wilds.includes(this.chosen) ? this.chosen : wilds.length === 1 ? wilds[0] : null;
    if (place === null) this.page.say(t.chooseOkey);
    else this.lay(this.places.with(place, this.places[place] === DOWN ? "*" : DOWN));
  }

  move(from, to, block = false) {
    this.lay((block ? movedBlock : moved)(this.places, from, to));
  }

  /** Shows an order that the player has made, and sends it. */
  lay(places) {
    this.places = places;
    this.chosen = null;
    this.draw();
    this.tell();
  }

  choose(place) {
    this.chosen = place === null || this.places[place] === null ? null : place;
    this.draw();
  }

  press(event, place) {
    const tile = this.places[place];
    this.focusOn(place, false);
    const pressedAt = performance.now();
    let block = false; // with Shift, or after a long press, the tiles beside it come along
    follow(event, {
      ghost: tile === null ? null : () => {
        block = event.shiftKey || performance.now() - pressedAt > LONG;
        this.leaving = block ? blockAt(this.places, place) : [place, place];
        this.draw();
        const [first, last] = this.leaving;
        return h("div", { class: "carried", style: `--grip: ${place - first}` }, this.places.slice(first, last + 1).map((one) => h("span", { html: tileSvg(shown(one), this.okey) })));
      },
      over: (target) => this.page.hover(target),
      tap: () => {
        const before = this.tapped;
        this.tapped = { place, at: performance.now() };
        if (tile !== null && before?.place === place && this.tapped.at - before.at < DOUBLE) this.page.laid(place, "throw", false);
        else if (tile !== null) this.choose(place === this.chosen ? null : place);
        else if (this.chosen !== null) this.move(this.chosen, place);
      },
      drop: (target) => {
        if (target?.dataset.drop === "place") this.move(place, Number(target.dataset.place), block);
        else if (target && !block) this.page.laid(place, target.dataset.drop);
      },
      end: () => {
        this.leaving = null;
        this.draw();
      },
    });
  }

  /** Lifts a tile or puts it down, by Enter or the click of a screen reader. */
  enter(place, block) {
    if (this.chosen === place) this.choose(null);
    else if (this.chosen !== null) {
      this.move(this.chosen, place, block);
      this.page.say(t.putDown, true);
    } else if (this.places[place] !== null) {
      this.choose(place);
      this.page.say(t.lifted(this.nameOf(this.places[place])), true);
    }
  }

  focusOn(place, really = true) {
    this.focus = place;
    this.cells.forEach((cell, i) => set(cell, "tabindex", i === place ? 0 : -1));
    if (really) this.cells[place].focus();
  }

  key(event) {
    const column = this.focus % ROW;
    const start = this.focus - column;
    const to = {
      ArrowLeft: start + (column + ROW - 1) % ROW,
      ArrowRight: start + (column + 1) % ROW,
      ArrowUp: column,
      ArrowDown: ROW + column,
      Home: start,
      End: start + ROW - 1,
    }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      this.focusOn(to);
    } else if (event.key === "Escape" && this.chosen !== null) this.choose(null);
  }

  /** On a phone, the place for a tile that comes: the last free one of the row with fewer tiles; null: the server's choice. */
  roomier(action) {
    if (!PHONE.matches || !["draw", "take"].includes(action)) return null;
    const [upper, lower] = [0, ROW].map((start) => this.places.slice(start, start + ROW).filter(Boolean).length);
    return upper < lower ? this.places.lastIndexOf(null, ROW - 1) : this.places.lastIndexOf(null);
  }

  /** Frees a place for a tile that is about to come, by moving the tile that stands there aside. */
  makeRoom(place) {
    const next = inserted(this.places, place, null);
    if (this.places[place] !== null && next !== null) this.lay(next);
  }
}

/** Lets one tile fall into place. An animation of its own: a class on the rack would drop every tile that comes later. */
function deal(tile, nth) {
  if (isStill()) return;
  tile?.animate([{ transform: "translateY(-60px) rotate(8deg)", opacity: 0 }, {}], { duration: 420, delay: nth * 28, easing: "ease", fill: "backwards" });
}

const PHONE = matchMedia("(max-width: 600px) and (orientation: portrait)"); // as in style.css
const PHONE_ROW = 9; // tiles in a row that are large enough for a finger
const LONG = 400; // ms of a long press
const DOUBLE = 400; // ms between the taps of a double tap, at most
const DOWN = "*-"; // an okey that lies face down; the server has no such text
const faceUp = (tile) => (tile === DOWN ? "*" : tile);
const shown = (tile) => (tile === DOWN ? "?" : tile);
const same = (a, b) => a.every((tile, place) => tile === b[place]);
