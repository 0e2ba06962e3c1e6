// The page of a table: felt, rack, buttons, panel, and what they do.

import { h, icon, openDialog } from "./dom.js";
import { endDialog } from "./ends.js";
import { Felt } from "./felt.js";
import { invitation } from "./home.js";
import { Panel } from "./panel.js";
import { RackView } from "./rack.js";
import { replayDialog } from "./replay.js";
import { chime, setSound, soundOn } from "./sound.js";
import { tileFigure } from "./tile.js";
import { botName, errorText, eventText, hintWords, language, t, tileName } from "./words.js";

const BETWEEN = 500; // ms between the presses of a double click, at most
const KEYS = { d: "draw", t: "take", x: "throw", f: "finish", s: "show", 1: "runs", 2: "groups", 3: "pairs", v: "flip", h: "hint" };

export class TablePage {
  /** `app` answers to: send(type, message), leave(), toast(text), announce(text). */
  constructor(app) {
    this.app = app;
    this.view = null;
    this.sent = null; // the number of the move that has been sent and is not answered yet
    this.actedAt = -BETWEEN; // when a move was made, by the page's clock
    this.felt = new Felt(this);
    this.rack = new RackView(this);
    this.panel = new Panel(this);
    this.buttons = Object.fromEntries(["draw", "take", "throw", "finish", "show", "runs", "groups", "pairs", "flip", "hint"].map((name) => [
      name, h("button", { class: `act ${name}`, title: t.sortBy[name] ?? t.actions[name], "aria-label": t.sortBy[name] ?? t.actions[name],
        html: `${icon(name)}<span>${t.actions[name]}</span>`, onclick: () => this.do(name) }),
    ]));
    const b = this.buttons;
    this.bubble = h("div", { class: "bubble", hidden: true, role: "status" });
    this.title = h("span", { class: "title" });
    this.invite = h("button", { class: "plain", "aria-label": t.invite, title: t.invite, html: icon("link"), onclick: () => this.openBox(t.invite, invitation(this.view, app)) });
    this.panelButton = h("button", { class: "plain panel-button", "aria-label": t.actions.panel, "aria-expanded": "false", title: t.actions.panel, html: icon("panel"),
      onclick: () => this.showPanel(!this.element.classList.contains("panel-open")) });
    this.next = h("button", { class: "primary next", hidden: true, onclick: () => this.openEnd() });
    const sound = h("button", { class: "plain", "aria-label": t.sound, "aria-pressed": soundOn, html: icon(soundOn ? "sound" : "mute"), onclick: () => {
      setSound(!soundOn);
      sound.innerHTML = icon(soundOn ? "sound" : "mute");
      sound.setAttribute("aria-pressed", soundOn);
    } });
    this.deck = h("section", { class: "deck" },
      h("div", { class: "acts sorting" }, b.runs, b.groups, b.pairs, b.flip, b.hint),
      h("div", { class: "rack-frame" }, this.bubble, this.rack.element),
      h("div", { class: "acts moving" }, b.draw, b.take, b.throw, b.finish, b.show));
    this.element = h("main", { class: "table" },
      h("button", { class: "skip", onclick: () => this.rack.focusOn(this.rack.focus) }, t.toRack),
      h("header", { class: "bar" },
        h("button", { class: "plain", "aria-label": t.actions.leave, title: t.actions.leave, html: icon("leave"), onclick: () => app.leave() }),
        this.title, h("span", { class: "stretch" }), this.invite, sound, this.panelButton),
      this.felt.element, this.next, this.deck, this.panel.element);
    this.onKey = (event) => this.key(event);
    window.addEventListener("keydown", this.onKey);
    this.onTouch = (event) => this.touched(event);
    for (const event of ["pointerdown", "keydown"]) window.addEventListener(event, this.onTouch);
    this.ticks = setInterval(() => this.view && this.tick(), 250);
  }

  /** The connection has been lost, or has come back. */
  connected() {
    this.showButtons();
  }

