// The panel beside the table: score sheet, log, rules, keys.

import { h, icon } from "./dom.js";
import { fairDeals, scoreSheet } from "./ends.js";
import { languageChoice } from "./home.js";
import { eventText, t } from "./words.js";

const TABS = ["score", "log", "rules", "keys"];
const SWIPE = 50; // pixels

export class Panel {
  /** `page` answers to: replay(round), closePanel(), speak(code). */
  constructor(page) {
    this.page = page;
    this.tab = "score";
    this.tabs = TABS.map((name) => h("button", {
      role: "tab", id: `tab-${name}`, "aria-controls": "panel-body", onclick: () => this.open(name),
    }, t[name]));
    this.body = h("div", { class: "panel-body", id: "panel-body", role: "tabpanel", tabindex: 0 });
    this.element = h("aside", { class: "panel" },
      h("div", { class: "tabs", role: "tablist", onkeydown: (event) => this.walk(event) }, this.tabs,
        h("button", { class: "plain close", "aria-label": t.close, html: icon("close"), onclick: () => page.closePanel() })),
      this.body);
    let from = null; // where a finger touched it: a swipe to the right closes it
    this.element.addEventListener("pointerdown", (event) => (from = event));
    this.element.addEventListener("pointerup", (event) => {
      if (from && event.clientX - from.clientX > SWIPE && Math.abs(event.clientY - from.clientY) < SWIPE) page.closePanel();
    });
  }

  /** The arrow keys go from tab to tab, as everywhere. */
  walk(event) {
    const at = TABS.indexOf(this.tab);
    const to = { ArrowRight: (at + 1) % TABS.length, ArrowLeft: (at + TABS.length - 1) % TABS.length, Home: 0, End: TABS.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.open(TABS[to]);
    this.tabs[to].focus();
  }

  open(tab) {
    this.tab = tab;
    this.key = null;
    this.show(this.view, this.names);
  }

  show(view, names) {
    this.view = view;
    this.names = names;
    TABS.forEach((name, i) => {
      this.tabs[i].setAttribute("aria-selected", name === this.tab);
      this.tabs[i].tabIndex = name === this.tab ? 0 : -1;
    });
    const key = JSON.stringify([this.tab, names, this[`${this.tab}Key`]?.(view)]);
    if (key === this.key) return;
    this.key = key;
    this.body.replaceChildren(this[this.tab](view, names));
    if (this.tab === "log") this.body.scrollTop = this.body.scrollHeight;
  }

  scoreKey(view) {
    return [view.match, view.seats.map((seat) => seat.score), view.round?.lost];
  }

  score(view, names) {
    return scoreSheet(view, names, (round) => this.page.replay(round));
  }

  logKey(view) {
    return [view.match.round, view.round?.events.length];
  }

  log(view, names) {
    const events = view.round?.events ?? [];
    return h("ol", { class: "log" }, h("li", {}, t.roundStarts),
      events.map((event) => h("li", { class: event[0] === view.you ? "own" : null }, eventText(event, view, names))));
  }

  rulesKey(view) {
    return [view.rules, view.fair];
  }

  rules(view) {
    return h("div", {}, h("dl", { class: "rules" }, t.sheet(view.rules, view.settings).flatMap(([title, text]) => [h("dt", {}, title), h("dd", {}, text)])), fairDeals(view));
  }

  keys() {
    return h("div", {}, h("dl", { class: "keys" }, t.keyList.flatMap(([key, text]) => [h("dt", {}, key), h("dd", {}, text)])),
      languageChoice((code) => this.page.speak(code)));
  }
}
