// The app: chooses the screen, and handles the messages from the server.

import { changed } from "./changes.js";
import { Connection, keepSeat, keptSeats, me } from "./connection.js";
import { h } from "./dom.js";
import { gamesPage, showGame } from "./games.js";
import { homePage, joinPage, lobbyPage } from "./home.js";
import { TablePage } from "./table.js";
import { errorText, preferredLanguage, speak, t } from "./words.js";

const root = document.getElementById("app");
const toasts = document.getElementById("toasts");
const live = document.getElementById("live");
const lost = h("p", { class: "lost", role: "status" });

class App {
  constructor() {
    this.page = null; // of the table, once it plays
    this.view = null;
    this.welcome = null;
    this.table = null; // the id of the table where this page sits, or has asked to sit
    this.waits = false; // for the answer to create or join
  }

  begin() {
    root.replaceChildren(h("main", { class: "home" }, h("p", { class: "wait" }, t.connecting)));
    window.addEventListener("hashchange", () => this.route());
    this.connection = new Connection((message) => this.receive(message), (open) => this.connected(open));
  }

  get online() {
    return this.connection.open;
  }

  connected(open) {
    document.body.classList.toggle("offline", !open);
    this.page?.connected(open);
    if (open) lost.remove();
    else {
      this.table = null;
      this.waits = false;
      lost.textContent = t.lost;
      document.body.append(lost);
      if (!this.welcome) this.askWhy();
    }
  }

  /** A page under a name that the server does not allow gets no connection; the server says so when it is asked. */
  async askWhy() {
    const answer = await fetch("host").catch(() => null);
    if (answer?.status === 403) root.replaceChildren(h("main", { class: "home" }, h("p", { class: "wait" }, t.hostRefused(location.hostname))));
  }

  send(type, message) {
    this.connection.send(type, message);
  }

  // --- which screen: the address says it ------------------------------------------------------------------

  route() {
    if (!this.welcome || !this.online) return;
    const [key, value] = location.hash.slice(1).split("=");
    const seats = keptSeats();
    const known = key === "i" && Object.keys(seats).find((table) => seats[table].invite === value);
    if (known) history.replaceState(null, "", `#t=${known}`); // an invitation that this browser has taken up before
    const table = known || (key === "t" && seats[value] ? value : null);
    if (this.table && this.table !== table) this.send("leave_table");
    if (this.page && this.view.table !== table) this.closePage();
    this.waits = false;
    if (table) {
      if (this.table !== table) this.send("sit", { token: seats[table].token });
      this.table = table;
      return;
    }
    this.table = null;
    this.closePage();
    document.title = "Okey";
    root.replaceChildren(key === "i" ? joinPage(this, value) : key === "games" ? gamesPage(this, []) : homePage(this, this.welcome));
    if (key === "games") this.askGames("list");
    scrollTo(0, 0);
  }

  closePage() {
    this.page?.close();
    this.page = this.view = null;
  }

  go(hash, replace = false) {
    history[replace ? "replaceState" : "pushState"](null, "", hash ? `#${hash}` : location.pathname);
  }

  // --- what the player asks for ------------------------------------------------------------------------

  create(settings, name) {
    if (this.waits) return;
    this.waits = true;
    this.send("create", { settings, name, me: me() });
  }

  join(invite, name) {
    if (this.waits) return;
    this.waits = true;
    this.send("join", { invite, name, me: me() });
  }

  resume(table) {
    location.hash = `t=${table}`;
  }

  /** Asks for the earlier matches of this browser, or for something of one of them. */
  askGames(ask, record, round = 1) {
    this.send("games", { me: me(), ask, record, round });
  }

  start() {
    this.send("start");
  }

  leave() {
    this.go("");
    this.route();
  }

  async speak(code) {
    localStorage.setItem("okey.language", code);
    await speak(code);
    this.invited = null;
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
      seated: () => this.seated(message),
      wait: () => this.toast(t.getReady, 120_000),
      view: () => {
        if (message.table !== this.table) return; // of a table that has been left meanwhile
        this.asked = false;
        const known = this.page;
        this.showView(message);
        known?.back();
      },
      change: () => this.view && this.change(message),
      hint: () => this.page?.hint(message),
      replay: () => (this.page ? this.page.showReplay(message) : showGame(this, message)),
      games: () => location.hash === "#games" && root.replaceChildren(gamesPage(this, message.games)),
      invitation: () => this.invited && (this.invited.element.querySelector(".qr").innerHTML = message.svg),
      record: () => download(`okey-${this.table ?? "match"}.jsonl`, message.text),
      error: () => this.refused(message),
    };
    handlers[message.type]?.();
  }

  seated({ table, token, now }) {
    keepSeat(table, { token });
    this.skew = Date.now() - now;
    toasts.replaceChildren();
    if (this.waits) {
      this.waits = false;
      const [key, invite] = location.hash.slice(1).split("=");
      if (key === "i") keepSeat(table, { invite });
      this.table = table;
      this.go(`t=${table}`, key === "i"); // Back does not lead to the invitation again
    } else if (table !== this.table) this.send("leave_table"); // gone back before the answer came
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
    const names = view.seats.map((seat, i) => seat.name || (i === view.you ? t.you : seat.taken ? t.player(i + 1) : t.free));
    this.names = names;
    this.view = view;
    const { match, seats, you } = view;
    keepSeat(view.table, {
      names: names.filter((_, i) => i !== you), round: match.round, score: seats[you]?.score, at: Date.now(), ...(view.invite && { invite: view.invite }),
    });
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
    this.waits = false;
    if (error.code === "not_seated") return; // the table has been left meanwhile
    if (error.code === "elsewhere") {
      this.elsewhere();
      return;
    }
    if (error.code === "bad_token" || error.code === "bad_invite") {
      const [key, value] = location.hash.slice(1).split("=");
      if (key === "t") keepSeat(value, null);
      this.table = null;
      this.go("", true);
      this.route();
    }
    if (this.page) this.page.refused(error);
    else this.toast(errorText(error, this.names ?? []));
  }

  /** The seat has been opened in another page, which plays on; this one waits until it is asked to play here. */
  elsewhere() {
    this.connection.stop();
    this.table = null;
    this.page?.connected();
    const dialog = h("dialog", { class: "end", oncancel: (event) => event.preventDefault() }, h("p", {}, t.elsewhere),
      h("div", { class: "buttons" }, h("button", { class: "primary", onclick: () => {
        dialog.remove();
        this.connection.start();
      } }, t.playHere)));
    document.body.append(dialog);
    dialog.showModal();
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
