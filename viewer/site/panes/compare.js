// The differences between the trace, A, and a second one, B: commands by cause, frames, and pictures of both side by side.

import { answers } from "../ask.js";
import { fill, make, table, whenReady } from "../element.js";
import { pictureAt } from "../pictures.js";
import { address } from "../place.js";
import { runTable } from "../runs.js";
import { besides } from "../stage.js";
import { callLine, commandLink, count, counted } from "../text.js";

export const title = "compare";
export const key = (place) => [place.a, place.b, place["first-a"], place["first-b"]];

// A link that shows the pictures of both traces after commands `a` and `b`, and the commands of `first` side by side.
function look(a, b, first = { a: null, b: null }) {
  if (a === null || b === null) return "";
  return make("a", { href: address({ a, b, "first-a": first.a, "first-b": first.b }) }, "look");
}

// The last command before the end of a frame, in a list of frames.
function lastOf(frames, { process, frame }) {
  const found = frames.find((it) => it.process === process && it.frame === frame);
  return found === undefined ? null : Math.max(0, found.seq - 1);
}

// The last command of the frame in which a command is.
function lastBehind(frames, seq) {
  const found = seq === null ? undefined : frames.find((it) => it.seq >= seq);
  return found === undefined ? seq : Math.max(seq, found.seq - 1);
}

function causes(list, own, others) {
  const row = (it) => [
    it.function,
    it.way.replace(/_([ab])$/, (_, name) => ` ${name.toUpperCase()}`).replaceAll("_", " "),
    it.parts.join(", "),
    count(it.commands),
    count(it.frames),
    it.first.a === null ? "" : commandLink(it.first.a),
    it.first.b === null ? "" : String(it.first.b),
    look(lastBehind(own, it.first.a), lastBehind(others, it.first.b), it.first),
  ];
  return table(["function", "difference", "parts", "commands", "frames", "first in A", "in B", ""], list.map(row), { id: "causes" });
}

// How a frame differs, in words.
function wordsOf(it) {
  if (it.pixels) return `${count(it.pixels.pixels)} of ${counted(it.pixels.of, "pixels")}, by ${it.pixels.largest} of 255 at most`;
  if (it.sizes) return `${it.sizes.map((size) => size.join(" × ")).join(" and ")} pixels`;
  if (it.hashes) return "other pixels; the traces have only their hashes";
  return "only_in_a" in it ? "in A only" : "in B only";
}

// The frames of both traces, those that differ and those that are equal, in order.
function frames(list, own, others) {
  const name = ({ process, frame }) => `${process} ${frame}`;
  const differing = new Map(list.map((it) => [name(it), it]));
  const inB = new Set(others.map(name));
  const equal = own.filter((it) => inB.has(name(it)) && !differing.has(name(it))).map(({ process, frame }) => ({ process, frame, how: "equal" }));
  const rows = [...equal, ...list.map((it) => ({ process: it.process, frame: it.frame, how: wordsOf(it) }))];
  rows.sort((one, other) => one.process - other.process || one.frame - other.frame);
  const of = ({ process }) => (process === 0 ? "" : ` of process ${process}`);
  const follows = (one, next) => one.process === next.process && one.frame + 1 === next.frame && one.how === next.how;
  const cells = (it) => [`${it.frame}${of(it)}`, it.how, look(lastOf(own, it), lastOf(others, it))];
  const joined = (run) => [`${run[0].frame} to ${run.at(-1).frame}${of(run[0])}`, `${run[0].how}, ${count(run.length)} frames`, ""];
  return runTable(["frame", "difference", ""], rows, { follows, cells, joined }, { id: "frames" });
}

// The first command whose answer from the driver differs.
function firstAnswer({ first_answer: it }) {
  return it === null || it.a === null || it.b === null ? null : make("p", { id: "first-answer" }, "The first answer of the driver that differs: that to command ", commandLink(it.a), ` in A, ${it.b} in B.`);
}

// The first command that one trace has and the other has not, or that differs; if one of them ends there, this is what is said.
function firstDifference({ first }, trace, others) {
  if (first === null) return null;
  const { a, b } = first;
  const say = (...words) => make("p", { id: "first-difference" }, ...words);
  if (a !== null && b !== null) return say("The first command that differs: ", commandLink(a), ` in A, ${b} in B.`);
  const [ending, longer] = a === null ? [trace, others] : [others, trace];
  const [name, other] = a === null ? ["A", "B"] : ["B", "A"];
  const next = a === null ? String(b) : commandLink(a);
  const all = ending.end_seq - ending.first_seq;
  const ends = (a ?? b) - longer.first_seq >= all;
  return ends ? say(`${name} ends after ${counted(all, "commands")}; ${other} goes on with command `, next, ".") : say(`The first command that ${name} lacks: `, next, ` in ${other}.`);
}

function shown([answer, others], trace) {
  if (answer.differing === 0 && !answer.frames?.length) return make("p", { id: "equal" }, "The traces have the same commands.");
  return [
    make("p", {}, `A has ${counted(answer.commands.a, "commands")}, B has ${count(answer.commands.b)}; ${count(answer.differing)} differ.`),
    firstAnswer(answer),
    firstDifference(answer, trace, others),
    make("h2", {}, "causes"),
    causes(answer.causes, trace.frames, others.frames),
    answer.frames?.length ? [make("h2", {}, "frames"), frames(answer.frames, trace.frames, others.frames)] : null,
  ];
}

// The first commands that differ, with their arguments.
function commands(place) {
  const [a, b] = [place["first-a"], place["first-b"]];
  const host = make("div", { id: "first" });
  if (!/^\d+$/.test(a ?? "") || !/^\d+$/.test(b ?? "")) return host;
  const both = Promise.all([answers.command(Number(a)), answers.command(Number(b), "other/commands")]);
  const line = (name, command) => make("p", { class: "line" }, `${name}: `, command === null ? "none" : [`${command.seq} `, callLine(command)]);
  whenReady(host, both, ([one, other]) => [line("A", one), line("B", other)], "reading both traces");
  return host;
}

async function pictures(a, b) {
  const [one, other] = await Promise.all([pictureAt("pictures", a), pictureAt("other/pictures", b)]);
  return [one, other];
}

export function show(host, place, trace) {
  if (trace.subject.other === null) {
    fill(host, make("p", {}, "There is no second trace: begin with ", make("code", {}, `gapii-ctl ui ${trace.subject.trace} OTHER`), "."));
    return;
  }
  const beside = make("div", { id: "beside" });
  const list = make("div", {});
  const file = (path) => path.split("/").pop();
  fill(host, make("p", {}, `A is ${file(trace.subject.trace)}, B is ${file(trace.subject.other)}.`), commands(place), beside, list);
  if (/^\d+$/.test(place.a ?? "") && /^\d+$/.test(place.b ?? "")) {
    const show = ([one, other]) => {
      host.scrollTop = 0;
      return besides(one, other, [`A after command ${place.a}`, `B after command ${place.b}`]);
    };
    whenReady(beside, pictures(place.a, place.b), show, "playing both traces");
  }
  const both = Promise.all([answers.of("differences"), answers.of("other/frames")]);
  whenReady(list, both, (found) => shown(found, trace), "comparing");
}
