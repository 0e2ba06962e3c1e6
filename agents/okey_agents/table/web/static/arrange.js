// The order of tiles on a rack: 30 places in two rows, null for an empty place. Pure functions; nothing is drawn here.

export const ROW = 15;
export const PLACES = 30;
const COLOURS = "RBKY";

/** Moves a tile to another place. A tile that stands there moves aside, towards the nearest gap of its row. */
export function moved(places, from, to) {
  const next = [...places];
  if (from === to || next[from] === null) return next;
  const tile = next[from];
  next[from] = null;
  return inserted(next, to, tile) ?? [...places];
}

/** Puts a tile on a place and moves the tile that stands there aside; null if the row is full. */
export function inserted(places, to, tile) {
  const next = [...places];
  if (next[to] === null) {
    next[to] = tile;
    return next;
  }
  const start = to - (to % ROW);
  let gap = null;
  for (let step = 1; step < ROW && gap === null; step++) {
    for (const place of [to + step, to - step]) {
      if (gap === null && place >= start && place < start + ROW && next[place] === null) gap = place;
    }
  }
  if (gap === null) return null;
  const step = gap > to ? -1 : 1;
  for (let place = gap; place !== to; place += step) next[place] = next[place + step];
  next[to] = tile;
  return next;
}

/** The first and the last place of the block of tiles in which a place lies: those of its row without a gap between them. */
export function blockAt(places, place) {
  const row = place - (place % ROW);
  let [first, last] = [place, place];
  while (first > row && places[first - 1] !== null) first--;
  while (last < row + ROW - 1 && places[last + 1] !== null) last++;
  return [first, last];
}

/** Moves a whole block so that the tile from one place comes to another; what stands there makes room, as the row allows. */
export function movedBlock(places, from, to) {
  const [first, last] = blockAt(places, from);
  const block = places.slice(first, last + 1);
  const next = [...places].fill(null, first, last + 1);
  const row = to - (to % ROW);
  const at = Math.max(row, Math.min(to - (from - first), row + ROW - block.length));
  const [left, right] = [next.slice(row, at), next.slice(at, row + ROW)];
  for (let i = 0; i < block.length; i++) {
    if (right.includes(null)) right.splice(right.indexOf(null), 1);
    else if (left.includes(null)) left.splice(left.lastIndexOf(null), 1);
    else return [...places];
  }
  next.splice(row, ROW, ...left, ...block, ...right);
  return next;
}

/** The player's order with the tiles that the rack holds now; a tile that stays does not move. */
export function merged(mine, held) {
  const missing = count(held);
  const next = Array(PLACES).fill(null);
  const keep = (place) => {
    const tile = mine[place];
    if (tile === null || next[place] !== null || !missing.get(tile)) return;
    missing.set(tile, missing.get(tile) - 1);
    next[place] = tile;
  };
  const all = mine.map((_, place) => place);
  all.filter((place) => mine[place] === held[place]).forEach(keep); // first, so that of two copies the one that left is removed
  all.forEach(keep);
  // a new tile goes where the server has put it, if that place is free here
  for (const [place, tile] of held.entries()) {
    if (tile !== null && missing.get(tile) && next[place] === null && mine[place] === null) {
      next[place] = tile;
      missing.set(tile, missing.get(tile) - 1);
    }
  }
  for (const [tile, number] of missing) {
    for (let i = 0; i < number; i++) next[next.lastIndexOf(null)] = tile;
  }
  return next;
}

/** Whether both hold the same tiles, in whatever order. */
export function sameTiles(a, b) {
  const text = (places) => places.filter((tile) => tile !== null).sort().join(" ");
  return text(a) === text(b);
}

function count(places) {
  const numbers = new Map();
  for (const tile of places) if (tile !== null) numbers.set(tile, (numbers.get(tile) ?? 0) + 1);
  return numbers;
}

