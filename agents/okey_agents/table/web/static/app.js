// The app: chooses the screen, and handles the messages from the server.

import { changed } from "./changes.js";
import { Connection, keepSeat, keptSeats } from "./connection.js";
import { h } from "./dom.js";
import { homePage, joinPage, lobbyPage } from "./home.js";
import { TablePage } from "./table.js";
import { errorText, preferredLanguage, speak, t } from "./words.js";

const root = document.getElementById("app");
const toasts = document.getElementById("toasts");
const live = document.getElementById("live");

class App {
  constructor() {
    this.page = null; // of the table, once it plays
    this.view = null;
    this.welcome = null;
    this.seat = null; // the id of the table where this browser sits, as in the address
  }

  begin() {
    root.replaceChildren(h("main", { class: "home" }, h("p", { class: "wait" }, t.connecting)));
    window.addEventListener("hashchange", () => this.route());
    this.connection = new Connection((message) => this.receive(message), (open) => this.connected(open));
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
    this.connection.send(type, message);
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
    this.closePage();
    document.title = "Okey";
    root.replaceChildren(homePage(this, this.welcome));
    scrollTo(0, 0);
  }

  joinPage(invite) {
    this.closePage();
    root.replaceChildren(joinPage(this, invite));
  }

  closePage() {
    this.page?.close();
    this.page = this.view = null;
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
      this.closePage();
      this.showView(view);
    }
  }

  // --- what the server says ----------------------------------------------------------------------------

  receive(message) {
    const handlers = {
      welcome: () => {
        this.welcome = message;
        this.asked = false;
        this.send("hello"); // who says nothing is taken for a connection that nobody uses
        this.route();
      },
      seated: () => {
        toasts.replaceChildren();
        if (this.seat !== message.table) this.closePage();
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
      view: () => {
        this.asked = false;
        this.showView(message);
      },
      change: () => this.change(message),
      hint: () => this.page?.hint(message),
      replay: () => this.page?.showReplay(message),
      record: () => download(`okey-${this.seat}.jsonl`, message.text),
      error: () => this.refused(message),
    };
    handlers[message.type]?.();
  }

  /** Applies a change of the view; asks for the whole view if another change has been missed. */
  change(message) {
    if (this.view?.version + 1 === message.version) this.showView(changed(this.view, message));
    else if (!this.asked) {
      this.asked = true;
      this.send("whole");
    }
  }

  showView(view) {
    const names = view.seats.map((seat) => seat.name || t.free);
    this.names = names;
    this.view = view;
    keepSeat(view.table, { names: names.filter((_, i) => i !== view.you) });
    if (view.stage === "lobby") {
      this.page?.close();
      this.page = null;
      root.replaceChildren(lobbyPage(view, names, this));
      scrollTo(0, 0);
      return;
    }
    if (!this.page) {
      this.page = new TablePage(this);
      root.replaceChildren(this.page.element);
    }
    this.page.show(view, names);
  }

  refused(error) {
    if (error.code === "bad_token" || error.code === "bad_invite") {
      const [key, value] = location.hash.slice(1).split("=");
      if (key === "t") keepSeat(value, null);
      this.go("");
      this.home();
    }
    if (this.page) this.page.refused(error);
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
