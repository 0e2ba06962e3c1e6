// The connection to the server: one WebSocket, opened again when it breaks; and the tokens of the seats taken from this browser.

const SEATS = "okey.seats";
const ME = "okey.me";

export class Connection {
  constructor(onMessage, onState) {
    this.onMessage = onMessage;
    this.onState = onState;
    this.wait = 300;
    this.start();
  }

  /** Opens a socket, and another one whenever it breaks, until `stop`. */
  start() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = this.socket = new WebSocket(`${scheme}://${location.host}/socket`);
    socket.onopen = () => {
      this.wait = 300;
      this.onState(true);
    };
    socket.onmessage = (event) => this.socket === socket && this.onMessage(JSON.parse(event.data));
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.onState(false);
      setTimeout(() => this.socket === socket && this.start(), this.wait);
      this.wait = Math.min(this.wait * 2, 5000);
    };
  }

  stop() {
    const { socket } = this;
    this.socket = null;
    socket.close();
  }

  get open() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  send(type, message = {}) {
    if (this.open) this.socket.send(JSON.stringify({ type, ...message }));
  }
}

/** The seats taken from this browser: table → token, invitation, names of the others, round, score, when it was last seen. */
export function keptSeats() {
  try {
    return JSON.parse(localStorage.getItem(SEATS)) ?? {};
  } catch {
    return {};
  }
}

export function keepSeat(table, entry) {
  const seats = keptSeats();
  if (entry === null) delete seats[table];
  else seats[table] = { ...seats[table], ...entry };
  localStorage.setItem(SEATS, JSON.stringify(seats));
}

/** The secret under which the server keeps the matches of this browser. */
export function me() {
  if (!localStorage.getItem(ME)) {
    localStorage.setItem(ME, [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join(""));
  }
  return localStorage.getItem(ME);
}
