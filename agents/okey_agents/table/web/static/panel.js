// The panel beside the table: score sheet, log, rules, keys.

import { h, icon } from "./dom.js";
import { languageChoice } from "./home.js";
import { eventText, t } from "./words.js";

const TABS = ["score", "log", "rules", "keys"];

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
      h("div", { class: "tabs", role: "tablist" }, this.tabs,
        h("button", { class: "plain close", "aria-label": t.close, html: icon("close"), onclick: () => page.closePanel() })),
      this.body);
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
    const { history } = view.match;
    const running = view.round && view.stage === "play";
    const cells = (values, row) => values.map((value, seat) => h("td", { class: history[row]?.winner === seat ? "won" : null }, value));
    const rounds = [...history, ...(running ? [view.round] : [])];
    const starts = view.seats.map(({ score }, seat) => rounds.reduce((points, { lost }) => points + lost[seat], score));
    const minus = (lost) => lost.map((points) => (points ? `−${points}` : "·"));
    return h("table", { class: "sheet" },
      h("thead", {}, h("tr", {}, h("th", {}), names.map((name, seat) => h("th", { scope: "col", class: seat === view.you ? "own" : null }, name)))),
      h("tbody", {},
        h("tr", {}, h("th", { scope: "row" }, t.start), starts.map((points) => h("td", {}, points))),
        history.map((round, i) => h("tr", {},
          h("th", { scope: "row" }, h("button", { class: "link", title: t.replay, onclick: () => this.page.replay(i + 1) }, `${i + 1} ▸`)),
          cells(minus(round.lost), i))),
        running ? h("tr", {}, h("th", { scope: "row" }, view.match.round), cells(minus(view.round.lost), -1)) : null),
      h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, t.now), view.seats.map((seat) => h("td", {}, seat.score)))));
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
    return view.rules;
  }

  rules(view) {
    return h("dl", { class: "rules" }, t.sheet(view.rules, view.settings).flatMap(([title, text]) => [h("dt", {}, title), h("dd", {}, text)]));
  }

  keys() {
    return h("div", {}, h("dl", { class: "keys" }, t.keyList.flatMap(([key, text]) => [h("dt", {}, key), h("dd", {}, text)])),
      languageChoice((code) => this.page.speak(code)));
  }
}
