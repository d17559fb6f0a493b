// The tracks below the timeline: one for each thread, with a bar for each frame in which it called commands, and what happened to
// it: holds, waits, gaps, keyframes and marks of the program. The whole trace is read for them, so a long trace is asked for them
// when they are chosen.

import { lasting } from "./ask.js";
import { fill, make } from "./element.js";
import { go } from "./place.js";
import { count, time } from "./text.js";

const ROW = 18;
// Most threads that have a track: those with the most commands.
const ROWS_MAX = 64;
// A trace of up to so many commands has its tracks at once.
const COMMANDS_AT_ONCE = 1_000_000;
// How far from an event the pointer may be, in pixels.
const NEAR = 4;

const KINDS = {
  hold: { words: "held for a snapshot", colour: "--hold" },
  wait: { words: "waited for room", colour: "--wait" },
  gap: { words: "commands are missing", colour: "--gap" },
  keyframe: { words: "keyframe", colour: "--keyframe" },
  no_daemon: { words: "no daemon recorded", colour: "--gap" },
  mark: { words: "mark", colour: "--mark" },
  group: { words: "group", colour: "--mark" },
};

// Returns an event as a sentence.
export function sentence(event) {
  const kind = KINDS[event.kind]?.words ?? event.kind;
  const lasted = event.duration_ns === undefined || event.duration_ns === null ? "" : ` for ${time(event.duration_ns)}`;
  const commands = event.commands === undefined ? "" : `, ${count(event.commands)} commands`;
  return `${kind}${lasted}${event.text ? `: ${event.text}` : ""}${commands}`;
}

export class Tracks {
  // The first threads by commands, each with its cells by frame.
  #threads = [];
  #events = [];
  #framesPerCell = 1;
  // What was drawn last: events with their places in pixels.
  #drawn = [];
  #view = null;
  #ends;

