// Setting up a table, coming back to one, taking up an invitation, waiting for friends.

import { keepSeat, keptSeats } from "./connection.js";
import { h, icon } from "./dom.js";
import { fairDeals } from "./ends.js";
import { tileSvg } from "./tile.js";
import { LANGUAGES, botName, language, t } from "./words.js";

const CHOSEN = "okey.settings";
const LEVELS = ["easy", "medium", "hard"];
const OF_THEIR_OWN = ["start_points", "teams"]; // switches of the rules that the form asks for in another way
const LONGEST_LIST = 30; // numbers in a list; more are typed

/** The choice of language. */
export function languageChoice(onChange) {
  return h("select", { class: "language", "aria-label": t.language, onchange: (event) => onChange(event.target.value) },
    Object.entries(LANGUAGES).map(([code, name]) => h("option", { value: code, lang: code, selected: code === language }, name)));
}

function hero() {
  const tiles = [["R1", -8, "O"], ["K13", 4, "K"], ["B7", -3, "E"], ["*", 7, "Y"]];
  return h("div", { class: "hero" },
    h("div", { class: "fan", "aria-hidden": "true" }, tiles.map(([tile, turn]) => h("span", { style: `--turn:${turn}deg`, html: tileSvg(tile, "Y5") }))),
    h("h1", {}, "Okey"), h("p", {}, t.tagline));
}

/** The first page. `app` answers to: create(settings, name), resume(table), speak(code). */
export function homePage(app, welcome) {
  const chosen = { preset: "gamelake", points: 20, teams: false, asLaid: false, pace: "normal", clock: "0", seats: [], name: "", switches: {}, ...read() };
  const bots = [...welcome.bots].sort((a, b) => LEVELS.includes(b) - LEVELS.includes(a));
  const standard = bots.includes("medium") ? "medium" : welcome.stand_in;

  const name = nameField(chosen.name);
  const presets = Object.keys(welcome.rules.presets).map((preset) => h("label", { class: "card" },
    h("input", { type: "radio", name: "preset", value: preset, checked: preset === chosen.preset, onchange: () => fillSwitches({}) }),
    h("span", {}, h("b", {}, t.presets[preset][0]), h("small", {}, t.presets[preset][1]))));
  const points = h("input", { type: "range", min: 5, max: 21, value: chosen.points, id: "points", oninput: () => (shownPoints.value = points.value) });
  const shownPoints = h("output", { for: "points" }, points.value);
  const check = (checked, text) => h("label", { class: "check" }, h("input", { type: "checkbox", checked }), h("span", {}, text));
  const list = (id, texts) => h("select", { id }, Object.entries(texts).map(([value, text]) => h("option", { value, selected: value === chosen[id] }, text)));
  const teams = check(chosen.teams, t.teams);
  const asLaid = check(chosen.asLaid, t.asLaid);
  const pace = list("pace", t.paces);
  const clock = list("clock", t.clocks);
  const seats = [1, 2, 3].map((seat) => h("select", { id: `seat-${seat}` },
    bots.map((bot) => h("option", { value: bot, selected: bot === (chosen.seats[seat] ?? standard) }, botName(bot))),
    h("option", { value: "person", selected: chosen.seats[seat] === "person" }, t.person)));
  const switches = h("div", { class: "switches" });

  const houseRules = welcome.rules.switches.filter(({ name }) => !OF_THEIR_OWN.includes(name));
  function fillSwitches(house) {
    const standard = welcome.rules.presets[value("preset")];
    switches.replaceChildren(...houseRules.map((rule) => switchField(rule, house[rule.name] ?? standard[rule.name])));
  }
  const value = (key) => form.querySelector(`[name="${key}"]:checked`)?.value ?? chosen[key];

  /** What the form says, kept for the next table. */
  function said() {
    const house = {};
    for (const input of switches.querySelectorAll("[name]")) {
      house[input.name] = input.type === "checkbox" ? input.checked : "number" in input.dataset ? Number(input.value) : input.value;
    }
    const says = {
      preset: value("preset"), points: Number(points.value), teams: teams.firstChild.checked, asLaid: asLaid.firstChild.checked,
      pace: pace.value, clock: clock.value, seats: ["person", ...seats.map((seat) => seat.value)], name: name.input.value, switches: house,
    };
    keep(says);
    return says;
  }

  const form = h("form", { class: "setup", onchange: said, oninput: said, onsubmit: (event) => {
    event.preventDefault();
    const says = said();
    app.create({
      preset: says.preset, switches: { ...says.switches, start_points: says.points, teams: says.teams }, pace: says.pace, clock: Number(says.clock),
      rack_check: says.asLaid ? "as_laid" : "free", seats: says.seats,
    }, says.name.trim());
  } },
    name.label,
    h("fieldset", {}, h("legend", {}, t.whoPlays), h("div", { class: "chairs" },
      seats.map((seat, i) => h("label", { class: "pick" }, h("span", {}, t.seats[i + 1]), seat)))),
    h("fieldset", {}, h("legend", {}, t.rulesTitle), h("div", { class: "cards" }, presets),
      h("label", { class: "pick", for: "points" }, h("span", {}, t.startPoints), h("span", { class: "range" }, points, shownPoints)),
      teams, asLaid,
      h("label", { class: "pick" }, h("span", {}, t.paceTitle), pace),
      h("label", { class: "pick" }, h("span", {}, t.clockTitle), clock),
      h("details", { open: Object.keys(chosen.switches).some((key) => chosen.switches[key] !== welcome.rules.presets[chosen.preset][key]) },
        h("summary", {}, t.houseRules), switches)),
    h("button", { class: "primary big", type: "submit" }, t.deal));
  fillSwitches(chosen.switches);

  return h("main", { class: "home" }, h("div", { class: "corner" }, languageChoice((code) => app.speak(code))), hero(), keptTables(app), form,
    h("a", { href: "#games", class: "link" }, t.games.title));
}

