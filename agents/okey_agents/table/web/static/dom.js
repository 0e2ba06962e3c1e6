// Making elements: one function for HTML, one for the icons, one for a small dialog.

import { t } from "./words.js";

/** An element. Attributes that begin with "on" are listeners; "html" is trusted markup of our own, never a player's text. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "html") element.innerHTML = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Sets an attribute only where it changes, so that nothing restarts an animation or is read out again. */
export function set(element, name, value) {
  if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value === true ? "" : value);
}

/** Opens a dialog over the page, which closes by Escape or by a press beside it, and is removed then. */
export function openDialog(label, ...children) {
  const dialog = h("dialog", { class: "end", "aria-label": label, onclose: () => dialog.remove(), onpointerdown: (event) => {
    const { left, right, top, bottom } = dialog.getBoundingClientRect();
    if (event.clientX < left || event.clientX > right || event.clientY < top || event.clientY > bottom) dialog.close();
  } }, h("div", {}, ...children, h("div", { class: "buttons" }, h("button", { class: "close-button", onclick: () => dialog.close() }, t.close))));
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Whether the system asks for less motion. */
export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

const STROKE = 'fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"';
const PATHS = {
  draw: '<rect x="6" y="9" width="12" height="12" rx="2"/><path d="M12 2v9m-3.5-3.5L12 11l3.5-3.5"/>',
  take: '<rect x="10" y="4" width="10" height="14" rx="2"/><path d="M13 21H4m3-3-3 3 3 3" transform="translate(0 -2)"/>',
  throw: '<rect x="4" y="4" width="10" height="14" rx="2"/><path d="M11 19h9m-3-3 3 3-3 3" transform="translate(0 -1)"/>',
  finish: '<path d="M5 21V4h13l-3 4 3 4H5"/>',
  show: '<path d="M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12z"/><circle cx="12" cy="12" r="3"/>',
  runs: '<rect x="2" y="6" width="5" height="12" rx="1"/><rect x="9.5" y="6" width="5" height="12" rx="1"/><rect x="17" y="6" width="5" height="12" rx="1"/><path d="M3 3h18m-3-2 3 2-3 2"/>',
  groups: '<rect x="4" y="3" width="6" height="8" rx="1"/><rect x="14" y="3" width="6" height="8" rx="1"/><rect x="4" y="13" width="6" height="8" rx="1"/><rect x="14" y="13" width="6" height="8" rx="1"/>',
  pairs: '<rect x="3" y="5" width="8" height="14" rx="1.5"/><rect x="13" y="5" width="8" height="14" rx="1.5"/>',
  flip: '<path d="M4 12a8 8 0 0 1 14-5l2 2m0-5v5h-5M20 12a8 8 0 0 1-14 5l-2-2m0 5v-5h5"/>',
  hint: '<path d="M9 18h6m-5 3h4M12 3a6 6 0 0 0-3.5 10.8c.6.5.9 1.2.9 2.2h5.2c0-1 .3-1.7.9-2.2A6 6 0 0 0 12 3z"/>',
  panel: '<path d="M4 6h16M4 12h16M4 18h10"/>',
  close: '<path d="M5 5l14 14M19 5L5 19"/>',
  play: '<path d="M7 4l13 8-13 8z" fill="currentColor"/>',
  pause: '<path d="M8 4v16M16 4v16"/>',
  back: '<path d="M15 5l-7 7 7 7"/>',
  forth: '<path d="M9 5l7 7-7 7"/>',
  sound: '<path d="M4 9v6h4l5 4V5L8 9zM16 9a4 4 0 0 1 0 6M18.5 6a8 8 0 0 1 0 12"/>',
  mute: '<path d="M4 9v6h4l5 4V5L8 9zM16 9.5l5 5m0-5-5 5"/>',
  link: '<path d="M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1.5 1.5M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1.5-1.5"/>',
  leave: '<path d="M14 4h5v16h-5M3 12h11m-4-4 4 4-4 4"/>',
  robot: '<rect x="4" y="8" width="16" height="11" rx="3"/><path d="M12 8V4M9 13v1M15 13v1"/>',
  away: '<path d="M20 14A8 8 0 1 1 10 4a6.5 6.5 0 0 0 10 10z"/>',
};

/** The markup of an icon. */
export function icon(name) {
  return `<svg class="icon" viewBox="0 0 24 24" ${STROKE} aria-hidden="true">${PATHS[name]}</svg>`;
}
