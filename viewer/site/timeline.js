// The timeline: a bar for each frame, with the numbers of frames below, and the tracks of the threads. The wheel zooms, dragging
// moves, a click selects the command that ended the frame, or what a track has there.

import { lasting } from "./ask.js";
import { AXIS, drawAxis } from "./axis.js";
import { fill, make } from "./element.js";
import { go, onPlace } from "./place.js";
import { count, counted, size, time } from "./text.js";
import { Tracks } from "./tracks.js";

const HEIGHT = 96;
const TOP = 6;

// What the height of a bar shows. `of` returns it; null or undefined where it is not known. A measure that needs the statistics of
// the trace reads them once. `without` says why a trace has none, which is known from the frames alone unless it needs statistics.
const MEASURES = {
  duration: { title: "time", text: time, of: (frame) => frame.duration_ns, without: "no frame has a time: two ends of frames with a time make one" },
  commands: { title: "commands", text: count, of: (frame) => frame.commands },
  uploads: { title: "uploads", text: size, of: (frame) => frame.uploaded_bytes, needs: "statistics" },
  draws: { title: "draws", text: count, of: (frame) => frame.draws, needs: "statistics" },
  driver: { title: "time in the driver", text: time, of: (frame) => frame.driver_ns, needs: "statistics", without: "the trace has no times in the driver: record it with `gapii-ctl run --timing`" },
  gpu: { title: "time on the GPU", text: time, of: (frame) => frame.gpu_ns, without: "the trace has no times on the GPU: record it with `gapii-ctl run --gpu-timing`" },
};

function isKnown(value) {
  return typeof value === "number";
}

export class Timeline {
  #first = 0;
  #shown;
  #order;
  #measure;
  #selected = -1;
  #most = 1;
  // By the place of a frame in the trace: its place in the order that is shown.
  #places = [];
  #hasProcesses;