  // `tell` shows a text; with null the timeline shows its own.
  constructor(trace, tell) {
    this.tell = tell;
    this.end = trace.end_seq;
    // In the order of their numbers.
    this.#ends = trace.frames.map((frame) => frame.seq);
    this.canvas = make("canvas", { role: "img", height: 0 });
    this.message = make("output", {});
    this.element = make("div", { id: "tracks", hidden: true }, this.canvas, this.message);
    const isChosen = trace.info.commands <= COMMANDS_AT_ONCE;
    this.choice = make("input", { type: "checkbox", id: "show-tracks", checked: isChosen, onchange: () => this.#choose() });
    this.canvas.addEventListener("pointermove", (event) => this.#point(event));
    this.canvas.addEventListener("pointerleave", () => this.tell(null));
    if (isChosen) this.#choose();
  }

  async #choose() {
    this.element.hidden = !this.choice.checked;
    if (!this.choice.checked || this.#threads.length > 0) return;
    fill(this.message, "reading the trace for its threads …");
    try {
      this.#take(await lasting.of("threads"));
      fill(this.message, this.#leftOut ?? "");
    } catch (error) {
      fill(this.message, error.message);
    }
    this.draw(this.#view);
  }

  #leftOut;

  #take(activity) {
    this.#framesPerCell = activity.frames_per_cell;
    const isTimed = activity.threads.some((thread) => thread.driver_ns !== null);
    this.amount = (cell) => (isTimed ? (cell.driver_ns ?? 0) : cell.commands);
    this.text = isTimed ? (ns) => `${time(ns)} in the driver` : (commands) => `${count(commands)} commands`;
    const shown = activity.threads.toSorted((one, other) => other.commands - one.commands).slice(0, ROWS_MAX);
    shown.sort((one, other) => one.thread - other.thread);
    this.#threads = shown.map((thread) => ({
      ...thread,
      cells: new Map(thread.cells.map((cell) => [cell.frame, cell])),
      most: thread.cells.reduce((most, cell) => Math.max(most, this.amount(cell)), 1),
    }));
    const rows = new Map(this.#threads.map((thread, row) => [thread.thread, row]));
    // Marks first: what happened to a thread is seen above them.
    this.#events = [...activity.marks, ...activity.events]
      .map((event) => ({ ...event, row: rows.get(event.thread) ?? null, frame: this.#frameOf(event.seq) }))
      .filter((event) => event.thread === null || event.row !== null);
    const left = [
      [activity.threads.length - shown.length, "threads"],
      [activity.events_left_out, "events"],
      [activity.marks_left_out, "marks"],
    ].filter(([number]) => number > 0);
    this.#leftOut = left.length === 0 ? null : `not shown: ${left.map(([number, what]) => `${count(number)} more ${what}`).join(", ")}`;
  }

  // Returns the first frame that ends at a command or behind it, as its place in the trace; that of the last one behind all frames.
  #frameOf(seq) {
    let [low, high] = [0, this.#ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#ends[middle] < (seq ?? this.end)) low = middle + 1;
      else high = middle;
    }
    return Math.min(low, this.#ends.length - 1);
  }

  // Draws what lies under the bars of the timeline: `shown` frames of `order` from `first` on. `places` has the place of each
  // frame in `order`, by its place in the trace.
  draw(view) {
    this.#view = view;
    if (view === null || this.element.hidden || this.#threads.length === 0) return;
    const { canvas } = this;
    const height = this.#threads.length * ROW;
    const width = canvas.clientWidth || canvas.parentElement.clientWidth;
    canvas.style.height = `${height}px`;
    [canvas.width, canvas.height] = [width * devicePixelRatio, height * devicePixelRatio];
    const context = canvas.getContext("2d");
    context.scale(devicePixelRatio, devicePixelRatio);
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(name);
    const barWidth = width / view.shown;
    const last = Math.min(view.order.length, Math.ceil(view.first + view.shown));
    for (const [row, thread] of this.#threads.entries()) {
      context.fillStyle = colour("--line");
      context.fillRect(0, (row + 1) * ROW - 1, width, 1);
      context.fillStyle = colour("--bar");
      for (let at = Math.floor(view.first); at < last; at += 1) {
        const cell = this.#cellOf(thread, view.order[at]);
        if (cell === undefined) continue;
        const part = Math.max(1, (this.amount(cell) / thread.most) * (ROW - 3));
        context.fillRect((at - view.first) * barWidth, (row + 1) * ROW - 1 - part, Math.max(1, barWidth - (barWidth > 3 ? 1 : 0)), part);
      }
      context.fillStyle = colour("--text");
      context.font = "10px sans-serif";
      context.fillText(`${thread.name || "thread"} ${thread.tid}`, 2, row * ROW + 11);
    }
    this.#drawEvents(context, view, barWidth, width, height, colour);
    canvas.dataset.threads = this.#threads.length;
    canvas.dataset.events = this.#events.length;
    canvas.setAttribute("aria-label", `${this.#threads.length} threads, ${this.#events.length} events`);
  }

  #drawEvents(context, view, barWidth, width, height, colour) {
    this.#drawn = [];
    for (const event of this.#events) {
      const frame = view.frames[event.frame];
      if (frame === undefined) continue;
      const within = (event.seq - (frame.seq + 1 - frame.commands)) / Math.max(1, frame.commands);
      const left = (view.places[event.frame] + Math.min(1, Math.max(0, within)) - view.first) * barWidth;
      if (left < -NEAR || left > width + NEAR) continue;
      const top = (event.row ?? 0) * ROW;
      const isMark = event.kind === "mark" || event.kind === "group";
      context.fillStyle = colour(KINDS[event.kind]?.colour ?? "--text");
      context.fillRect(left - 1, top, isMark ? 1 : 3, event.row === null ? height : isMark ? 4 : ROW - 1);
      this.#drawn.push({ event, left });
    }
  }

  #cellOf(thread, frame) {
    if (frame.process !== thread.process) return undefined;
    return thread.cells.get(frame.frame - (frame.frame % this.#framesPerCell));
  }

  // Returns the event under the pointer, the last one that was drawn, or otherwise the cell.
  #under({ offsetX, offsetY }) {
    const row = Math.floor(offsetY / ROW);
    const near = this.#drawn.filter(({ event, left }) => (event.row ?? row) === row && Math.abs(left - offsetX) <= NEAR);
    // Not those of the program, if others are there as well.
    if (near.length > 0) return { event: near.at(-1).event };
    const thread = this.#threads[row];
    const { first, shown, order } = this.#view;
    const frame = order[Math.floor(first + (offsetX / this.canvas.clientWidth) * shown)];
    const cell = thread && frame && this.#cellOf(thread, frame);
    return cell === undefined ? {} : { thread, frame, cell };
  }

  #point(pointer) {
    const { event, thread, frame, cell } = this.#under(pointer);
    let text = null;
    if (event !== undefined) text = sentence(event);
    else if (cell !== undefined) text = `${thread.name || "thread"} ${thread.tid} in frame ${frame.frame}: ${this.text(this.amount(cell))}`;
    this.canvas.title = text ?? "";
    this.tell(text);
  }

  // Selects the command of the event under the pointer, or the thread's first one in the frame. Returns false if nothing is there.
  select(pointer) {
    const { event, cell } = this.#under(pointer);
    const seq = event?.seq ?? cell?.seq;
    if (seq === undefined || seq === null) return false;
    go({ at: Math.min(seq, this.end - 1) });
    return true;
  }
}
