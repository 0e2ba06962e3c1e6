// A bot for okey in JavaScript: okey evaluate "cmd:node bot.js" random
//
// It reads one JSON message a line and answers on stdout; docs/protocol.md has every field. The rule: finish when that
// is possible, take a throw that fits, and throw the tile that fits least. Notes for people go to stderr.
"use strict";

const WILD = 52; // kinds 0 to 51 are colour * 13 + number - 1
const DRAW = 0, TAKE = 1, THROW = 3, FINISH = 56;

// How well one tile of a rack fits to the others: what lies near it in runs, and what has its number.
function worth(rack, kind) {
  if (kind === WILD) return 1000;
  const colour = Math.floor(kind / 13), number = kind % 13, kinds = new Set(rack);
  let total = 0;
  for (const [step, value] of [[1, 4], [2, 2]]) {
    for (let near of [number - step, number + step]) {
      if (near === 13 && step === 1) near = 0; // a 1 may follow a 13
      if (near >= 0 && near < 13 && kinds.has(colour * 13 + near)) total += value;
    }
  }
  for (let other = 0; other < 4; other++) {
    if (other !== colour && kinds.has(other * 13 + number)) total += 4;
  }
  const copies = rack.filter((held) => held === kind).length;
  return total - (copies > 1 ? 3 : 0); // a twin is of no use in melds
}

// The element for which the value is greatest, the first of equals.
function best(list, value) {
  return list.reduce((chosen, next) => (value(next) > value(chosen) ? next : chosen));
}

function choose(seen) {
  const legal = seen.legal_actions, points = new Map(seen.finish_points);
  const finishes = legal.filter((action) => action >= FINISH);
  if (finishes.length > 0) return best(finishes, (action) => points.get(action - FINISH));
  const throws = legal.filter((action) => action >= THROW);
  if (throws.length > 0) return best(throws, (action) => -worth(seen.rack, action - THROW));
  if (legal.includes(TAKE) && (!legal.includes(DRAW) || worth([...seen.rack, seen.offer], seen.offer) >= 8)) return TAKE;
  return legal.includes(DRAW) ? DRAW : legal[0];
}

function answer(message) {
  if (message.type === "hello") return { type: "ready", version: 1, name: "js-example", batch: 64 };
  if (message.type === "act") return { type: "actions", id: message.id, actions: message.observations.map(choose) };
  if (message.type === "end") process.exit(0);
  return null; // reset: this bot draws nothing by chance; and types that do not exist yet
}

require("readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => {
    const reply = answer(JSON.parse(line));
    if (reply !== null) process.stdout.write(JSON.stringify(reply) + "\n");
  });
