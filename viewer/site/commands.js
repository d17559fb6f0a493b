// The list of commands: a row for each frame, and in an open frame a row for each command, indented by debug groups. Millions
// of rows are a few elements: those in sight.

import { lines, query } from "./ask.js";
import { fill, make } from "./element.js";
import { address, go, onPlace, place } from "./place.js";
import { callLine, commandLink, count, counted, time } from "./text.js";

const ROW = 20;
// Browsers cannot scroll further than about 30 million pixels.
const HEIGHT_MAX = 8_000_000;
// Pixels that a step of a wheel reports, at least, and the rows by which it scrolls.
const WHEEL_STEP = 50;
const WHEEL_ROWS = 3 / 120;
// Commands that are asked for at once.
const PIECE = 200;
const PIECES_MAX = 100;
const FOUND_MAX = 10_000;
// Roles of the commands that begin and end debug groups.
const GROUPS = "group-begin,group-end";

// The time of a frame, if its end has one: the first frame of a process has no begin.
function durationNote(frame) {
  if (typeof frame?.time_ns !== "number" && typeof frame?.duration_ns !== "number") return null;
  return make("span", { class: "note" }, ` ${frame.duration_ns === null ? "time unknown" : time(frame.duration_ns)}`);
}

export class Commands {
  // Frames: commands from `first` to before `end`. What follows the last frame is one, too.
  #frames;
  #open = new Set();
  // By frame: groups as { first, end, label, depth }, once they are known.
  #groups = new Map();
  #closed = new Set();
  // Rows: { frame } alone, or { frame, first, end } for commands, or { frame, group } for a closed group.
  #runs = [];
  // Number of rows before each run, and at the end that of all.
  #starts = [0];
  #pieces = new Map();
  // By piece that is being read: what gives it up.
  #reading = new Map();
  // Pieces with rows in sight.
  #needed = new Set();
  #found = null;
  #search = null;
  #selected = null;
  // The row at the top, with a fraction: in a long list a pixel of scrolling stands for several rows.
  #top = 0;
  // Where this has put the scroll bar. It is elsewhere if somebody has moved it.
  #scrolledTo = 0;

