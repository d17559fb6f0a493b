// Shows a picture: channels, range of values, zoom, and the values under the pointer.

import { make } from "./element.js";

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

// Returns the picture of what differs between two, and how many pixels that are. Values are absolute differences.
export function difference(before, after) {
  const areAlike = before.channels === after.channels;
  const [one, other] = areAlike ? [before, after] : [withAlpha(before), withAlpha(after)];
  if (one.max !== other.max || one.width !== other.width || one.height !== other.height || one.channels !== other.channels) {
    throw new Error("the pictures have different sizes or formats");
  }
  let pixels = 0;
  const data = one.data.map((value, at) => Math.abs(value - other.data[at]));
  for (let at = 0; at < data.length; at += one.channels) {
    if (data.subarray(at, at + one.channels).some((value) => value !== 0)) pixels += 1;
  }
  return { picture: { ...one, data, isDifference: true }, pixels };
}

// The enlargement that was chosen last, which the next picture has, too.
let lastZoom = 1;

// Returns an element that shows a decoded picture. A click on a pixel calls `pick` with its column and row, from the lower left
// corner. `mark` is shown in it.
export function stage(picture, pick = null, mark = null) {
  const { width, height, channels, max, data } = picture;
  const names = NAMES[channels];
  const canvas = make("canvas", { width, height, "data-width": width, "data-height": height });
  const values = make("output", { class: "values" }, `${width} × ${height}`);
  const boxes = names.map((name) => make("input", { type: "checkbox", checked: name !== "alpha", onchange: draw }));
  const bound = (label, value) => make("input", { type: "number", step: "any", value, "aria-label": label, oninput: draw });
  const [low, high] = [bound("black at", 0), bound("white at", max)];
  const zoom = make("select", { "aria-label": "zoom", onchange: scale }, [0.5, 1, 2, 4, 8].map((by) => make("option", { value: by, selected: by === lastZoom }, `${by * 100} %`)));
  const stretch = make("button", { type: "button", onclick: fit }, "fit range");

  function scale() {
    lastZoom = Number(zoom.value);
    canvas.style.width = `${width * lastZoom}px`;
    mark?.over({ width, height, scale: lastZoom });
  }

  function fit() {
    let [least, most] = [max, 0];
    data.forEach((value, at) => {
      if (!boxes[at % channels].checked) return;
      least = Math.min(least, value);
      most = Math.max(most, value);
    });
    [low.value, high.value] = [least, Math.max(most, least + 1)];
    draw();
  }

  function draw() {
    const image = new ImageData(width, height);
    const [least, most] = [Number(low.value), Number(high.value)];
    const shown = names.map((_, at) => at).filter((at) => boxes[at].checked);
    const level = (value) => ((value - least) / (most - least)) * 255;
    // One channel alone is grey; alpha beside others makes transparent.
    const isGrey = shown.length === 1 || channels < 3;
    for (let pixel = 0; pixel < width * height; pixel += 1) {
      const from = pixel * channels;
      const to = pixel * 4;
      for (let at = 0; at < 3; at += 1) {
        const channel = isGrey ? (shown[0] ?? 0) : at;
        image.data[to + at] = boxes[channel].checked ? level(data[from + channel]) : 0;
      }
      const alpha = channels - 1;
      const isTransparent = !isGrey && channels === 4 && boxes[alpha].checked;
      image.data[to + 3] = isTransparent ? level(data[from + alpha]) : 255;
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
  }

  // The pixel under the pointer: its column and row, from the upper left corner; null outside.
  function pixelAt(event) {
    const box = canvas.getBoundingClientRect();
    const x = Math.floor(((event.clientX - box.left) / box.width) * width);
    const y = Math.floor(((event.clientY - box.top) / box.height) * height);
    return x < 0 || y < 0 || x >= width || y >= height ? null : { x, y };
  }

  canvas.addEventListener("click", (event) => {
    const pixel = pixelAt(event);
    // OpenGL counts rows from the bottom.
    if (pixel !== null) pick?.(pixel.x, height - 1 - pixel.y);
  });
  canvas.addEventListener("pointermove", (event) => {
    const pixel = pixelAt(event);
    if (pixel === null) return;
    const { x, y } = pixel;
    const from = (y * width + x) * channels;
    const text = names.map((name, at) => {
      const value = data[from + at];
      return `${name} ${value} (${(value / max).toFixed(max > 255 ? 6 : 3)})`;
    });
    values.textContent = `x ${x}, y ${height - 1 - y}: ${text.join(", ")}`;
  });
  const controls = make("div", { class: "controls" }, names.map((name, at) => make("label", {}, boxes[at], ` ${name}`)), make("label", {}, "from ", low), make("label", {}, "to ", high), stretch, zoom);
  scale();
  draw();
  if (picture.isDifference) fit();
  const marked = make("div", { class: "marked" }, canvas, mark?.element);
  return make("div", { class: "picture" }, controls, make("div", { class: "stage" }, marked), values);
}
