// A tile as SVG: cream, a coloured number, and below it a mark for each colour, for people who cannot tell colours apart.

const MARKS = {
  R: "M30 55.5l8.5 8.5-8.5 8.5-8.5-8.5z", // diamond
  B: "M30 56.5a7.5 7.5 0 1 0 .01 0z", // disc
  K: "M23 57h14v14H23z", // square
  Y: "M30 55.5l9 15.5H21z", // triangle
};
const STAR = "M48 6l2.1 4.3 4.8.6-3.5 3.3.8 4.7-4.2-2.2-4.2 2.2.8-4.7-3.5-3.3 4.8-.6z";
const PETAL = "M30 29c-5-5-5-13 0-17 5 4 5 12 0 17z";
const PETALS = [0, 45, 90, 135, 180, 225, 270, 315]
  .map((angle, i) => `<path class="c-${"RBYK"[i % 4]}" d="${PETAL}" transform="rotate(${angle} 30 32)"/>`)
  .join("");
const EDGE = '<rect x="1" y="4" width="58" height="79" rx="9" fill="url(#bone)"/>';

/** The colour letter and number that a tile shows; null for a false joker and for a back. An okey shows its own face. */
export function faceOf(text, okey) {
  const face = text === "*" ? okey : text;
  return face === "F" || face === "?" ? null : { colour: face[0], number: Number(face.slice(1)) };
}

/** The markup of a tile. `text` is a face (R12), F for a false joker, * for the okey, ? for its back. */
export function tileSvg(text, okey, className = "") {
  const wild = text === "*";
  return `<svg class="tile ${wild ? "wild" : ""} ${className}" viewBox="0 0 60 84" aria-hidden="true">${inside(text, okey)}</svg>`;
}

function inside(text, okey) {
  if (text === "?") {
    return `${EDGE}<rect x="1" y="1" width="58" height="79" rx="9" fill="url(#ivory)"/>
      <rect x="8" y="8" width="44" height="65" rx="5" class="inlay"/><path d="M30 20l12 20.5L30 61 18 40.5z" class="inlay"/>
      <circle cx="30" cy="40.5" r="4" class="inlay"/>`;
  }
  const wild = text === "*";
  const body = `${EDGE}<rect x="1" y="1" width="58" height="79" rx="9" fill="url(#${wild ? "gilded" : "ivory"})"/>`;
  if (text === "F") {
    const face = okey ? faceOf(okey) : null; // the face that it plays as, small, below
    const stands = face
      ? `<text class="small c-${face.colour}" x="27" y="75">${face.number}</text>
         <path class="c-${face.colour}" d="${MARKS[face.colour]}" transform="translate(25 35) scale(.55)"/>`
      : "";
    return `${body}${PETALS}<circle cx="30" cy="32" r="4.5" fill="#fff8e6"/>${stands}`;
  }
  const { colour, number } = faceOf(text, okey);
  return `${body}<text class="number c-${colour} ${number > 9 ? "wide" : ""}" x="${number > 9 ? 29 : 30}" y="46">${number}</text>
    <path class="c-${colour}" d="${MARKS[colour]}"/>${wild ? `<path class="star" d="${STAR}"/>` : ""}`;
}

/** A tile as an image with a name, where it cannot be moved. */
export function tileFigure(text, okey, name, className = "") {
  const figure = document.createElement("span");
  figure.className = `figure ${className}`;
  figure.setAttribute("role", "img");
  figure.setAttribute("aria-label", name);
  figure.innerHTML = tileSvg(text, okey);
  return figure;
}