/** The field for one switch of the rules: a check, a list, or a number. */
function switchField({ name, choices, between: [low, high] }, standard) {
  const text = h("span", {}, t.switches[name] ?? name.replaceAll("_", " "));
  if (typeof standard === "boolean") return h("label", { class: "check" }, h("input", { type: "checkbox", name, checked: standard }), text);
  const isNumber = !choices.length;
  if (isNumber && high - low > LONGEST_LIST) {
    return h("label", { class: "pick" }, text, h("input", { type: "number", name, min: low, max: high, value: standard, "data-number": "" }));
  }
  const values = isNumber ? Array.from({ length: high - low + 1 }, (_, i) => low + i) : choices;
  return h("label", { class: "pick" }, text, h("select", { name, ...(isNumber && { "data-number": "" }) }, values.map((value) =>
    h("option", { value, selected: value === standard }, t.switches[`${name}Choices`]?.[value] ?? String(value)))));
}

function keptTables(app) {
  const entries = Object.entries(keptSeats());
  if (!entries.length) return null;
  return h("nav", { class: "kept", "aria-label": t.goOn }, h("h2", {}, t.goOn),
    entries.sort(([, a], [, b]) => (b.at ?? 0) - (a.at ?? 0)).slice(0, 4).map(([table, { names, round, score, at }]) => h("div", { class: "kept-table" },
      h("button", { onclick: () => app.resume(table) }, h("b", {}, t.goOnAt((names ?? []).join(", ") || table)),
        h("small", {}, [round && t.round(round), score !== undefined && t.points(score), at && new Date(at).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" })]
          .filter(Boolean).join(" · "))),
      h("button", { class: "plain", "aria-label": t.forget, title: t.forget, html: icon("close"), onclick: (event) => {
        keepSeat(table, null);
        event.currentTarget.parentElement.remove();
      } }))));
}

/** The page behind an invitation. */
export function joinPage(app, invite) {
  const name = nameField(read().name ?? "");
  name.input.addEventListener("input", () => keep({ ...read(), name: name.input.value }));
  return h("main", { class: "home" }, h("div", { class: "corner" }, languageChoice((code) => app.speak(code))), hero(),
    h("form", { class: "setup", onsubmit: (event) => {
      event.preventDefault();
      app.join(invite, name.input.value.trim());
    } }, h("h2", {}, t.joinTitle), name.label, h("button", { class: "primary big", type: "submit" }, t.join)));
}

/** The link for friends under every address that works, and as a QR code; made once, so that "Copied." stays. */
export function invitation(view, app) {
  if (app.invited?.invite === view.invite) return app.invited.element;
  const here = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
  const pages = here && app.welcome.addresses.length ? app.welcome.addresses : [location.origin + location.pathname];
  const links = pages.map((page) => `${page}#i=${view.invite}`);
  const element = h("div", { class: "invitation" },
    h("p", {}, t.lobbyText),
    here && !app.welcome.addresses.length ? h("p", { class: "note" }, t.onlyHere) : null,
    links.map((link) => {
      const field = h("input", { readonly: true, value: link, class: "link-field", "aria-label": t.copy, onfocus: (event) => event.target.select() });
      const text = h("span", {}, t.copy);
      return h("div", { class: "copy" }, field, h("button", { type: "button", class: "primary", onclick: async () => {
        field.select();
        text.textContent = await navigator.clipboard?.writeText(link).then(() => true, () => false) ? t.copied : t.selected;
      } }, h("span", { html: icon("link") }), text));
    }),
    h("div", { class: "qr", role: "img", "aria-label": t.qr }));
  app.invited = { invite: view.invite, element };
  app.send("invitation", { link: links[0] });
  return element;
}

/** Waiting for friends: the link, and who is there. `app` answers to: start(), leave(). */
export function lobbyPage(view, names, app) {
  return h("main", { class: "home lobby" }, hero(),
    h("section", { class: "setup" }, h("h2", {}, t.lobbyTitle), invitation(view, app),
      h("ul", { class: "guests" }, view.seats.map((seat, i) => h("li", { class: seat.taken ? "taken" : "" },
        h("b", {}, names[i]), h("small", {}, seat.bot ? botName(seat.bot) : seat.taken ? "" : t.waiting)))),
      fairDeals(view),
      h("div", { class: "buttons" },
        view.you === null ? null : h("button", { class: "primary", onclick: () => app.start() }, t.begin),
        h("button", { onclick: () => app.leave() }, t.actions.leave))));
}

function nameField(value) {
  const input = h("input", { type: "text", maxlength: 20, value, autocomplete: "nickname", placeholder: t.you, id: "name" });
  return { input, label: h("label", { class: "pick", for: "name" }, h("span", {}, t.yourName), input) };
}

const keep = (said) => localStorage.setItem(CHOSEN, JSON.stringify(said));

function read() {
  try {
    return JSON.parse(localStorage.getItem(CHOSEN)) ?? {};
  } catch {
    return {};
  }
}
