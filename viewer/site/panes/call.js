// The selected command: its arguments, its memory, its place and its times; of a draw or a dispatch, what it takes.

import { answers, lines, query } from "../ask.js";
import { filled } from "../bound.js";
import { make, table, whenReady } from "../element.js";
import { SECTIONS, attributes, objectLink, programsOf, uniforms } from "../inputs.js";
import { ownerOf } from "../owner.js";
import { address } from "../place.js";
import { contextOf, stateAt } from "../state.js";
import { argument, callLine, commandLink, time, valueText, withUnit } from "../text.js";

export const title = "command";
export const key = (place) => place.at;

// Commands of a frame that are listed by their times.
const SLOWEST = 20;

async function command(at) {
  const found = await answers.command(at);
  if (found === null) throw new Error(`the trace has no command ${at}`);
  return { ...found, owner: await ownerOf(found) };
}

function facts(it) {
  return [
    ["number", String(it.seq)],
    ["frame", String(it.frame)],
    ["process, thread", `${it.pid}, ${it.tid}`],
    ["context", it.context === 0 ? "none" : `0x${BigInt(it.context).toString(16)}`],
    ...(it.time_ns === undefined ? [] : [["ended a frame at", `${withUnit((it.time_ns / 1e9).toFixed(6), "s")} of CLOCK_MONOTONIC`]]),
    ["time in the driver", it.driver_ns === undefined ? "not recorded" : time(it.driver_ns)],
    ...(it.gpu_ns === undefined ? [] : [["time on the GPU", time(it.gpu_ns)]]),
    ["stamps", it.stamps.map((stamp) => stamp ?? "none").join(", ")],
  ];
}

// The commands of a frame that took longest in the driver; a trace without times has none.
function slowest({ frame, pid }) {
  const host = make("div", { id: "slowest" });
  const found = [];
  const take = (command) => command.pid === pid && found.push(command);
  const rows = () => found.map((command) => [commandLink(command.seq), time(command.driver_ns), callLine(command)]);
  const shown = () => [make("h2", {}, `slowest commands of frame ${frame}`), table(["command", "in the driver", ""], rows())];
  whenReady(host, lines(`commands${query({ frame, sort: "driver-time", top: SLOWEST })}`, take), shown);
  return host;
}

// The uniforms, textures and vertex attributes that a draw or a dispatch takes.
function inputs(it) {
  const host = make("div", { id: "inputs" });
  const { owner } = it;
  const shown = (answer) => {
    const context = contextOf(answer, owner);
    if (context === undefined) return [];
    const programs = programsOf(answer, context).map((program) => {
      const [kind, name] = program.name.split(" ");
      return [make("h2", {}, "uniforms of ", objectLink({ kind, name }, owner, it.seq, "shaders")), uniforms(it.seq, program, { context, owner })];
    });
    const vertices = it.role === "draw" ? attributes(answer, { context, owner, at: it.seq }) : null;
    return [programs, vertices === null ? null : [make("h2", {}, "vertex attributes"), vertices]];
  };
  whenReady(host, stateAt(it.seq, SECTIONS, owner), shown, "reading what it takes");
  return host;
}

function shown(it, trace) {
  const memory = [...(it.reads ?? []).map((range) => ["reads", range]), ...(it.writes ?? []).map((range) => ["writes", range])];
  return [
    make("p", { class: "line" }, callLine(it)),
    filled(it),
    table(["argument", "value", "address"], Object.entries(it.args).map(([name, value]) => [name, argument(name, value, it.owner, it.seq), it.addresses?.[name] ?? ""]), { id: "arguments" }),
    it.role === "draw" || it.role === "dispatch" ? inputs(it) : null,
    it.driver_ns !== undefined && trace.frames.some((frame) => frame.seq === it.seq) ? slowest(it) : null,
    memory.length === 0 ? null : table(["memory", "contents"], memory.map(([verb, range]) => [verb, valueText(range)])),
    table(["", ""], facts(it), { class: "facts" }),
    make("p", { class: "note" }, "On the command line: ", make("code", {}, `gapii-ctl dump ${trace.subject.trace} --commands ${it.seq}`)),
    make(
      "p",
      {},
      make("a", { href: address({ pane: "statistics" }) }, "statistics"),
      " · ",
      make("a", { href: address({ pane: "state" }) }, "what it changed"),
      " · ",
      make("a", { href: address({ pane: "picture" }) }, "what it drew"),
    ),
  ];
}

export function show(host, place, trace) {
  if (place.at === null) {
    host.replaceChildren(make("p", {}, "Select a command in the list, or a frame in the timeline."));
    return;
  }
  whenReady(host, command(place.at), (it) => shown(it, trace));
}
