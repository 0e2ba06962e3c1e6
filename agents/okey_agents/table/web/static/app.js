// The page: which screen is shown, and what comes from the server.

import { h } from "./dom.js";
import { homePage, joinPage, lobbyPage } from "./home.js";
import { Line, keepSeat, keptSeats } from "./net.js";
import { TablePage } from "./table.js";
import { errorText, preferredLanguage, speak, t } from "./words.js";

const root = document.getElementById("app");
const toasts = document.getElementById("toasts");
const live = document.getElementById("live");

class App {
  constructor() {
    this.table = null; // the page of a table
    this.view = null;
    this.welcome = null;
    this.seat = null; // where this browser sits, as the address says it too
  }

  begin() {
    root.replaceChildren(h("main", { class: "home" }, h("p", { class: "wait" }, t.connecting)));
    window.addEventListener("hashchange", () => this.route());
    this.line = new Line((message) => this.receive(message), (open) => this.connected(open));
  }

  connected(open) {
    document.body.classList.toggle("offline", !open);
    if (!open) {
      if (this.wasOpen) this.toast(t.lost);
      this.seat = null;
    }
    this.wasOpen = open;
  }

  send(type, message) {
    this.line.send(type, message);
  }

  // --- which screen ------------------------------------------------------------------------------------

  route() {
    const [key, value] = location.hash.slice(1).split("=");
    if (key === "t" && this.seat === value) return;
    if (key === "t" && keptSeats()[value]) this.send("sit", { token: keptSeats()[value].token });
    else if (key === "i") this.joinPage(value);
    else this.home();
  }

  home() {
    this.closeTable();
    document.title = "Okey";
    root.replaceChildren(homePage(this, this.welcome));
    scrollTo(0, 0);
  }

  joinPage(invite) {
    this.closeTable();
    root.replaceChildren(joinPage(this, invite));
  }

  closeTable() {
    this.table?.close();
    this.table = this.view = null;
  }

  go(hash) {
    history.pushState(null, "", hash ? `#${hash}` : location.pathname);
  }

  // --- what the player asks for ------------------------------------------------------------------------

  create(settings, name) {
    this.send("create", { settings, name });
  }

  join(invite, name) {
    this.send("join", { invite, name });
  }

  resume(table) {
    location.hash = `t=${table}`;
  }

  start() {
    this.send("start");
  }

  leave() {
    this.send("leave_table");
  }

  async speak(code) {
    localStorage.setItem("okey.language", code);
    await speak(code);
    const { view } = this;
    if (!view) this.route();
    else {
      this.closeTable();
      this.showView(view);
    }
  }

  // --- what the server says ----------------------------------------------------------------------------

  receive(message) {
    const told = {
      welcome: () => {
        this.welcome = message;
        this.route();
      },
      seated: () => {
        toasts.replaceChildren();
        if (this.seat !== message.table) this.closeTable();
        this.seat = message.table;
        keepSeat(message.table, { token: message.token });
        this.go(`t=${message.table}`);
      },
      wait: () => this.toast(t.getReady, 120_000),
      left: () => {
        this.seat = null;
        this.go("");
        this.home();
      },
      view: () => this.showView(message),
      hint: () => this.table?.hint(message),
      replay: () => this.table?.showReplay(message),
      record: () => download(`okey-${this.seat}.jsonl`, message.text),
      error: () => this.refused(message),
    };
    told[message.type]?.();
  }

  showView(view) {
    const names = view.seats.map((seat) => seat.name || t.free);
    this.names = names;
    this.view = view;
    keepSeat(view.table, { names: names.filter((_, i) => i !== view.you) });
    if (view.stage === "lobby") {
      this.table?.close();
      this.table = null;
      root.replaceChildren(lobbyPage(view, names, this));
      scrollTo(0, 0);
      return;
    }
    if (!this.table) {
      this.table = new TablePage(this);
      root.replaceChildren(this.table.element);
    }
    this.table.show(view, names);
  }

  refused(error) {
    if (error.code === "bad_token" || error.code === "bad_invite") {
      const [key, value] = location.hash.slice(1).split("=");
      if (key === "t") keepSeat(value, null);
      this.go("");
      this.home();
    }
    if (this.table) this.table.refused(error);
    else this.toast(errorText(error, this.names ?? []));
  }

  toast(text, time = 5000) {
    const note = h("p", {}, text);
    toasts.replaceChildren(note);
    clearTimeout(this.toastTimer);
    this.toastTimer = setTimeout(() => note.remove(), time);
  }

  announce(text) {
    live.append(h("p", {}, text));
    while (live.childElementCount > 6) live.firstChild.remove();
  }
}

function download(name, text) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "application/jsonl" })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

await speak(preferredLanguage());
new App().begin();
