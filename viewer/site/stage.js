// Shows pictures: channels, range of values, zoom, and the values under the pointer. Several are beside each other, with one set of
// controls.

import { make } from "./element.js";
import { counted } from "./text.js";

const NAMES = { 1: ["value"], 2: ["value", "alpha"], 3: ["red", "green", "blue"], 4: ["red", "green", "blue", "alpha"] };

// Returns a picture with an alpha channel if it has none: the file of a picture that is opaque everywhere has none.
function withAlpha(picture) {
  const { channels, max, data } = picture;
  if (channels === 2 || channels === 4) return picture;
  const wide = channels + 1;
  const widened = new data.constructor((data.length / channels) * wide).fill(max);
  data.forEach((value, at) => (widened[Math.floor(at / channels) * wide + (at % channels)] = value));
  return { ...picture, channels: wide, data: widened };
}

// Returns two pictures with the same channels.
function alike(one, other) {
  const both = one.channels === other.channels ? [one, other] : [withAlpha(one), withAlpha(other)];
  if (["max", "width", "height", "channels"].some((name) => both[0][name] !== both[1][name])) {
    throw new Error("the pictures have different sizes or formats");
  }
  return both;
}

// Returns what differs between two pictures, as { picture, pixels, most }: the picture of the absolute differences, how many pixels
// differ, and the largest difference in a channel.
export function difference(before, after) {
  const [one, other] = alike(before, after);
  let [pixels, most] = [0, 0];
  const data = one.data.map((value, at) => Math.abs(value - other.data[at]));
  for (let at = 0; at < data.length; at += one.channels) {
    const largest = Math.max(...data.subarray(at, at + one.channels));
    if (largest !== 0) pixels += 1;
    most = Math.max(most, largest);
  }
  return { picture: { ...one, data, isDifference: true }, pixels, most };
}

// Returns the pixels of `after` that differ from those of `before`, as { picture, pixels }; the others are not drawn.
export function changed(before, after) {
  const { picture, pixels } = difference(before, after);
  const [own] = alike(after, before);
  const isChanged = Uint8Array.from({ length: own.width * own.height }, (_, pixel) => {
    const from = pixel * own.channels;
    return picture.data.subarray(from, from + own.channels).some((value) => value !== 0) ? 1 : 0;
  });
  return { picture: { ...own, isChanged }, pixels };
}

// The enlargement of a picture alone that was chosen last, which the next one has, too.
let lastZoom = 1;

// Returns the colour, each channel from 0 to 255, of a pixel whose channels differ by `values`: the largest difference among `shown`
// has full brightness. Where channels alone differ that have no colour, it is white.
function differenceColour(values, shown, channels) {
  if (values.every((value) => value === 0)) return [0, 0, 0];
  const colours = channels < 3 ? [0, 0, 0] : [0, 1, 2];
  const own = colours.map((channel) => (shown.includes(channel) ? values[channel] : 0));
  const most = Math.max(...own);
  if (most > 0) return own.map((value) => (value / most) * 255);
  return colours.some((channel) => values[channel] > 0) ? [0, 0, 0] : [255, 255, 255];
}

// A picture on a canvas, in a box that scrolls.
class View {
  constructor({ picture, name }, mark) {
    Object.assign(this, { picture, name });
    const { width, height } = picture;
    this.canvas = make("canvas", { width, height, "data-width": width, "data-height": height });
    this.marked = make("div", { class: "marked" }, this.canvas, mark?.element);
    this.box = make("div", { class: "stage" }, this.marked);
    this.values = make("output", { class: "values" }, `${width} × ${height}`);
  }

  // Draws the channels `shown`; values from `least` to `most` are black to white.
  draw(shown, least, most) {
    const { width, height, channels, data, isDifference, isChanged } = this.picture;
    const image = new ImageData(width, height);
    const level = (value) => ((value - least) / (most - least)) * 255;
    // One channel alone is grey; alpha beside others makes transparent.
    const isGrey = shown.length === 1 || channels < 3;
    const isTransparent = !isGrey && channels === 4 && shown.includes(3);
    for (let pixel = 0; pixel < width * height; pixel += 1) {
      const from = pixel * channels;
      const to = pixel * 4;
      image.data[to + 3] = 255;
      if (isDifference) {
        image.data.set(differenceColour(data.subarray(from, from + channels), shown, channels), to);
        continue;
      }
      for (let at = 0; at < 3; at += 1) {
        const channel = isGrey ? (shown[0] ?? 0) : at;
        image.data[to + at] = shown.includes(channel) ? level(data[from + channel]) : 0;
      }
      if (isTransparent) image.data[to + 3] = level(data[from + channels - 1]);
      if (isChanged?.[pixel] === 0) image.data[to + 3] = 0;
    }
    this.canvas.getContext("2d").putImageData(image, 0, 0);
  }

  // Enlarges the picture by `zoom`; with "fit" it is as wide as its box.
  scale(zoom) {
    this.canvas.style.width = zoom === "fit" ? "100%" : `${this.picture.width * zoom}px`;
    this.marked.style.width = zoom === "fit" ? "100%" : "";
  }