  constructor(host, trace) {
    let first = trace.first_seq;
    this.#frames = trace.frames.map((frame) => {
      const own = { frame, first, end: frame.seq + 1 };
      first = frame.seq + 1;
      return own;
    });
    if (first < trace.end_seq || this.#frames.length === 0) {
      this.#frames.push({ frame: null, first, end: trace.end_seq });
    }
    this.list = make("div", { class: "rows", role: "tree", tabindex: 0, "aria-label": "Commands" });
    this.space = make("div", { class: "space" });
    this.scroller = make("div", { class: "scroller" }, this.space, this.list);
    fill(host, this.#controls(), this.scroller);
    this.scroller.addEventListener("scroll", () => this.#follow());
    this.scroller.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.list.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.#draw()).observe(this.scroller);
    if (this.#frames.length === 1) {
      this.#open.add(0);
      this.#readGroups(0);
    }
    this.#lay();
    onPlace((to) => this.#select(to.at));
  }

  #controls() {
    const field = (name, label, attributes = {}) =>
      make("input", { name, placeholder: label, "aria-label": label, value: place()[name] ?? "", ...attributes });
    this.form = make(
      "form",
      {
        class: "controls",
        role: "search",
        onsubmit: (event) => {
          event.preventDefault();
          this.#find();
        },
      },
      field("jump", "number", { size: 8, inputmode: "numeric", id: "jump" }),
      field("function", "function, glDraw*", { size: 14 }),
      field("thread", "thread", { size: 8 }),
      field("match", "text", { size: 12 }),
      make("button", {}, "find"),
      make("button", { type: "button", id: "clear", onclick: () => this.#clear() }, "clear"),
      (this.note = make("output", { id: "found" })),
    );
    return this.form;
  }

  async #find() {
    const { jump, function: names, thread, match } = Object.fromEntries(new FormData(this.form));
    if (/^\d+$/.test(jump)) {
      this.form.elements.jump.value = "";
      go({ at: jump });
      return;
    }
    if (!names && !thread && !match) return this.#clear();
    this.#search?.abort();
    const search = (this.#search = new AbortController());
    const found = (this.#found = []);
    const tell = (more) => {
      const most = found.length === FOUND_MAX ? "the first " : "";
      this.note.textContent = `${most}${count(found.length)} found${more}`;
      this.#lay();
    };
    tell(" …");
    let told = performance.now();
    try {
      const take = (command) => {
        found.push(command);
        if (performance.now() - told < 200) return;
        told = performance.now();
        tell(" …");
      };
      await lines(`commands${query({ function: names, thread, match, top: FOUND_MAX })}`, take, search.signal);
      tell("");
    } catch (error) {
      if (error.name !== "AbortError") this.note.textContent = error.message;
    }
  }

  #clear() {
    this.#search?.abort();
    this.#found = null;
    this.form.reset();
    for (const input of this.form.elements) if (input.name) input.value = "";
    this.note.textContent = "";
    this.#lay();
    this.#reveal(this.#selected);
  }

  // Lays out the rows. Where the reader has scrolled to counts, though its event may not have come yet.
  #lay() {
    this.#follow();
    this.#runs = [];
    this.#starts = [0];
    const add = (run, rows) => {
      this.#runs.push(run);
      this.#starts.push(this.#starts.at(-1) + rows);
    };
    if (this.#found !== null) add({ found: this.#found }, this.#found.length);
    else {
      this.#frames.forEach((own, frame) => {
        add({ frame }, 1);
        if (this.#open.has(frame)) this.#layFrame(own, frame, add);
      });
    }
    this.height = Math.min(HEIGHT_MAX, this.#rows * ROW);
    this.space.style.height = `${this.height}px`;
    this.#scroll(this.#top);
  }

  // Commands of a frame, without those in closed groups.
  #layFrame({ first, end }, frame, add) {
    let next = first;
    for (const group of this.#groups.get(frame) ?? []) {
      if (group.first < next || !this.#closed.has(group.first)) continue;
      if (group.first > next) add({ frame, first: next, end: group.first }, group.first - next);
      add({ frame, group }, 1);
      next = group.end;
    }
    if (end > next) add({ frame, first: next, end }, end - next);
  }

  get #rows() {
    return this.#starts.at(-1);
  }

  get #inSight() {
    return Math.ceil(this.scroller.clientHeight / ROW) + 1;
  }

  // Pixels of scrolling that stand for all rows but those in sight at the end.
  get #way() {
    return Math.max(1, this.height - this.scroller.clientHeight);
  }

  // Rows that do not fit, with a fraction.
  get #hidden() {
    return Math.max(0, this.#rows - this.scroller.clientHeight / ROW);
  }

  get #firstRow() {
    // At the end the last row is whole.
    return this.#top >= this.#hidden ? Math.ceil(this.#hidden) : Math.floor(this.#top);
  }

  // Scrolls to a row.
  #scroll(row) {
    this.#top = Math.min(this.#hidden, Math.max(0, row));
    this.scroller.scrollTop = this.#hidden === 0 ? 0 : (this.#top / this.#hidden) * this.#way;
    this.#scrolledTo = this.scroller.scrollTop;
    this.#draw();
  }

  // Follows the scroll bar.
  #follow() {
    const { scrollTop } = this.scroller;
    if (scrollTop === this.#scrolledTo) return;
    this.#scrolledTo = scrollTop;
    this.#top = (scrollTop / this.#way) * this.#hidden;
    this.#draw();
  }

  // Scrolls by as many rows in a list of any length.
  #wheel(event) {
    if (event.ctrlKey || event.deltaY === 0) return;
    event.preventDefault();
    this.#follow();
    const inRows = event.deltaMode === WheelEvent.DOM_DELTA_LINE;
    const isStep = Math.abs(event.deltaY) >= WHEEL_STEP;
    this.#scroll(this.#top + event.deltaY * (inRows ? 1 : isStep ? WHEEL_ROWS : 1 / ROW));
  }

  #runAt(row) {
    let [low, high] = [0, this.#runs.length];
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle] <= row) low = middle;
      else high = middle;
    }
    return [this.#runs[low], row - this.#starts[low]];
  }

  #draw() {
    const first = this.#firstRow;
    const last = Math.min(this.#rows, first + this.#inSight);
    const rows = [];
    this.#needed.clear();
    for (let row = first; row < last; row += 1) rows.push(this.#row(row));
    for (const [piece, reading] of this.#reading) {
      if (this.#needed.has(piece)) continue;
      this.#pieces.delete(piece);
      this.#reading.delete(piece);
      reading.abort();
    }
    const focused = this.list.contains(document.activeElement) && document.activeElement !== this.list;
    fill(this.list, rows);
    if (focused) this.list.focus();
  }

  #row(row) {
    const [run, at] = this.#runAt(row);
    if (run.found) return this.#commandRow(run.found[at], 0);
    if (run.group) return this.#groupRow(run);
    if (run.first === undefined) return this.#frameRow(run.frame);
    const seq = run.first + at;
    const command = this.#command(seq);
    const depth = 1 + (this.#groups.get(run.frame) ?? []).filter((it) => it.first < seq && seq < it.end - 1).length;
    if (command === undefined) {
      return make("div", { class: "row waiting", "data-seq": seq }, make("span", { class: "seq" }, String(seq)), "…");
    }
    return this.#commandRow(command, depth, (this.#groups.get(run.frame) ?? []).find((it) => it.first === seq));
  }

  #frameRow(frame) {
    const { frame: of, first, end } = this.#frames[frame];
    const isOpen = this.#open.has(frame);
    const hasFrames = this.#frames.length > 1 || of !== null;
    const name = of === null ? (hasFrames ? "behind the last frame" : "no frame ends") : `frame ${of.frame}${of.process === 0 ? "" : ` of process ${of.process}`}`;
    return make(
      "div",
      { class: "row frame", role: "treeitem", "aria-expanded": String(isOpen), "data-frame": frame, onclick: () => this.#toggleFrame(frame) },
      make("span", { class: "fold" }, isOpen ? "▾" : "▸"),
      `${name}: ${counted(end - first, "commands")}`,
      durationNote(of),
    );
  }

  #groupRow({ group }) {
    const row = make(
      "div",
      { class: "row group", role: "treeitem", "aria-expanded": "false", onclick: () => this.#toggleGroup(group) },
      make("span", { class: "fold" }, "▸"),
      `${group.label}: ${counted(group.end - group.first, "commands")}`,
    );
    row.style.paddingLeft = `${group.depth + 1}em`;
    return row;
  }

  #commandRow(command, depth, group) {
    const isSelected = command.seq === this.#selected;
    const row = make(
      "div",
      {
        class: `row command${command.setup ? " setup" : ""}`,
        role: "treeitem",
        "aria-selected": String(isSelected),
        "data-seq": command.seq,
        onclick: () => go({ at: command.seq }),
      },
      commandLink(command.seq),
      group ? make("span", { class: "fold", onclick: (event) => (event.stopPropagation(), this.#toggleGroup(group)) }, "▾") : null,
      callLine(command),
      command.driver_ns === undefined ? null : make("span", { class: "note" }, ` ${time(command.driver_ns)}`),
    );
    row.style.paddingLeft = `${depth}em`;
    return row;
  }

  async #toggleFrame(frame) {
    if (!this.#open.delete(frame)) {
      this.#open.add(frame);
      this.#readGroups(frame);
    }
    this.#lay();
  }

  #toggleGroup(group) {
    if (!this.#closed.delete(group.first)) this.#closed.add(group.first);
    this.#lay();
  }

  // Finds the debug groups of a frame. A group that does not end in the frame ends with it.
  async #readGroups(frame) {
    if (this.#groups.has(frame)) return;
    this.#groups.set(frame, []);
    const { first, end } = this.#frames[frame];
    const groups = [];
    const open = new Map();
    const take = (command) => {
      const own = open.get(command.tid) ?? [];
      open.set(command.tid, own);
      if (command.role === "group-begin") {
        const label = command.text ?? command.name;
        own.push({ first: command.seq, end, label, depth: own.length });
        groups.push(own.at(-1));
      } else if (own.length > 0) own.pop().end = command.seq + 1;
    };
    try {
      await lines(`commands${query({ from: first, to: end, role: GROUPS })}`, take);
    } catch {
      // Most frames have no group, which is refused. What is wrong with the trace, panes say.
    }
    this.#groups.set(frame, groups);
    if (groups.length > 0) this.#lay();
  }

  // Returns a command if it is known, and asks for it otherwise.
  #command(seq) {
    const piece = Math.floor(seq / PIECE);
    this.#needed.add(piece);
    const known = this.#pieces.get(piece);
    if (known !== undefined) return known.get(seq);
    const commands = new Map();
    this.#pieces.set(piece, commands);
    if (this.#pieces.size > PIECES_MAX) this.#pieces.delete(this.#pieces.keys().next().value);
    const range = { from: piece * PIECE, to: (piece + 1) * PIECE };
    const take = (command) => commands.set(command.seq, command);
    const reading = new AbortController();
    this.#reading.set(piece, reading);
    const done = () => {
      if (this.#reading.get(piece) === reading) this.#reading.delete(piece);
    };
    lines(`commands${query(range)}`, take, reading.signal).then(
      () => (done(), this.#draw()),
      () => (done(), this.#pieces.get(piece) === commands && this.#pieces.delete(piece)),
    );
    return undefined;
  }

  #select(at) {
    this.#selected = at;
    this.#reveal(at);
  }

  // Opens the frame of a command and scrolls to it, unless it is in sight.
  #reveal(at) {
    if (at === null || this.#found !== null) return this.#draw();
    const frame = this.#frames.findIndex((own) => at < own.end);
    if (frame < 0) return this.#draw();
    if (!this.#open.has(frame)) {
      this.#open.add(frame);
      this.#readGroups(frame);
      this.#lay();
    }
    const run = this.#runs.findIndex((it) => it.first <= at && at < it.end);
    if (run < 0) return this.#draw();
    const row = this.#starts[run] + at - this.#runs[run].first;
    const inSight = this.#inSight - 2;
    const isInSight = row >= this.#firstRow && row < this.#firstRow + inSight;
    if (isInSight) this.#draw();
    else this.#scroll(row - inSight / 2);
  }

  // Goes on by a number of commands among those that were found.
  #step(by) {
    const at = this.#found.findIndex((command) => command.seq >= this.#selected);
    const to = Math.min(this.#found.length - 1, Math.max(0, (at < 0 ? this.#found.length : at) + by));
    const command = this.#found[to];
    if (command === undefined) return;
    const inSight = this.#inSight - 2;
    if (to < this.#firstRow || to >= this.#firstRow + inSight) this.#scroll(to - inSight / 2);
    go({ at: command.seq }, { replaces: true });
  }

  #key(event) {
    const by = { ArrowUp: -1, ArrowDown: 1, PageUp: 1 - this.#inSight, PageDown: this.#inSight - 1 }[event.key];
    if (by === undefined || this.#selected === null) return;
    event.preventDefault();
    if (this.#found !== null) return this.#step(by);
    const last = this.#frames.at(-1).end - 1;
    const to = Math.min(last, Math.max(this.#frames[0].first, this.#selected + by));
    go({ at: to }, { replaces: true });
  }
}
