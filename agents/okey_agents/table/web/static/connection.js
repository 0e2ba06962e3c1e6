// The connection to the server: one WebSocket, opened again when it breaks; and the tokens of the seats taken from this browser.

const SEATS = "okey.seats";

export class Connection {
  constructor(onMessage, onState) {
    this.onMessage = onMessage;
    this.onState = onState;
    this.wait = 300;
    this.open();
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${scheme}://${location.host}/socket`);
    this.socket.onopen = () => {
      this.wait = 300;
      this.onState(true);
    };
    this.socket.onmessage = (event) => this.onMessage(JSON.parse(event.data));
    this.socket.onclose = () => {
      this.onState(false);
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(this.wait * 2, 5000);
    };
  }

  send(type, message = {}) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ type, ...message }));
  }
}

/** The seats taken from this browser: table → {token, names}. */
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