  // The pixel under the pointer: its column and row, from the upper left corner; null outside.
  pixelAt(event) {
    const { width, height } = this.picture;
    const box = this.canvas.getBoundingClientRect();
    const x = Math.floor(((event.clientX - box.left) / box.width) * width);
    const y = Math.floor(((event.clientY - box.top) / box.height) * height);
    return x < 0 || y < 0 || x >= width || y >= height ? null : { x, y };
  }

  // Shows the values of a pixel, if the picture has it.
  tell({ x, y }) {
    const { width, height, channels, max, data } = this.picture;
    if (x >= width || y >= height) return;
    const text = NAMES[channels].map((name, at) => {
      const value = data[(y * width + x) * channels + at];
      return `${name} ${value} (${(value / max).toFixed(max > 255 ? 6 : 3)})`;
    });
    this.values.textContent = `x ${x}, y ${height - 1 - y}: ${text.join(", ")}`;
  }
}

// Makes the controls of several views, and draws them. `zoomed` is called with each enlargement.
function controlsOf(views, zooms, zoomed) {
  const channels = Math.max(...views.map(({ picture }) => picture.channels));
  const max = Math.max(...views.map(({ picture }) => picture.max));
  const names = NAMES[channels];
  const boxes = names.map((name) => make("input", { type: "checkbox", checked: name !== "alpha", onchange: draw }));
  const bound = (label, value) => make("input", { type: "number", step: "any", value, "aria-label": label, oninput: draw });
  const [low, high] = [bound("black at", 0), bound("white at", max)];
  const text = (by) => (by === "fit" ? "fit width" : `${by * 100}\u00a0%`);
  const zoom = make("select", { "aria-label": "zoom", onchange: scale }, zooms.list.map((by) => make("option", { value: by, selected: by === zooms.chosen }, text(by))));
  const stretch = make("button", { type: "button", onclick: fit }, "fit range");

  function scale() {
    const by = zoom.value === "fit" ? "fit" : Number(zoom.value);
    for (const view of views) view.scale(by);
    zoomed(by);
  }

  function draw() {
    const shown = names.map((_, at) => at).filter((at) => boxes[at].checked);
    for (const view of views) view.draw(shown, Number(low.value), Number(high.value));
  }

  // The range of the values in all pictures that are not differences.
  function fit() {
    let [least, most] = [max, 0];
    for (const { picture } of views.filter((view) => !view.picture.isDifference)) {
      picture.data.forEach((value, at) => {
        if (!boxes[at % picture.channels].checked || picture.isChanged?.[Math.floor(at / picture.channels)] === 0) return;
        least = Math.min(least, value);
        most = Math.max(most, value);
      });
    }
    [low.value, high.value] = [least, Math.max(most, least + 1)];
    draw();
  }

  scale();
  draw();
  return make("div", { class: "controls" }, names.map((name, at) => make("label", {}, boxes[at], ` ${name}`)), make("label", {}, "from ", low), make("label", {}, "to ", high), stretch, zoom);
}

// Returns an element that shows a decoded picture. A click on a pixel calls `pick` with its column and row, from the lower left
// corner. `mark` is shown in it.
export function stage(picture, pick = null, mark = null) {
  const { width, height } = picture;
  const view = new View({ picture }, mark);
  view.canvas.addEventListener("click", (event) => {
    const pixel = view.pixelAt(event);
    // OpenGL counts rows from the bottom.
    if (pixel !== null) pick?.(pixel.x, height - 1 - pixel.y);
  });
  view.canvas.addEventListener("pointermove", (event) => {
    const pixel = view.pixelAt(event);
    if (pixel !== null) view.tell(pixel);
  });
  const controls = controlsOf([view], { list: [0.5, 1, 2, 4, 8], chosen: lastZoom }, (by) => {
    lastZoom = by;
    mark?.over({ width, height, scale: by });
  });
  return make("div", { class: "picture" }, controls, view.box, view.values);
}

// Returns an element with two pictures and their difference, each as wide as its column at first. They have one set of controls,
// are scrolled together, and show the values of the same pixel. `names` has a title for each of the two.
export function besides(one, other, names) {
  const [before, after] = alike(one, other);
  const { picture, pixels, most } = difference(before, after);
  const bright = `The pixels differ by ${most} of ${picture.max} at most. In the difference, each pixel that differs has full brightness.`;
  const titles = [...names, `difference: ${counted(pixels, "pixels")}`];
  const views = [before, after, picture].map((own, at) => new View({ picture: own, name: titles[at] }, null));
  for (const view of views) {
    view.canvas.addEventListener("pointermove", (event) => {
      const pixel = view.pixelAt(event);
      if (pixel !== null) views.forEach((it) => it.tell(pixel));
    });
    view.box.addEventListener("scroll", () => {
      for (const { box } of views) if (box !== view.box) [box.scrollLeft, box.scrollTop] = [view.box.scrollLeft, view.box.scrollTop];
    });
  }
  const controls = controlsOf(views, { list: ["fit", 0.5, 1, 2, 4, 8], chosen: "fit" }, () => {});
  const figures = views.map(({ name, box, values }) => make("figure", {}, make("figcaption", {}, name), box, values));
  return [make("div", { class: "picture" }, controls), make("div", { class: "figures" }, figures), pixels === 0 ? null : make("p", { class: "note", id: "brightness" }, bright)];
}
