// What a graphics engineer should look at: errors, failed and repeated work, slow frames, what the trace lacks.

import { answers } from "../ask.js";
import { make, table, whenReady } from "../element.js";
import { commandLink, count, counted } from "../text.js";

export const title = "problems";
export const key = () => "";

// Command numbers of a problem that are listed besides the first one.
const OTHERS_MAX = 5;

function row(it) {
  const listed = it.examples.slice(1, 1 + OTHERS_MAX);
  const left = it.count - 1 - listed.length;
  const more = listed.length > 0 && left > 0 ? [`and ${counted(left, "more")}`] : [];
  const examples = [...listed.flatMap((seq) => [commandLink(seq), " "]), ...more];
  const since = it.since === null ? [] : [" after ", commandLink(it.since)];
  return [
    make("span", { class: `severity ${it.severity}` }, it.severity),
    make("span", {}, it.sentence, it.detail === null ? null : make("pre", {}, it.detail)),
    count(it.count),
    it.frame === null ? "" : it.frame === it.last_frame ? String(it.frame) : `${it.frame} to ${it.last_frame}`,
    it.seq === null ? "" : make("span", {}, commandLink(it.seq), ...since),
    make("span", {}, ...examples),
  ];
}

function shown({ problems, left_out: leftOut }) {
  if (problems.length === 0) return make("p", {}, "No problem was found.");
  return [
    table(["", "problem", "times", "frames", "first", "others"], problems.map(row), { id: "problems" }),
    leftOut === 0 ? null : make("p", { class: "note" }, `${count(leftOut)} further problems are not listed.`),
  ];
}

export function show(host) {
  whenReady(host, answers.of("problems"), shown);
}
