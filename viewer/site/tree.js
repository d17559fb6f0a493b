// A value of the state as a tree that opens. What is open stays open when the value of another command is shown.

import { make } from "./element.js";
import { valueText } from "./text.js";

// Paths of what is open, from the section on.
const open = new Set();

function isReference(value) {
  return value.kind !== undefined && value.serial !== undefined;
}

function isPlain(value) {
  return value === null || typeof value !== "object";
}

// Whether a value is shown in one line.
function isLeaf(value) {
  if (isPlain(value) || isReference(value)) return true;
  return Object.keys(value).length === 0 || (Array.isArray(value) && value.every(isPlain));
}

function leaf(value) {
  let text = "none";
  if (isPlain(value)) text = valueText(value);
  else if (isReference(value)) text = `${value.kind} ${value.name}`;
  else if (Array.isArray(value) && value.length > 0) text = valueText(value);
  return make("span", { class: "value" }, text);
}

function branch(path, name, value) {
  if (isLeaf(value)) return [make("span", { class: "name" }, `${name}: `), leaf(value)];
  return folded(`${path}/${name}`, make("summary", {}, name), () => tree(`${path}/${name}`, value));
}

// Makes an element that opens. Its contents are made when it is opened first: a state can have thousands of parts.
export function folded(path, summary, contents, isOpen = open.has(path)) {
  const details = make("details", { open: isOpen, "data-path": path }, summary);
  const fill = () => {
    if (details.open && details.children.length === 1) details.append(...[contents()].flat().filter((it) => it !== null));
  };
  fill();
  details.addEventListener("toggle", () => {
    if (details.open) open.add(path);
    else open.delete(path);
    fill();
  });
  return details;
}

// Returns a value as a tree of elements.
export function tree(path, value) {
  if (isLeaf(value)) return leaf(value);
  return make("ul", { class: "tree" }, Object.entries(value).map(([name, part]) => make("li", {}, branch(path, name, part))));
}
