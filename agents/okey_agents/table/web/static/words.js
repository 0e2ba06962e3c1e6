// The texts of the page in the player's language, and tiles, events and hints as text.

import en from "./text/en.js";
import { faceOf } from "./tile.js";

export const LANGUAGES = { en: "English", tr: "Türkçe", fr: "Français" };
export let t = en;
export let language = "en";

/** Switches to a language; English if it is not known. */
export async function speak(code) {
  language = code in LANGUAGES ? code : "en";
  t = language === "en" ? en : (await import(`./text/${language}.js`)).default;
  document.documentElement.lang = language;
}

/** The language chosen before, or the browser's. */
export function preferredLanguage() {
  const chosen = localStorage.getItem("okey.language");
  return chosen ?? navigator.languages?.map((code) => code.slice(0, 2)).find((code) => code in LANGUAGES) ?? "en";
}

/** A tile in words. */
export function tileName(text, okey) {
  if (text === "F") return t.falseJoker;
  if (text === "?") return t.back;
  const { colour, number } = faceOf(text, okey);
  const face = t.tile(t.colours[colour], number);
  return text === "*" ? t.okeyTile(face) : face;
}

/** A bot's name as players call it. */
export function botName(name) {
  return t.bots[name] ?? name;
}

/** The sentence of a refusal in the player's language, or the server's English one if there is none. */
export function errorText(error, names) {
  return t.errors[error.code]?.(error, names) ?? error.text;
}

/** A hint: what to do, and the reasons as sentences. */
export function hintWords({ action, tile, reasons }, okey) {
  const name = (text) => tileName(text, okey);
  return {
    what: t.hints[action.split(" ")[0]](tile && name(tile)),
    why: reasons.flatMap(({ code, ...r }) => {
      const names = r.names?.length ? `: ${r.names.map(name).join(", ")}` : "";
      return t.reasons[code] ? [t.reasons[code](r, names, r.tile && name(r.tile))] : [];
    }),
  };
}

/** An event as a sentence. */
export function eventText(event, view, names) {
  const [seat, what, tile] = event;
  const name = tile === null ? null : tileName(tile, view.round?.okey ?? view.okey);
  const key = what === "draw" && tile !== null ? "drawTile" : what;
  if (seat === view.you) return t.youDid[key](name);
  return t.did[key](names[seat], name);
}
