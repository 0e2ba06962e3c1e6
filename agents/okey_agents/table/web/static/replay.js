// The replay of a round that is over: all racks open, from the deal to the end, with a slider.

import { h, icon } from "./dom.js";
import { tileFigure } from "./tile.js";
import { eventText, t, tileName } from "./words.js";

const order = (tile, okey) => {
  const face = tile === "F" ? okey : tile;
  return tile === "*" ? 1000 : "RBKY".indexOf(face[0]) * 13 + Number(face.slice(1));
};

/** The racks and heaps after so many events. */
function positionAt(replay, step) {
  const racks = replay.racks.map((rack) => [...rack]);
  const heaps = [[], [], [], []];
  for (const [seat, what, tile] of replay.events.slice(0, step)) {
    if (what === "draw" || what === "take") racks[seat].push(tile);
    if (what === "take") heaps[(seat + 3) % 4].pop();
    if (what === "throw" || what === "finish") racks[seat].splice(racks[seat].indexOf(tile), 1);
    if (what === "throw") heaps[seat].push(tile);
  }
  return { racks, heaps };
}

/** The dialog of a replay. `onRound` asks for another round. */
export function replayDialog(replay, view, names, { onRound, onClose }) {
  let step = 0;
  let timer = null;
  const all = replay.events.length;
  const me = view.you ?? 0;
  const slider = h("input", { type: "range", min: 0, max: all, value: 0, autofocus: true, "aria-label": t.replay, oninput: () => go(Number(slider.value)) });
  const caption = h("p", { class: "caption", "aria-live": "polite" });
  const board = h("div", { class: "board" });
  const button = (name, what) => h("button", { class: "round-button", "aria-label": t[name], title: t[name], html: icon(name), onclick: what });
  const playButton = button("play", () => (timer ? pause() : play()));

  function play() {
    if (step === all) step = 0;
    timer = setInterval(() => (step < all ? go(step + 1, true) : pause()), 900);
    playButton.innerHTML = icon("pause");
    playButton.setAttribute("aria-label", t.pause);
  }
  function pause() {
    clearInterval(timer);
    timer = null;
    playButton.innerHTML = icon("play");
    playButton.setAttribute("aria-label", t.play);
  }
  function go(to, playing = false) {
    if (!playing && timer) pause();
    step = Math.max(0, Math.min(all, to));
    slider.value = step;
    const event = replay.events[step - 1];
    slider.setAttribute("aria-valuetext", t.step(step, all));
    caption.replaceChildren(h("b", {}, `${step}/${all}`), " ", event ? eventText(event, { ...replay, you: view.you }, names) : t.dealt);
    board.replaceChildren(...[2, 1, 3, 0].map((side) => row((me + side) % 4, positionAt(replay, step), event)));
  }
  function row(seat, { racks, heaps }, event) {
    const mine = event && event[0] === seat;
    const sorted = [...racks[seat]].sort((a, b) => order(a, replay.okey) - order(b, replay.okey));
    const come = mine && (event[1] === "draw" || event[1] === "take") ? sorted.lastIndexOf(event[2]) : -1;
    const figure = (tile, className) => tileFigure(tile, replay.okey, tileName(tile, replay.okey), className);
    const gone = mine && event[1] === "throw";
    return h("section", { class: `story ${mine ? "mover" : ""}` },
      h("h3", {}, names[seat], replay.winner === seat && step === all ? h("span", { class: "crown" }, " ★") : null),
      h("div", { class: "open-rack" }, sorted.map((tile, i) => figure(tile, i === come ? "new" : ""))),
      h("div", { class: "thrown", role: "group", "aria-label": t.thrown }, heaps[seat].map((tile, i) => figure(tile, gone && i === heaps[seat].length - 1 ? "new" : ""))));
  }

  const dialog = h("dialog", { class: "replay", "aria-labelledby": "replay-title", onclose: () => { pause(); onClose(); } },
    h("header", {},
      h("h2", { id: "replay-title" }, t.replayTitle(replay.round)),
      replay.rounds > 1 ? h("select", { "aria-label": t.replay, onchange: (event) => onRound(Number(event.target.value)) },
        Array.from({ length: replay.rounds }, (_, i) => h("option", { value: i + 1, selected: i + 1 === replay.round }, t.round(i + 1)))) : null,
      h("span", { class: "signs" },
        h("span", {}, t.indicator, tileFigure(replay.indicator, replay.okey, tileName(replay.indicator, replay.okey))),
        h("span", {}, t.okey, tileFigure("*", replay.okey, tileName("*", replay.okey)))),
      h("button", { class: "plain", "aria-label": t.close, html: icon("close"), onclick: () => dialog.close() })),
    board, caption,
    h("div", { class: "player" }, button("back", () => go(step - 1)), playButton, button("forth", () => go(step + 1)), slider));
  go(0);
  return dialog;
}
