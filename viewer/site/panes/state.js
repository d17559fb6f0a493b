// The state after the selected command: what the command changed, and all sections in groups. What is open stays open when another
// command is selected.

import { answers, query } from "../ask.js";
import { filled } from "../bound.js";
import { fill, make, table, whenReady } from "../element.js";
import { go, place as here } from "../place.js";
import { byScope, byWord, groupSummary, matching, sectionSummary } from "../sections.js";
import { valueText } from "../text.js";
import { folded, tree } from "../tree.js";

export const title = "state";
export const key = (place) => [place.at, place.since];

function changesTable({ changes, since, seq }) {
  if (changes.length === 0) return make("p", { id: "changes" }, since === seq - 1 ? "The command has changed no state; contents of textures and buffers are not listed here." : "No state has changed.");
  const text = (value) => (value === null ? "nothing" : valueText(value));
  const rows = changes.map((it) => [it.owner, it.path.join(" › "), text(it.before), text(it.after)]);
  return table(["of", "state", "before", "after"], rows, { id: "changes" });
}

// All values of a section, with what they belong to, and its handle if that is a context.
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
      context: process.contexts.map((it) => [`${within}, context 0x${BigInt(it.context).toString(16)}`, it.state, it.context]),
    };
    for (const [owner, state, context] of lists[scope] ?? []) if (state[name] !== undefined) found.push([owner, state[name], context]);
  }
  return found;
}

// The text in the filter field, and whether sections with their initial values are listed: they stay for other commands.
const filter = { text: "", hasInitial: false };

// Returns the names of the sections that the place names.
function sectionsOf(place) {
  return (place.section ?? "").split(",").filter((name) => name !== "");
}

// Notes in the address that a section is open, or no longer.
function note(name, isOpen) {
  const names = sectionsOf(here()).filter((it) => it !== name);
  go({ section: [...names, ...(isOpen ? [name] : [])].join(",") }, { replaces: true });
}

// The sections after the command `at`, in groups. Those in `opened` are open; one question is asked for all of them.
class Sections {
  #at;
  #context;
  #scopes;
  #opened;
  #first;

  constructor(at, { sections }, command, opened) {
    this.#at = at;
    this.#context = command?.context;
    this.#scopes = byScope(sections);
    this.#opened = new Set(opened);
    const known = new Set(sections.map((it) => it.name));
    const shown = opened.filter((name) => known.has(name));
    this.#first = { names: new Set(shown), answer: shown.length === 0 ? null : answers.of(`state${query({ at, section: shown.join(",") })}`) };
    this.list = make("div", { id: "contents" });
    this.#lay();
    const field = make("input", { id: "filter", placeholder: "filter: blend, stencil mask", size: 22, value: filter.text, "aria-label": "Filter of sections", oninput: () => this.#choose({ text: field.value }) });
    const box = make("input", { type: "checkbox", id: "initial", checked: filter.hasInitial, onchange: () => this.#choose({ hasInitial: box.checked }) });
    this.controls = make("div", { class: "controls" }, field, make("label", {}, box, " also sections with their initial values"));
  }

  // Opens the sections that the place names, if they are not.
  open(names) {
    if (names.every((name) => this.#opened.has(name))) return;
    names.forEach((name) => this.#opened.add(name));
    this.#lay();
  }

  #choose(changes) {
    Object.assign(filter, changes);
    this.#lay();
  }

  #lay() {
    const isFiltered = filter.text.trim() !== "";
    const isListed = ({ name, isInitial }) => isFiltered || filter.hasInitial || !isInitial || this.#opened.has(name);
    const scopes = this.#scopes.map((it) => ({ ...it, sections: matching(it.sections, filter.text).filter(isListed) }));
    const shown = scopes.filter(({ sections }) => sections.length > 0).map(({ scope, title, sections }) => {
      const isOpen = isFiltered || this.#hasOpen(sections) || scope === "context";
      return this.#group(scope, title, sections, isOpen, () => byWord(sections).map((group) => this.#words(scope, group, isFiltered)));
    });
    fill(this.list, shown.length === 0 ? make("p", { class: "note" }, isFiltered ? "No section has this name." : "All sections have their initial values.") : shown);
  }

  #words(scope, { word, sections }, isFiltered) {
    if (word === null) return this.#section(sections[0]);
    return this.#group(`${scope}.${word}`, `${word} …`, sections, isFiltered || this.#hasOpen(sections), () => sections.map((section) => this.#section(section)));
  }

  #hasOpen(sections) {
    return sections.some(({ name }) => this.#opened.has(name));
  }

  #group(path, title, sections, isOpen, contents) {
    const chosen = filter.text.trim() === "" ? groups.get(path) : undefined;
    const details = folded(`group ${path}`, groupSummary(title, sections), contents, chosen ?? isOpen);
    details.classList.add("group");
    details.addEventListener("click", ({ target }) => {
      // The pointer opens or closes it; `toggle` would also come of what the page does.
      if (target.closest("details") === details && target.closest("summary") !== null) groups.set(path, !details.open);
    });
    return details;
  }

  #section(section) {
    const { name } = section;
    const contents = make("div", {});
    const read = () => {
      const answer = this.#first.names.has(name) ? this.#first.answer : answers.of(`state${query({ at: this.#at, section: name })}`);
      whenReady(contents, answer, (found) => this.#owners(found, name));
      return contents;
    };
    const details = folded(name, sectionSummary(section), read, this.#opened.has(name));
    details.dataset.section = name;
    details.addEventListener("toggle", () => {
      if (details.open === this.#opened.has(name)) return;
      if (details.open) this.#opened.add(name);
      else this.#opened.delete(name);
      note(name, details.open);
    });
    return details;
  }

  // The values of a section, that of the command's context first.
  #owners(answer, section) {
    const found = owners(answer, section);
    const isOwn = ([, , context]) => context !== undefined && String(context) === String(this.#context);
    found.sort((one, other) => isOwn(other) - isOwn(one));
    return found.flatMap(([owner, value, context]) => [
      make("h3", {}, owner, isOwn([owner, value, context]) ? ", that of the command" : ""),
      tree(`${section} of ${owner}`, value),
    ]);
  }
}

// Groups that somebody has opened or closed, by path.
const groups = new Map();

// What is shown now.
let shown = null;

export function update(place) {
  shown?.open(sectionsOf(place));
}

export function show(host, place, trace) {
  const { at } = place;
  shown = null;
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
  const sections = make("div", {});
  fill(host, form, changes, make("h2", {}, "state"), sections);
  const changed = async () => {
    const [answer, command] = await Promise.all([answers.of(`state${query({ at, since })}`), since === at - 1 ? answers.command(at) : null]);
    return [filled(command), changesTable(answer)];
  };
  if (at > trace.first_seq) whenReady(changes, changed(), (shown) => shown);
  else fill(changes, make("p", { id: "changes" }, "It is the first command."));
  whenReady(sections, Promise.all([answers.of(`sections/${at}`), answers.command(at)]), ([answer, command]) => {
    shown = new Sections(at, answer, command, sectionsOf(here()));
    return [shown.controls, shown.list];
  });
}
