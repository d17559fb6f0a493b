// The page of a daemon: programs with their rates, running captures, kept frames, and the traces that were recorded here.

import { ask, lines, order } from "./ask.js";
import { fill, make, table } from "./element.js";
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

// The options of a capture; they stay while the tables below change.
class Wishes {
  constructor(form) {
    const number = (name, title, value) =>
      make("label", {}, `${title} `, make("input", { name, type: "number", min: 0, step: "any", value, placeholder: "no limit" }));
    this.form = form;
    fill(
      form,
      number("frames", "frames", 100),
      number("seconds", "seconds", null),
      make("label", {}, make("input", { name: "timing", type: "checkbox" }), " time of each command"),
      make("button", { type: "button", id: "record-all", onclick: () => record(null) }, "record all"),
    );
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  values() {
    const number = (name) => (this.form.elements[name].value === "" ? undefined : Number(this.form.elements[name].value));
    return { frames: number("frames"), seconds: number("seconds"), timing: this.form.elements.timing.checked };
  }
}

const wishes = new Wishes(element("wishes"));

// Orders something, and shows what has come of it.
async function does(path, values) {
  try {
    await order(path, values);
    refusal(null);
    await showTraces();
  } catch (error) {
    refusal(error.message);
  }
}

function record(pid) {
  return does("recordings", { ...wishes.values(), pid: pid ?? undefined });
}

function button(text, properties, act) {
  return make("button", { type: "button", ...properties, onclick: act }, text);
}

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

function showPrograms(apps) {
  element("record-all").disabled = apps.length === 0;
  if (apps.length === 0) {
    fill(element("programs"), make("p", {}, "none; start one with ", make("code", {}, "gapii-ctl run --idle -- PROGRAM")));
    return;
  }
  const rows = apps.map((app) => [
    make("span", { "data-pid": app.pid }, String(app.pid)),
    app.name,
    app.apis.join(", "),
    app.mode,
    [sparkline(rates.get(app.process)), ` ${app.frames_per_s.toFixed(1)}`],
    perSecond(app.commands_per_s, count),
    perSecond(app.ring_bytes_per_s, size),
    app.since === null ? "unknown" : app.since.waits === 0 ? "0" : `${count(app.since.waits)}, ${time(app.since.wait_ns)}`,
    app.total === null ? "unknown" : count(app.total.lost_commands),
    button("record", { "data-record": app.pid, title: `record process ${app.pid}` }, () => record(app.pid)),
  ]);
  const heads = ["process", "name", "APIs", "mode", "frames/s", "commands/s", "in rings/s", "waits", "lost commands", ""];
  keepingFocus(element("programs"), table(heads, rows));
}

function showCaptures(captures) {
  const shown = captures.filter((capture) => !capture.keeps);
  if (shown.length === 0) {
    fill(element("captures"), make("p", {}, "none"));
    return;
  }
  const rows = shown.map(({ capture, name, pids, pids_left_out: more, running_ns: ns, progress }) => [
    String(capture),
    name ?? "",
    pids.length === 0 ? "no process yet" : `${pids.join(", ")}${more > 0 ? ` and ${more} more` : ""}`,
    time(ns),
    progress.describing ? `${size(progress.blob_bytes)} of the program's state` : count(progress.frames),
    size(progress.file_bytes),
    button("stop", { "data-stop": capture }, () => does(`captures/${capture}/stop`)),
  ]);
  keepingFocus(element("captures"), table(["capture", "name", "processes", "time", "frames", "file", ""], rows));
}

function showKept(kept) {
  if (kept.length === 0) {
    fill(element("kept"), make("p", {}, "none; keep the last frames of a program with ", make("code", {}, "gapii-ctl run --keep-frames N -- PROGRAM")));
    return;
  }
  const rows = kept.map((program) => [
    String(program.pid),
    program.name,
    program.is_running ? "yes" : "has ended",
    count(program.frames),
    size(program.bytes),
    button("save", { "data-save": program.pid, disabled: program.frames === 0 }, () => does("kept", { pid: program.pid })),
  ]);
  keepingFocus(element("kept"), table(["process", "name", "runs", "frames", "memory", ""], rows));
}

// Replaces the table in an element. A button that has the focus keeps it.
function keepingFocus(host, content) {
  const focused = host.contains(document.activeElement) ? document.activeElement.dataset : null;
  fill(host, content);
  for (const [name, value] of Object.entries(focused ?? {})) host.querySelector(`button[data-${name}="${value}"]`)?.focus();
}

// What a recording has become: a link to its trace, and a sentence about it.
function outcome({ number, ending }) {
  if (ending === null) return ["", "runs", button("stop", { "data-end": number }, () => does(`recordings/${number}/stop`))];
  if (ending.error !== undefined) return ["", make("span", { class: "error" }, ending.error), ""];
  const { output, summary, error } = ending.answer;
  const sums = summary === null ? "" : `${count(summary.frames)} frames, ${count(summary.commands)} commands, ${size(summary.file_bytes)}`;
  const problem = error === null || error === undefined ? null : make("span", { class: "error" }, ` ${error.message}`);
  const open = make("a", { href: `traces/${number}/`, target: "_blank", "data-open": number }, "open");
  return [output ?? "", [sums, problem], output === null ? "" : open];
}

function traceRow(recording) {
  const [file, what, act] = outcome(recording);
  return [String(recording.number), recording.what, recording.of, file, what, act];
}

async function showTraces() {
  const recordings = await ask("recordings");
  if (recordings.length === 0) {
    fill(element("traces"), make("p", {}, "none yet; those that are recorded here are listed, with a link to their viewers"));
    return;
  }
  const rows = recordings.toReversed().map(traceRow);
  keepingFocus(element("traces"), table(["", "of", "program", "file", "", ""], rows, { id: "recorded" }));
}

function show({ apps, captures, kept, outdated }) {
  trouble(outdated);
  remember(apps);
  showPrograms(apps);
  showCaptures(captures);
  showKept(kept);
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
