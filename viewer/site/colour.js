// Swatches: commands whose arguments are one colour show it.

import { make } from "./element.js";

const NAMES = ["red", "green", "blue"];

// Returns a swatch of the colour among a command's arguments; null if there is none.
export function swatch(command) {
  const channels = NAMES.map((name) => command.args[name]);
  if (!channels.every((channel) => typeof channel === "number")) return null;
  const bytes = channels.map((channel) => Math.round(255 * Math.min(1, Math.max(0, channel))));
  const element = make("span", { class: "swatch", title: `rgb(${bytes.join(", ")})` });
  element.style.backgroundColor = `rgb(${bytes.join(" ")})`;
  return element;
}