  /** The whole view has come again: the order of the rack may have changed without the server, and a move may be lost. */
  back() {
    if (this.view.you !== null && this.view.round) this.rack.tell();
    if (this.sent === this.view.moves) this.say(t.notArrived);
    this.sent = null;
  }

  close() {
    window.removeEventListener("keydown", this.onKey);
    for (const event of ["pointerdown", "keydown"]) window.removeEventListener(event, this.onTouch);
    clearInterval(this.ticks);
    for (const box of [this.end, this.replayBox, this.box]) box?.remove();
  }

  /** Any press or key: who is there again plays again; a press closes the hint, and the panel if it is beside it. */
  touched(event) {
    if (this.view?.seats[this.view.you]?.bot_plays) this.app.send("hello");
    if (event.type === "keydown") return;
    this.bubbleText("");
    if (!this.panel.element.contains(event.target) && !this.panelButton.contains(event.target)) this.closePanel();
  }

  openBox(label, ...children) {
    this.box?.remove();
    this.box = openDialog(label, h("h2", {}, label), ...children);
  }

  /** All throws that lie on the table. */
  openThrows() {
    const { heaps, okey } = this.view.round;
    this.openBox(t.throws, [1, 2, 3, 0].map((side) => ((this.view.you ?? 0) + side) % 4).map((seat) => h("section", { class: "story" },
      h("h3", {}, this.names[seat]),
      h("div", { class: "thrown" }, heaps[seat].map((tile) => tileFigure(tile, okey, tileName(tile, okey)))))));
  }

  // --- what the server says ----------------------------------------------------------------------------

  show(view, names) {
    const before = this.view;
    this.view = view;
    this.names = names;
    if (this.sent !== view.moves) this.sent = null;
    const { round } = view;
    const roundKey = `${view.table} ${view.match.round} ${view.round.indicator} ${view.round.starter}`;
    const sameRound = before?.round && this.roundKey === roundKey;
    this.roundKey = roundKey;
    const events = sameRound ? round.events.slice(before.round.events.length) : [];
    this.element.classList.toggle("watching", view.you === null);
    this.felt.show(view, names);
    if (view.you !== null) this.rack.hold(view, roundKey);
    this.panel.show(view, names);
    this.title.replaceChildren(h("b", {}, t.round(view.match.round)));
    if (events.length && events.length <= 3) {
      this.felt.fly(events.filter((event) => !(this.dropped && event[0] === view.you)), view, (tile) => {
        const place = this.rack.placeOf(tile);
        return place < 0 ? this.rack.element : this.rack.cells[place];
      });
    }
    for (const event of events) this.app.announce(eventText(event, view, names));
    if (events.length) this.dropped = false;
    if (!sameRound || events.length) this.forgetHint();
    this.invite.hidden = !view.invite;
    this.showButtons();
    if (view.result && view.stage !== "play") this.showEnd(before);
    else this.dropEnd();
    for (const { replaced, bot } of view.seats) {
      if (replaced && replaced.moves === view.moves - 1 && before && before.moves < view.moves) this.say(t.replaced[replaced.why](botName(bot ?? replaced.bot), botName(replaced.bot)));
    }
    const turn = round.turn === view.you && view.stage === "play";
    if (turn && !(before?.round?.turn === view.you && before.round.phase === round.phase)) this.app.announce(this.felt.says.textContent);
    this.tick();
    if (turn && before && (before.round?.turn !== view.you || !sameRound)) chime();
    document.title = turn ? `● ${t.yourTurn.title} · Okey` : "Okey";
  }

  /** Shows how much time is left: of the turn, then of the bank, then until the next round. */
  tick() {
    const { clock, stage } = this.view;
    const left = clock && Math.max(0, Math.ceil((clock.at + clock.for - Date.now() + this.app.skew) / 1000));
    const bank = (clock?.for - clock?.turn) / 1000;
    this.felt.clock.hidden = !clock || stage !== "play";
    this.felt.clock.textContent = clock ? t.seconds(left > bank ? left - bank : left) : "";
    this.felt.clock.classList.toggle("bank", left <= bank);
    const wait = this.end?.querySelector(".until");
    if (wait) wait.textContent = clock && stage === "round_over" ? ` · ${t.seconds(left)}` : "";
  }

