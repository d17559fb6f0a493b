// The page of a daemon: programs with their rates, running captures, kept frames, and the traces that were recorded here.

import { ask, lines, order } from "./ask.js";
import { fill, make } from "./element.js";
import { LiveTable } from "./livetable.js";
import { sparkline } from "./sparkline.js";
import { count, size, time } from "./text.js";

// Refreshes that a sparkline shows, and milliseconds until the daemon is asked again once it is gone.
const KEPT_RATES = 60;
const AGAIN_MS = 2000;

const element = (id) => document.getElementById(id);

// Shows a sentence, or takes it away: what is wrong with the daemon, and why the last order was refused.
function say(place, sentence) {
  element(place).hidden = sentence === null;
  element(place).textContent = sentence ?? "";
}

const trouble = (sentence) => say("trouble", sentence);
const refusal = (sentence) => say("refusal", sentence);

// The options of a capture.
class Options {
  constructor(form) {
    const number = (name, title, value) =>
      make("label", {}, `${title} `, make("input", { name, type: "number", min: 0, step: "any", value, placeholder: "no limit" }));
    const box = (name, title, flag, change) => make("label", { title: flag }, make("input", { name, type: "checkbox", onchange: change ?? (() => {}) }), ` ${title}`);
    this.form = form;
    fill(
      form,
      number("frames", "frames", 100),
      number("seconds", "seconds", null),
      make("label", {}, "frames end at ", make("input", { name: "frame_end", placeholder: "swaps", title: "functions such as glFlush, and debug groups such as group:frame" })),
      box("timing", "time of each command in the driver", "--timing"),
      box("gpu_timing", "time on the GPU", "--gpu-timing", () => (form.elements.timing.checked ||= form.elements.gpu_timing.checked)),
      make("button", { type: "button", id: "record-all", onclick: () => record(null) }, "record all"),
    );
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  values() {
    const number = (name) => (this.form.elements[name].value === "" ? undefined : Number(this.form.elements[name].value));
    const frameEnd = this.form.elements.frame_end.value;
    const isChecked = (name) => this.form.elements[name].checked;
    return { frames: number("frames"), seconds: number("seconds"), frame_end: frameEnd, timing: isChecked("timing"), gpu_timing: isChecked("gpu_timing") };
  }
}

const options = new Options(element("options"));

// Sends an order, and shows what has come of it.
async function send(path, values) {
  try {
    await order(path, values);
    refusal(null);
    await showTraces();
  } catch (error) {
    refusal(error.message);
  }
}

function record(pid) {
  return send("recordings", { ...options.values(), pid: pid ?? undefined });
}

function button(text, properties, act) {
  return make("button", { type: "button", ...properties, onclick: act }, text);
}

// A sentence with a command to type.
function advice(sentence, command) {
  return () => make("p", {}, sentence, make("code", {}, command));
}

const programs = new LiveTable(
  element("programs"),
  ["process", "name", "APIs", "mode", "frames/s", "commands/s", "in rings/s", "waits", "lost commands"],
  advice("none; start one with ", "gapii-ctl run --idle -- PROGRAM"),
);
const captures = new LiveTable(element("captures"), ["capture", "name", "processes", "time", "frames", "file"], () => make("p", {}, "none"));
const keptFrames = new LiveTable(
  element("kept"),
  ["process", "name", "runs", "frames", "memory"],
  advice("none; keep the last frames of a program with ", "gapii-ctl run --keep-frames N -- PROGRAM"),
);
const traces = new LiveTable(
  element("traces"),
  ["", "recorded", "program", "file", "contents"],
  () => make("p", {}, "none yet; those that are recorded here are listed, with a link to their viewers"),
  { id: "recorded" },
);

// The rates of each program at the last refreshes, by the program's index in the session.
const rates = new Map();

function remember(apps) {
  for (const process of [...rates.keys()]) {
    if (!apps.some((app) => app.process === process)) rates.delete(process);
  }
  for (const app of apps) {
    const all = rates.get(app.process) ?? [];
    rates.set(app.process, [...all, app.frames_per_s].slice(-KEPT_RATES));
  }
}

function perSecond(value, show) {
  return value === null ? "unknown" : show(Math.round(value));
}

function waits(since) {
  if (since === null) return "unknown";
  return since.waits === 0 ? "0" : `${count(since.waits)}, ${time(since.wait_ns)}`;
}

function programRow(app) {
  const cells = [
    make("span", { "data-pid": app.pid }, String(app.pid)),
    app.name,
    app.apis.join(", "),
    app.mode,
    [sparkline(rates.get(app.process)), ` ${app.frames_per_s.toFixed(1)}`],
    perSecond(app.commands_per_s, count),
    perSecond(app.ring_bytes_per_s, size),
    waits(app.since),
    app.total === null ? "unknown" : count(app.total.lost_commands),
  ];
  const title = `record process ${app.pid}`;
  return { key: app.process, cells, act: "record", button: () => button("record", { "data-record": app.pid, title }, () => record(app.pid)) };
}

function captureRow({ capture, name, pids, pids_left_out: more, running_ns: ns, progress }) {
  const cells = [
    String(capture),
    name ?? "",
    pids.length === 0 ? "no process yet" : `${pids.join(", ")}${more > 0 ? ` and ${more} more` : ""}`,
    time(ns),
    progress.describing ? `${size(progress.blob_bytes)} of the program's state` : count(progress.frames),
    size(progress.file_bytes),
  ];
  return { key: capture, cells, act: "stop", button: () => button("stop", { "data-stop": capture }, () => send(`captures/${capture}/stop`)) };
}

function keptRow({ pid, name, is_running: isRunning, frames, bytes }) {
  const cells = [String(pid), name, isRunning ? "yes" : "has ended", count(frames), size(bytes)];
  const save = () => button("save", { "data-save": pid, disabled: frames === 0 }, () => send("kept", { pid }));
  return { key: pid, cells, act: frames === 0 ? "nothing" : "save", button: save };
}

// What a recording contains, or why not.
function contents({ ending, is_stopping: isStopping }) {
  if (ending === null) return isStopping ? "ends" : "runs";
  if (ending.error !== undefined) return make("span", { class: "error" }, ending.error);
  const { summary, error } = ending.answer;
  const sums = summary === null ? "" : `${count(summary.frames)} frames, ${count(summary.commands)} commands, ${size(summary.file_bytes)}`;
  return [sums, error ? make("span", { class: "error" }, ` ${error.message}`) : null];
}

function traceRow(recording) {
  const { number, what, of, ending, is_stopping: isStopping } = recording;
  const file = ending?.answer?.output ?? null;
  const cells = [String(number), what, of, file ?? "", contents(recording)];
  const stop = () => button("stop", { "data-end": number }, () => send(`recordings/${number}/stop`));
  const open = () => make("a", { href: `traces/${number}/`, target: "_blank", "data-open": number }, "open");
  if (file !== null) return { key: number, cells, act: "open", button: open };
  // Kept frames end by themselves.
  if (ending === null && !isStopping && what === "capture") return { key: number, cells, act: "stop", button: stop };
  return { key: number, cells, act: "nothing", button: () => "" };
}

async function showTraces() {
  traces.show((await ask("recordings")).toReversed().map(traceRow));
}

function show({ apps, captures: running, kept, outdated }) {
  trouble(outdated);
  remember(apps);
  element("record-all").disabled = apps.length === 0;
  programs.show(apps.map(programRow));
  captures.show(running.filter((capture) => !capture.keeps).map(captureRow));
  keptFrames.show(kept.map(keptRow));
  showTraces().catch((error) => trouble(error.message));
  document.body.dataset.ready = "";
}

// Follows the daemon; when it is gone, waits for the next one.
async function follow() {
  for (;;) {
    try {
      await lines("watch", show);
      trouble("the daemon has ended");
    } catch (error) {
      trouble(error.message);
    }
    document.body.dataset.ready = "";
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

async function begin() {
  const { folder } = await ask("subject");
  fill(element("head"), make("strong", {}, "gapii"), make("span", { id: "folder" }, `traces are written to ${folder}`));
  await follow();
}

begin();
