// Shows a command of `gapii-ctl dump --json` as text, with links where an argument leads somewhere.

import { make } from "./element.js";
import { labelledLink } from "./labels.js";
import { address } from "./place.js";
import { swatch } from "./colour.js";

const TEXT_MAX = 120;
const LIST_MAX = 16;

// Returns a value as text.
export function valueText(value) {
  if (value === null || value === undefined) return "null";
  // Whole numbers that large are handles and addresses.
  if (Number.isInteger(value) && value > 0xffffffff) return `0x${value.toString(16)}`;
  if (typeof value === "number" && !Number.isInteger(value)) return shortest(value);
  if (typeof value === "string") return value;
  if (Array.isArray(value)) {
    const shown = value.slice(0, LIST_MAX).map(valueText).join(", ");
    return value.length > LIST_MAX ? `[${shown}, … ${value.length} in all]` : `[${shown}]`;
  }
  if (typeof value === "object") {
    // Memory: its elements, if they were listed, and otherwise where its bytes are.
    if (Array.isArray(value.values)) return valueText(value.values);
    if (value.size !== undefined && value.hash !== undefined) return `<${size(value.size)}, blob ${value.hash.slice(0, 12)}>`;
    const fields = Object.entries(value).map(([name, part]) => `${name}: ${valueText(part)}`);
    return `{${fields.join(", ")}}`;
  }
  return String(value);
}

// Returns the fewest digits that tell a number of single precision from its neighbours.
function shortest(value) {
  if (Math.fround(value) !== value) return String(value);
  const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9].find((count) => Math.fround(Number(value.toPrecision(count))) === value);
  return String(Number(value.toPrecision(digits ?? 9)));
}

function shortened(text) {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;
}

// Returns the function with its arguments and its result, as one line of elements.
export function callLine(command) {
  const args = Object.entries(command.args);
  const parts = args.flatMap(([name, value], at) => [
    at === 0 ? "" : ", ",
    make("span", { class: "param" }, `${name} = `),
    make("span", { class: "value" }, shortened(valueText(value))),
  ]);
  const result = command.result === null ? [] : [" = ", make("span", { class: "value" }, shortened(valueText(command.result)))];
  const notes = ["in_flight", "setup", "skipped", "tracer", "enter_missing"].filter((note) => command[note]);
  return [
    make("span", { class: "function" }, command.name),
    "(",
    ...parts,
    ")",
    ...result,
    swatch(command),
    notes.length === 0 ? null : make("span", { class: "note" }, ` ${notes.join(", ").replaceAll("_", " ")}`),
  ];
}

// Parameters that name an object, with the kind of object and the pane that shows it. The trace does not say it.
const OBJECTS = {
  array: ["VertexArray", "objects"],
  buffer: ["Buffer", "objects"],
  framebuffer: ["Framebuffer", "objects"],
  program: ["Program", "shaders"],
  renderbuffer: ["Renderbuffer", "objects"],
  sampler: ["Sampler", "objects"],
  shader: ["Shader", "shaders"],
  texture: ["Texture", "objects"],
};

// Returns the value of an argument of the command `at`; where it is the name of an object, a link to that of the owner.
export function argument(name, value, owner, at) {
  const [kind, pane] = OBJECTS[name] ?? [];
  const text = valueText(value);
  if (kind === undefined || typeof value !== "number" || value === 0) return text;
  return labelledLink(`${kind} ${value}`, owner, at, { pane, text });
}

// Returns a link that selects a command.
export function commandLink(seq, text = String(seq)) {
  return make("a", { href: address({ at: seq }), class: "seq" }, text);
}

// Returns a whole number with its digits in groups.
export function count(number) {
  return number.toLocaleString("en");
}

// Returns a number, as it is written, with its unit; a line does not break between them.
export function withUnit(number, unit) {
  return `${number}\u00a0${unit}`;
}

// Returns how many of something there are, such as 12 commands.
export function counted(number, what) {
  return withUnit(count(number), what);
}

// Returns a time in nanoseconds with a unit.
export function time(ns) {
  if (ns === null || ns === undefined) return "";
  if (ns < 1e3) return withUnit(ns, "ns");
  if (ns < 1e6) return withUnit((ns / 1e3).toFixed(1), "µs");
  if (ns < 1e9) return withUnit((ns / 1e6).toFixed(2), "ms");
  return withUnit((ns / 1e9).toFixed(2), "s");
}

// Returns a size in bytes with a decimal unit, like `gapii-ctl`.
export function size(bytes) {
  if (bytes < 1e3) return withUnit(bytes, "B");
  if (bytes < 1e6) return withUnit((bytes / 1e3).toFixed(1), "kB");
  if (bytes < 1e9) return withUnit((bytes / 1e6).toFixed(1), "MB");
  return withUnit((bytes / 1e9).toFixed(2), "GB");
}
