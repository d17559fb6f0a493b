// The state after the selected command: what the command changed, and all sections, of which one is opened at a time.

import { answers, query } from "../ask.js";
import { fill, make, table, whenReady } from "../element.js";
import { go, place as here } from "../place.js";
import { valueText } from "../text.js";

export const title = "state";
export const key = (place) => [place.at, place.since, place.section];

// Returns a value as a tree of elements.
function tree(value) {
  if (value === null || typeof value !== "object") return make("span", { class: "value" }, valueText(value));
  const isShort = Array.isArray(value) && value.every((part) => part === null || typeof part !== "object");
  if (isShort || (value.kind !== undefined && value.serial !== undefined)) {
    const text = isShort ? valueText(value) : `${value.kind} ${value.name}`;
    return make("span", { class: "value" }, text);
  }
  const parts = Object.entries(value);
  if (parts.length === 0) return make("span", { class: "value" }, "none");
  return make("ul", { class: "tree" }, parts.map(([name, part]) => make("li", {}, branch(name, part))));
}

function branch(name, value) {
  const isLeaf = value === null || typeof value !== "object" || Object.keys(value).length === 0 || value.serial !== undefined || (Array.isArray(value) && value.every((part) => part === null || typeof part !== "object"));
  if (isLeaf) return [make("span", { class: "name" }, `${name}: `), tree(value)];
  const details = make("details", {}, make("summary", {}, name));
  // A state can have thousands of parts: they are made when they are looked at.
  details.addEventListener("toggle", () => details.children.length === 1 && details.append(tree(value)), { once: true });
  return details;
}

function changesTable({ changes, since, seq }) {
  if (changes.length === 0) return make("p", { id: "changes" }, since === seq - 1 ? "The command has changed no state." : "No state has changed.");
  const text = (value) => (value === null ? "nothing" : valueText(value));
  const rows = changes.map((it) => [it.owner, it.path.join(" › "), text(it.before), text(it.after)]);
  return table(["of", "state", "before", "after"], rows, { id: "changes" });
}

// All values of a section, by what they belong to.
function owners(answer, section) {
  const [scope, ...rest] = section.split(".");
  const name = rest.join(".");
  const found = [];
  for (const process of answer.processes) {
    const within = `process ${process.process}`;
    const lists = {
      process: [[within, process.state]],
      thread: process.threads.map((it) => [`${within}, thread ${it.thread}`, it.state]),
      share_group: process.share_groups.map((it) => [`${within}, share group ${it.share_group}`, it.state]),
      context: process.contexts.map((it) => [`${within}, context 0x${BigInt(it.context).toString(16)}`, it.state]),
    };
    for (const [owner, state] of lists[scope] ?? []) if (state[name] !== undefined) found.push([owner, state[name]]);
  }
  return found;
}

function sectionList({ sections }, chosen) {
  const names = new Map();
  for (const it of sections) names.set(it.name, (names.get(it.name) ?? true) && it.is_initial);
  const options = [...names].map(([name, isInitial]) => make("option", { value: name, selected: name === chosen }, isInitial ? `${name} (initial)` : name));
  const select = make("select", { id: "section", "aria-label": "Section of the state", onchange: () => go({ section: select.value }, { replaces: true }) }, make("option", { value: "" }, "a section …"), options);
  return select;
}

export function show(host, place, trace) {
  const { at, section } = place;
  if (at === null) {
    fill(host, make("p", {}, "Select a command: the state after it is shown."));
    return;
  }
  const asked = /^\d+$/.test(place.since ?? "") ? Number(place.since) : at;
  const since = asked < at ? asked : at - 1;
  const field = make("input", { name: "since", value: since, size: 8, inputmode: "numeric", "aria-label": "Changes since command" });
  const form = make(
    "form",
    {
      class: "controls",
      onsubmit: (event) => {
        event.preventDefault();
        go({ since: Number(field.value) === here().at - 1 ? null : field.value });
      },
    },
    "changes since command ",
    field,
    make("button", {}, "show"),
  );
  const changes = make("div", {});
  const choice = make("div", { class: "controls" });
  const contents = make("div", { id: "contents" });
  fill(host, form, changes, make("h2", {}, "state"), choice, contents);
  if (at > trace.first_seq) whenReady(changes, answers.of(`state${query({ at, since })}`), changesTable);
  else fill(changes, make("p", { id: "changes" }, "It is the first command."));
  whenReady(choice, answers.of(`sections/${at}`), (answer) => sectionList(answer, section));
  if (section) {
    const shown = (answer) => owners(answer, section).map(([owner, value]) => [make("h3", {}, owner), tree(value)]).flat();
    whenReady(contents, answers.of(`state${query({ at, section })}`), shown);
  }
}
