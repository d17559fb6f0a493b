// The sections of the state in groups: by what they belong to, and by the first words of their names.

import { make } from "./element.js";
import { count } from "./text.js";

// What sections belong to, in the order in which it is shown.
const SCOPES = {
  context: "contexts",
  share_group: "objects of share groups",
  thread: "threads",
  process: "processes",
};
// Sections with the same first word that are a group, and sections of a scope that are grouped, at least.
const GROUP_LEAST = 2;
const SCOPE_LEAST = 12;

// Returns the sections of all owners by name, as { name, title, isInitial }: by scope in the order of the state.
export function byScope(sections) {
  const scopes = new Map(Object.keys(SCOPES).map((scope) => [scope, new Map()]));
  for (const { name, is_initial: isInitial } of sections) {
    const [scope, ...words] = name.split(".");
    const known = scopes.get(scope);
    const section = known?.get(name) ?? { name, title: words.join("."), isInitial: true };
    section.isInitial &&= isInitial;
    known?.set(name, section);
  }
  return [...scopes].filter(([, found]) => found.size > 0).map(([scope, found]) => ({ scope, title: SCOPES[scope], sections: [...found.values()] }));
}

// Returns sections as lists: a group of those with the same first word as { word, sections }, each other one alone.
export function byWord(sections) {
  const wordOf = ({ title }) => title.split("_")[0];
  const groups = new Map();
  for (const section of sections) {
    const word = wordOf(section);
    groups.set(word, [...(groups.get(word) ?? []), section]);
  }
  const isGrouped = sections.length >= SCOPE_LEAST;
  return [...groups].flatMap(([word, own]) => (isGrouped && own.length >= GROUP_LEAST ? [{ word, sections: own }] : own.map((section) => ({ word: null, sections: [section] }))));
}

// Returns the sections whose names have all the words of a text.
export function matching(sections, text) {
  const words = text.toLowerCase().split(/[\s_.]+/).filter((word) => word !== "");
  return sections.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
}

// The line of a group of sections.
export function groupSummary(title, sections) {
  const own = sections.filter((section) => !section.isInitial).length;
  return make("summary", {}, title, make("span", { class: "note" }, `  ${count(sections.length)} sections${own === 0 ? ", initial" : own === sections.length ? "" : `, ${count(own)} set`}`));
}

// The line of a section.
export function sectionSummary({ title, isInitial }) {
  return make("summary", { class: isInitial ? "initial" : null }, title, isInitial ? make("span", { class: "note" }, "  initial") : null);
}
