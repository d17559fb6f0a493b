// What a graphics engineer should look at: errors, failed and repeated work, slow frames, what the trace lacks.

import { answers } from "../ask.js";
import { make, table, whenReady } from "../element.js";
import { commandLink, count } from "../text.js";

export const title = "problems";
export const key = () => "";

function shown({ problems }) {
  if (problems.length === 0) return make("p", {}, "No problem was found.");
  const rows = problems.map((it) => [
    make("span", { class: `severity ${it.severity}` }, it.severity),
    it.sentence,
    count(it.count),
    it.seq === null || it.seq === undefined ? "" : commandLink(it.seq),
    (it.examples ?? []).map((seq) => [commandLink(seq), " "]).flat(),
  ].map((cell) => (Array.isArray(cell) ? make("span", {}, cell) : cell)));
  return table(["", "problem", "times", "first", "examples"], rows, { id: "problems" });
}

export function show(host) {
  whenReady(host, answers.of("problems"), shown);
}