  showButtons() {
    const { may } = this.view.round;
    const b = this.buttons;
    const mine = this.view.round.turn === this.view.you && this.view.stage === "play";
    const drawing = !may.throw;
    b.draw.hidden = b.take.hidden = !drawing;
    b.throw.hidden = b.finish.hidden = drawing;
    b.show.hidden = !may.show;
    const { online } = this.app;
    b.draw.disabled = !online || !may.draw;
    b.take.disabled = !online || !may.take;
    b.throw.disabled = b.finish.disabled = b.show.disabled = !online;
    b.hint.disabled = !online || !mine;
    b.flip.disabled = !this.view.round.rack?.includes("*");
    this.deck.classList.toggle("mine", mine);
  }

  hint(advice) {
    if (advice.moves !== this.view.moves) return;
    const what = advice.action.split(" ")[0];
    const words = hintWords(advice, this.view.round.okey);
    this.bubble.hidden = false;
    this.bubble.replaceChildren(h("b", {}, `${words.what}. `), words.why.map(sentence).join(" "));
    const place = (what === "throw" || what === "finish") ? this.rack.placeOf(advice.tile) : -1;
    this.rack.mark(place >= 0 ? [place] : [], "advised");
    this.felt.stock.classList.toggle("advised", what === "draw" || what === "finish");
    this.felt.heaps[3].classList.toggle("advised", what === "take");
    this.buttons.show.classList.toggle("advised", what === "show");
  }

  bubbleText(text) {
    this.bubble.hidden = !text;
    this.bubble.textContent = text;
  }

  forgetHint() {
    this.bubbleText("");
    this.rack.mark([], "advised");
    this.rack.mark([], "fault");
    for (const element of [this.felt.stock, this.felt.heaps[3], this.buttons.show]) element.classList.remove("advised");
  }

  refused(error) {
    this.dropped = false;
    this.sent = null;
    this.bubbleText("");
    this.rack.choose(null);
    if (this.view.you !== null) this.rack.hold(this.view, this.roundKey); // what was shown ahead of the answer goes back
    const text = errorText(error, this.names);
    this.app.toast(text);
    if (error.code === "laid_wrong") {
      this.rack.mark(error.places, "fault");
      setTimeout(() => this.rack.mark([], "fault"), 4000);
    }
    this.felt.stock.classList.toggle("refused", error.code === "not_finished" || error.code === "laid_wrong");
    setTimeout(() => this.felt.stock.classList.remove("refused"), 500);
  }

  // --- what the player does ----------------------------------------------------------------------------

  do(name) {
    if (name === "runs" || name === "groups" || name === "pairs") this.rack.sort(name, this.view.rules.run_13_1);
    else if (name === "flip") this.rack.flip();
    else if (name === "hint") {
      this.bubbleText(t.thinking);
      this.app.send("hint");
    } else if (name === "throw" || name === "finish") {
      if (this.rack.chosen !== null) this.laid(this.rack.chosen, name, false);
      else if (!this.isDouble) this.say(t.chooseTile);
    } else if (!this.isDouble || this.view.round.may[name]) this.act(name);
  }

  act(action, place = this.rack.roomier(action)) {
    if (!this.app.online) this.say(t.lost);
    if (!this.app.online || this.sent === this.view.moves) return;
    this.sent = this.view.moves;
    this.actedAt = performance.now();
    this.app.send("act", { action, at: this.view.moves, place });
  }

  /** Whether a press that means nothing now is the second half of a double click on what has just been done. */
  get isDouble() {
    return performance.now() - this.actedAt < BETWEEN;
  }

  /** Throws a tile of the rack, or finishes with it. */
  laid(place, target, dropped = true) {
    if (target !== "throw" && target !== "finish") return;
    this.dropped = dropped;
    this.act(`${target} ${this.rack.tileAt(place)}`, place);
  }

  /** Draws or takes a tile to a place of the rack. */
  drawTo(what, place) {
    this.rack.makeRoom(place);
    this.dropped = true;
    this.act(what, place);
  }