/** The tiles sorted by runs, groups or pairs, with gaps between what belongs together, and at most so many in a row if that can be. */
export function sorted(places, by, okey, wrap, most = ROW) {
  const tiles = places.filter((tile) => tile !== null);
  const wilds = tiles.filter((tile) => tile[0] === "*"); // *- lies face down
  const plain = tiles.filter((tile) => tile[0] !== "*").map((text) => ({ text, ...played(text, okey) }));
  plain.sort((a, b) => COLOURS.indexOf(a.colour) - COLOURS.indexOf(b.colour) || a.number - b.number);
  const parts = { runs: () => runs(plain, wrap), groups: () => groups(plain), pairs: () => pairs(plain) }[by]();
  const whole = by === "pairs" ? 2 : 3;
  const blocks = parts.filter((part) => part.length >= whole).map(texts);
  const nearly = parts.filter((part) => part.length > 1 && part.length < whole).map(texts);
  const single = parts.filter((part) => part.length === 1).flat();
  single.sort(by === "groups" ? byNumber : byColour);
  const pieces = []; // on short rows, single tiles in small pieces fill what is left of both
  while (single.length) pieces.push(texts(single.splice(0, most < ROW ? 3 : ROW)));
  const all = [...blocks, ...nearly, ...pieces, ...(wilds.length ? [wilds] : [])];
  return laid(all, most) ?? laid(all, ROW) ?? filled(all.flat());
}

/** What a tile plays as: a false joker has the okey's face. */
function played(text, okey) {
  const face = text === "F" ? okey : text;
  return { colour: face[0], number: Number(face.slice(1)) };
}

const texts = (part) => part.map((tile) => tile.text);
const byColour = (a, b) => COLOURS.indexOf(a.colour) - COLOURS.indexOf(b.colour) || a.number - b.number;
const byNumber = (a, b) => a.number - b.number || COLOURS.indexOf(a.colour) - COLOURS.indexOf(b.colour);

function runs(tiles, wrap) {
  const parts = [];
  for (const colour of COLOURS) {
    let left = tiles.filter((tile) => tile.colour === colour);
    while (left.length) {
      const one = new Map(left.map((tile) => [tile.number, tile])); // one of each number; second copies follow in the next pass
      left = left.filter((tile) => one.get(tile.number) !== tile);
      const chains = [];
      for (const [number, tile] of [...one].sort((a, b) => a[0] - b[0])) {
        const last = chains.at(-1);
        if (last && last.at(-1).number === number - 1) last.push(tile);
        else chains.push([tile]);
      }
      const [first, last] = [chains[0], chains.at(-1)];
      if (wrap && chains.length > 1 && first[0].number === 1 && first.length < 3 && last.at(-1).number === 13) {
        last.push(first.shift()); // 12-13-1
        if (!first.length) chains.shift();
      }
      parts.push(...chains);
    }
  }
  return parts.sort((a, b) => Number(b.length >= 3) - Number(a.length >= 3));
}

function groups(tiles) {
  const parts = [];
  for (let number = 1; number <= 13; number++) {
    let left = tiles.filter((tile) => tile.number === number);
    while (left.length) {
      const one = new Map(left.map((tile) => [tile.colour, tile]));
      left = left.filter((tile) => one.get(tile.colour) !== tile);
      parts.push([...one.values()].sort(byColour));
    }
  }
  return parts.sort((a, b) => Number(b.length >= 3) - Number(a.length >= 3));
}

function pairs(tiles) {
  const parts = new Map();
  for (const tile of tiles) {
    const key = `${tile.colour}${tile.number}`;
    parts.set(key, [...(parts.get(key) ?? []), tile]);
  }
  return [...parts.values()].sort((a, b) => b.length - a.length);
}

const filled = (row, length = PLACES) => [...row, ...Array(length - row.length).fill(null)];

/** Lays blocks on the two rows with gaps between them. If they do not fit, gaps are left out, the last ones first; null: they never fit. */
function laid(blocks, most) {
  for (let tight = 0; tight <= blocks.length; tight++) {
    const rows = [[], []];
    const open = blocks.length - tight; // blocks from this one on have no gap before them
    const fits = blocks.every((block, i) => {
      const row = rows.find((tiles) => tiles.length + block.length + (tiles.length && i < open ? 1 : 0) <= ROW
        && tiles.filter(Boolean).length + block.length <= most);
      if (!row) return false;
      if (row.length && i < open) row.push(null);
      row.push(...block);
      return true;
    });
    if (fits) return rows.flatMap((row) => filled(row, ROW));
  }
  return null;
}