  constructor(host, trace) {
    this.frames = trace.frames.map((frame) => ({ ...frame }));
    this.#hasProcesses = this.frames.some((frame) => frame.process !== this.frames[0].process);
    this.#order = this.frames;
    this.#shown = Math.max(1, this.frames.length);
    this.#measure = this.#has("duration") ? "duration" : "commands";
    this.canvas = make("canvas", { height: HEIGHT + AXIS, tabindex: 0, role: "img" });
    this.label = make("output", {});
    const choices = Object.entries(MEASURES).map(([name, { title }]) => make("option", { value: name, selected: name === this.#measure }, title));
    this.choices = new Map(choices.map((choice) => [choice.value, choice]));
    for (const [name, { needs }] of Object.entries(MEASURES)) if (!needs && !this.#has(name)) this.#disable(name);
    this.#disableDriver(trace);
    const measure = make("select", { id: "measure", "aria-label": "Height of the bars", onchange: () => this.#choose(measure.value) }, choices);
    const sorted = make("input", { type: "checkbox", id: "longest-first", onchange: () => this.#sort(sorted.checked) });
    this.tracks = new Tracks(trace, (text) => (text === null ? this.#tell(this.#order[this.#selected]) : (this.label.textContent = text)));
    const tracks = make("label", {}, this.tracks.choice, " threads");
    const controls = make("div", { class: "controls" }, measure, make("label", {}, sorted, " largest first"), tracks, this.label);
    fill(host, controls, this.canvas, this.tracks.element);
    for (const canvas of [this.canvas, this.tracks.canvas]) canvas.addEventListener("wheel", (event) => this.#zoom(event), { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => this.#press(event, () => this.#choosePointed(event)));
    this.tracks.canvas.addEventListener("pointerdown", (event) => this.#press(event, () => this.tracks.select(event) || this.#choosePointed(event)));
    this.canvas.addEventListener("pointermove", (event) => {
      this.#tell(this.#frameAt(event));
      this.canvas.title = this.label.textContent;
    });
    this.canvas.addEventListener("pointerleave", () => this.#tell(this.#order[this.#selected]));
    this.canvas.addEventListener("keydown", (event) => this.#step(event));
    new ResizeObserver(() => this.#draw()).observe(host);
    this.#choose(this.#measure);
    onPlace((place) => this.#select(place.at));
  }

  // Whether a frame has a value of this measure. A trace without frames has all.
  #has(name) {
    const { of } = MEASURES[name];
    return this.frames.length === 0 ? name !== "duration" : this.frames.some((frame) => isKnown(of(frame)));
  }

  // Says in the choice of a measure that the trace has no value of it, and why.
  #disable(name) {
    const choice = this.choices.get(name);
    choice.disabled = true;
    choice.title = MEASURES[name].without;
  }

  // A command that ends a frame has its time in the driver if the trace has such times.
  async #disableDriver({ frames }) {
    if (frames.length === 0) return;
    const end = await lasting.command(frames.at(-1).seq).catch(() => null);
    if (end !== null && end.driver_ns === undefined) this.#disable("driver");
  }

  async #choose(name) {
    const measure = MEASURES[name];
    this.wanted = name;
    if (measure.needs) {
      this.label.textContent = "reading the trace …";
      try {
        const byFrame = new Map();
        for (const frame of (await lasting.of(measure.needs)).frames) byFrame.set(`${frame.process} ${frame.frame}`, frame);
        for (const frame of this.frames) {
          const { draws, uploaded_bytes, driver_ns } = byFrame.get(`${frame.process} ${frame.frame}`) ?? {};
          Object.assign(frame, { draws, uploaded_bytes, driver_ns });
        }
      } catch (error) {
        this.label.textContent = error.message;
        return;
      }
    }
    if (this.wanted !== name) return;
    this.#measure = name;
    this.#most = this.frames.reduce((most, frame) => Math.max(most, measure.of(frame) ?? 0), 1);
    this.#sort(this.#order !== this.frames);
    this.#tell(this.#order[this.#selected]);
  }

  #sort(isSorted) {
    const selected = this.#order[this.#selected];
    const { of } = MEASURES[this.#measure];
    this.#order = isSorted ? this.frames.toSorted((one, other) => (of(other) ?? -1) - (of(one) ?? -1)) : this.frames;
    this.#selected = this.#order.indexOf(selected);
    const places = new Map(this.#order.map((frame, at) => [frame, at]));
    this.#places = this.frames.map((frame) => places.get(frame));
    if (isSorted) this.#first = 0;
    this.#draw();
  }

  // The frame that a command belongs to is the first one that ends at it or behind it.
  #select(at) {
    const frame = at === null ? undefined : this.frames.find((it) => it.seq >= at);
    this.#selected = frame === undefined ? -1 : this.#order.indexOf(frame);
    this.#tell(frame);
    this.#draw();
  }

  #tell(frame) {
    const { title, text, of, without } = MEASURES[this.#measure];
    if (this.frames.length === 0) this.label.textContent = "no command ended a frame";
    else if (!this.#has(this.#measure)) this.label.textContent = without ?? `no frame has ${title}`;
    else if (frame === undefined) this.label.textContent = `${counted(this.frames.length, "frames")}, at most ${text(this.#most)} (${title})`;
    else {
      const process = frame.process === 0 ? "" : ` of process ${frame.process}`;
      const value = of(frame);
      this.label.textContent = `frame ${frame.frame}${process}: ${isKnown(value) ? text(value) : `${title} unknown`}, ${counted(frame.commands, "commands")}`;
    }
  }

  #frameAt(event) {
    const part = (event.clientX - this.canvas.getBoundingClientRect().left) / this.canvas.clientWidth;
    return this.#order[Math.floor(this.#first + part * this.#shown)];
  }

  #zoom(event) {
    event.preventDefault();
    const part = (event.clientX - this.canvas.getBoundingClientRect().left) / this.canvas.clientWidth;
    const under = this.#first + part * this.#shown;
    this.#shown = Math.min(this.frames.length, Math.max(10, this.#shown * (event.deltaY > 0 ? 1.25 : 0.8)));
    this.#move(under - part * this.#shown);
  }

  #move(first) {
    this.#first = Math.max(0, Math.min(first, this.frames.length - this.#shown));
    this.#draw();
  }

  #choosePointed(event) {
    const frame = this.#frameAt(event);
    if (frame !== undefined) go({ at: frame.seq });
  }

  // Follows the pointer while it is pressed. `click` is called if it has not moved.
  #press(event, click) {
    const { clientX } = event;
    const first = this.#first;
    let hasMoved = false;
    const drag = (move) => {
      hasMoved ||= Math.abs(move.clientX - clientX) > 3;
      if (hasMoved) this.#move(first - ((move.clientX - clientX) / this.canvas.clientWidth) * this.#shown);
    };
    const release = () => {
      removeEventListener("pointermove", drag);
      if (!hasMoved) click();
    };
    addEventListener("pointermove", drag);
    addEventListener("pointerup", release, { once: true });
  }

  #step(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const frame = this.#order[this.#selected + by];
    if (by === undefined || frame === undefined) return;
    event.preventDefault();
    go({ at: frame.seq });
  }

  #draw() {
    const { canvas } = this;
    const width = canvas.clientWidth || canvas.parentElement.clientWidth;
    const scale = devicePixelRatio;
    [canvas.width, canvas.height] = [width * scale, (HEIGHT + AXIS) * scale];
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    const style = getComputedStyle(canvas);
    const { of } = MEASURES[this.#measure];
    const barWidth = width / this.#shown;
    const last = Math.min(this.#order.length, Math.ceil(this.#first + this.#shown));
    // Where several frames share a pixel, the largest one is seen.
    for (let at = Math.floor(this.#first); at < last; at += 1) {
      const value = of(this.#order[at]);
      if (!isKnown(value)) continue;
      const height = Math.max(1, (value / this.#most) * (HEIGHT - TOP));
      context.fillStyle = style.getPropertyValue(at === this.#selected ? "--chosen" : "--bar");
      const left = (at - this.#first) * barWidth;
      context.fillRect(left, HEIGHT - height, Math.max(1, barWidth - (barWidth > 3 ? 1 : 0)), height);
    }
    if (this.#selected >= 0) {
      context.fillStyle = style.getPropertyValue("--chosen");
      context.fillRect((this.#selected - this.#first) * barWidth, 0, Math.max(1, barWidth), 3);
    }
    const isInOrder = this.#order === this.frames && !this.#hasProcesses;
    const view = { first: this.#first, shown: this.#shown, order: this.#order, isInOrder, hasProcesses: this.#hasProcesses };
    const axis = { top: HEIGHT, width, colour: style.getPropertyValue("--faint"), line: style.getPropertyValue("--line") };
    canvas.dataset.axis = drawAxis(context, view, axis).join(" ");
    this.tracks.draw({ first: this.#first, shown: this.#shown, order: this.#order, frames: this.frames, places: this.#places });
    canvas.dataset.frames = this.#order.length;
    canvas.setAttribute("aria-label", `${this.#order.length} frames`);
  }
}
