// Sounds: a tile that is laid, a short burst of filtered noise; and the player's turn.

let context = null;
export let soundOn = localStorage.getItem("okey.sound") !== "off";

export function setSound(on) {
  soundOn = on;
  localStorage.setItem("okey.sound", on ? "on" : "off");
}

/** Where sounds go; null while they are off, or before the player has touched the page. */
function output(volume) {
  if (!soundOn || !navigator.userActivation?.hasBeenActive) return null;
  context ??= new AudioContext();
  const gain = new GainNode(context, { gain: volume });
  gain.connect(context.destination);
  return gain;
}

/** A tile that is laid. */
export function clack(pitch = 1) {
  const out = output(0.35);
  if (!out) return;
  const length = 0.06;
  const buffer = context.createBuffer(1, context.sampleRate * length, context.sampleRate);
  const data = buffer.getChannelData(0);
  for (let i = 0; i < data.length; i++) data[i] = (Math.random() * 2 - 1) * Math.exp(-i / (data.length * 0.12));
  const noise = new AudioBufferSourceNode(context, { buffer });
  noise.connect(new BiquadFilterNode(context, { type: "bandpass", frequency: 2300 * pitch, Q: 1.6 })).connect(out);
  noise.start();
}

/** Your turn: two soft tones, one after the other. */
export function chime() {
  [660, 880].forEach((frequency, i) => {
    const out = output(0);
    if (!out) return;
    const start = context.currentTime + 0.14 * i;
    out.gain.setValueAtTime(0.12, start);
    out.gain.exponentialRampToValueAtTime(0.001, start + 0.5);
    const tone = new OscillatorNode(context, { frequency });
    tone.connect(out);
    tone.start(start);
    tone.stop(start + 0.5);
  });
}
