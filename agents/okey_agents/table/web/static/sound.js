// The sound of tiles: a short burst of filtered noise.

let context = null;
export let soundOn = localStorage.getItem("okey.sound") !== "off";

export function setSound(on) {
  soundOn = on;
  localStorage.setItem("okey.sound", on ? "on" : "off");
}

export function clack(pitch = 1) {
  if (!soundOn || !navigator.userActivation?.hasBeenActive) return;
  context ??= new AudioContext();
  const length = 0.06;
  const buffer = context.createBuffer(1, context.sampleRate * length, context.sampleRate);
  const data = buffer.getChannelData(0);
  for (let i = 0; i < data.length; i++) data[i] = (Math.random() * 2 - 1) * Math.exp(-i / (data.length * 0.12));
  const noise = new AudioBufferSourceNode(context, { buffer });
  const band = new BiquadFilterNode(context, { type: "bandpass", frequency: 2300 * pitch, Q: 1.6 });
  const volume = new GainNode(context, { gain: 0.35 });
  noise.connect(band).connect(volume).connect(context.destination);
  noise.start();
}