  /** Does what a tap on a part of the felt means now: draw, take, throw or finish. */
  tapped(what) {
    const { may } = this.view.round;
    const means = what === "take" ? may.take : what !== "throw" || may.throw || this.rack.chosen !== null;
    if (!means && !this.isDouble) this.openThrows();
    else if (what === "take") this.do("take");
    else if (what === "stock" && !may.throw) this.do("draw");
    else this.do(what === "stock" ? "finish" : "throw");
  }

  hover(target) {
    for (const element of this.element.querySelectorAll(".over")) if (element !== target) element.classList.remove("over");
    target?.classList.add("over");
  }

  arranged(places, down) {
    this.app.send("arrange", { places, down });
  }

  say(text, quiet = false) {
    if (quiet) this.app.announce(text);
    else this.app.toast(text);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.view === null || document.querySelector("dialog[open]")) return;
    if (event.target.matches("input, select, textarea")) return;
    if (event.key === "?") {
      this.panel.open("keys");
      this.showPanel(true);
      this.panel.tabs[this.panel.tabs.length - 1].focus();
    }
    if (event.key === "Escape") {
      this.bubbleText("");
      if (this.closePanel()) this.panelButton.focus();
    }
    const name = KEYS[event.key.toLowerCase()];
    if (!name || this.view.you === null || !this.view.round) return;
    event.preventDefault();
    const button = this.buttons[name];
    if ((name === "throw" || name === "finish") && this.rack.chosen === null && this.rack.places[this.rack.focus] !== null
      && document.activeElement === this.rack.cells[this.rack.focus]) this.rack.choose(this.rack.focus);
    if (!button.disabled || (this.app.online && name in { draw: 1, take: 1 })) this.do(name);
  }

  // --- ends and replays --------------------------------------------------------------------------------

  showEnd(before) {
    const { view } = this;
    const justNow = before?.stage === "play";
    this.next.hidden = false;
    this.next.textContent = view.match.over ? t.matchOver : t.nextRound;
    const key = JSON.stringify([this.roundKey, view.seats.map((seat) => [seat.ready, seat.here])]);
    if (this.endKey === key) return;
    this.endKey = key;
    const wasOpen = this.end?.open ?? true;
    if (this.end) {
      if (wasOpen) this.openEnd();
    } else setTimeout(() => this.endKey && this.openEnd(), justNow ? 900 : 0);
  }

  openEnd() {
    this.end?.remove();
    this.end = endDialog(this.view, this.names, this);
    document.body.append(this.end);
    if (!this.replayBox) this.end.showModal();
    this.tick();
  }

  closeEnd() {
    this.end?.close();
  }

  dropEnd() {
    const hadFocus = this.end?.open;
    this.end?.remove();
    if (hadFocus && this.view.you !== null) this.rack.focusOn(this.rack.focus); // the keyboard stays at the table
    this.end = null;
    this.endKey = null;
    this.next.hidden = true;
  }

  ready() {
    this.app.send("ready");
  }

  replay(round) {
    this.app.send("replay", { round });
  }

  record() {
    this.app.send("record");
  }

  showReplay(replay) {
    this.replayBox?.remove();
    this.end?.close();
    const backToEnd = Boolean(this.end);
    this.replayBox = replayDialog(replay, this.view, this.names, {
      onRound: (round) => this.replay(round),
      onClose: () => {
        this.replayBox?.remove();
        this.replayBox = null;
        if (backToEnd && this.end && this.view.stage !== "play") this.openEnd();
      },
    });
    document.body.append(this.replayBox);
    this.replayBox.showModal();
  }

  speak(code) {
    this.app.speak(code);
  }

  showPanel(open) {
    this.element.classList.toggle("panel-open", open);
    this.panelButton.setAttribute("aria-expanded", open);
  }

  /** Closes the panel, and says whether it was open. */
  closePanel() {
    const was = this.element.classList.contains("panel-open");
    this.showPanel(false);
    return was;
  }
}

const sentence = (text) => `${text[0].toLocaleUpperCase(language)}${text.slice(1)}.`;
