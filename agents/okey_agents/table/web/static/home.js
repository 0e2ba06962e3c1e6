// Setting up a table, coming back to one, taking up an invitation, waiting for friends.

import { keepSeat, keptSeats } from "./connection.js";
import { h, icon } from "./dom.js";
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
  const chosen = { preset: "gamelake", points: 20, teams: false, asLaid: false, pace: "normal", seats: [], name: "", ...read() };
  const bots = [...welcome.bots].sort((a, b) => LEVELS.includes(b) - LEVELS.includes(a));
  const standard = bots.includes("medium") ? "medium" : welcome.stand_in;

  const name = nameField(chosen.name);
  const presets = Object.keys(welcome.rules.presets).map((preset) => h("label", { class: "card" },
    h("input", { type: "radio", name: "preset", value: preset, checked: preset === chosen.preset, onchange: () => fillSwitches() }),
    h("span", {}, h("b", {}, t.presets[preset][0]), h("small", {}, t.presets[preset][1]))));
  const points = h("input", { type: "range", min: 5, max: 21, value: chosen.points, id: "points", oninput: () => (shownPoints.value = points.value) });
  const shownPoints = h("output", { for: "points" }, points.value);
  const check = (checked, text) => h("label", { class: "check" }, h("input", { type: "checkbox", checked }), h("span", {}, text));
  const teams = check(chosen.teams, t.teams);
  const asLaid = check(chosen.asLaid, t.asLaid);
  const pace = h("select", { id: "pace" }, Object.entries(t.paces).map(([value, text]) => h("option", { value, selected: value === chosen.pace }, text)));
  const seats = [1, 2, 3].map((seat) => h("select", { id: `seat-${seat}` },
    bots.map((bot) => h("option", { value: bot, selected: bot === (chosen.seats[seat] ?? standard) }, botName(bot))),
    h("option", { value: "person", selected: chosen.seats[seat] === "person" }, t.person)));
  const switches = h("div", { class: "switches" });

  const houseRules = welcome.rules.switches.filter(({ name }) => !OF_THEIR_OWN.includes(name));
  function fillSwitches() {
    const standard = welcome.rules.presets[value("preset")];
    switches.replaceChildren(...houseRules.map((house) => switchField(house, standard[house.name])));
  }
  const value = (key) => form.querySelector(`[name="${key}"]:checked`)?.value ?? chosen[key];

  const form = h("form", { class: "setup", onsubmit: (event) => {
    event.preventDefault();
    const changed = { start_points: Number(points.value), teams: teams.firstChild.checked };
    for (const input of switches.querySelectorAll("[name]")) {
      changed[input.name] = input.type === "checkbox" ? input.checked : "number" in input.dataset ? Number(input.value) : input.value;
    }
    const settings = {
      preset: value("preset"), switches: changed, pace: pace.value,
      rack_check: asLaid.firstChild.checked ? "as_laid" : "free",
      seats: ["person", ...seats.map((seat) => seat.value)],
    };
    localStorage.setItem(CHOSEN, JSON.stringify({
      preset: settings.preset, points: changed.start_points, teams: changed.teams, asLaid: asLaid.firstChild.checked,
      pace: pace.value, seats: settings.seats, name: name.input.value,
    }));
    app.create(settings, name.input.value.trim() || t.you);
  } },
    name.label,
    h("fieldset", {}, h("legend", {}, t.whoPlays), h("div", { class: "chairs" },
      seats.map((seat, i) => h("label", { class: "pick" }, h("span", {}, t.seats[i + 1]), seat)))),
    h("fieldset", {}, h("legend", {}, t.rulesTitle), h("div", { class: "cards" }, presets),
      h("label", { class: "pick", for: "points" }, h("span", {}, t.startPoints), h("span", { class: "range" }, points, shownPoints)),
      teams, asLaid,
      h("label", { class: "pick" }, h("span", {}, t.paceTitle), pace),
      h("details", {}, h("summary", {}, t.houseRules), switches)),
    h("button", { class: "primary big", type: "submit" }, t.deal));
  fillSwitches();

  return h("main", { class: "home" }, h("div", { class: "corner" }, languageChoice((code) => app.speak(code))), hero(), keptTables(app), form);
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
    entries.slice(-4).reverse().map(([table, { names }]) => h("div", { class: "kept-table" },
      h("button", { onclick: () => app.resume(table) }, t.goOnAt((names ?? []).join(", ") || table)),
      h("button", { class: "plain", "aria-label": t.forget, title: t.forget, html: icon("close"), onclick: (event) => {
        keepSeat(table, null);
        event.currentTarget.parentElement.remove();
      } }))));
}

/** The page behind an invitation. */
export function joinPage(app, invite) {
  const name = nameField(read().name ?? "");
  return h("main", { class: "home" }, h("div", { class: "corner" }, languageChoice((code) => app.speak(code))), hero(),
    h("form", { class: "setup", onsubmit: (event) => {
      event.preventDefault();
      app.join(invite, name.input.value.trim() || t.you);
    } }, h("h2", {}, t.joinTitle), name.label, h("button", { class: "primary big", type: "submit" }, t.join)));
}

/** Waiting for friends: the link, and who is there. `app` answers to: start(), leave(). */
export function lobbyPage(view, names, app) {
  const link = `${location.origin}${location.pathname}#i=${view.invite}`;
  const field = h("input", { readonly: true, value: link, class: "link-field", "aria-label": t.copy, onfocus: (event) => event.target.select() });
  const copy = h("button", { class: "primary", html: `${icon("link")}<span></span>`, onclick: async () => {
    field.select();
    await navigator.clipboard?.writeText(link).catch(() => {});
    copy.lastChild.textContent = t.copied;
  } });
  copy.lastChild.textContent = t.copy;
  return h("main", { class: "home lobby" }, hero(),
    h("section", { class: "setup" }, h("h2", {}, t.lobbyTitle), h("p", {}, t.lobbyText),
      h("div", { class: "copy" }, field, copy),
      h("ul", { class: "guests" }, view.seats.map((seat, i) => h("li", { class: seat.taken ? "taken" : "" },
        h("b", {}, names[i]), h("small", {}, seat.bot ? botName(seat.bot) : seat.taken ? "" : t.waiting)))),
      h("div", { class: "buttons" },
        view.you === null ? null : h("button", { class: "primary", onclick: () => app.start() }, t.begin),
        h("button", { onclick: () => app.leave() }, t.actions.leave))));
}

function nameField(value) {
  const input = h("input", { type: "text", maxlength: 20, value, autocomplete: "nickname", placeholder: t.you, id: "name" });
  return { input, label: h("label", { class: "pick", for: "name" }, h("span", {}, t.yourName), input) };
}

function read() {
  try {
    return JSON.parse(localStorage.getItem(CHOSEN)) ?? {};
  } catch {
    return {};
  }
}
