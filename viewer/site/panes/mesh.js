// What the selected draw takes from its vertex buffers, as a wireframe that turns.

import { answers, bytes } from "../ask.js";
import { fill, make, table, whenReady } from "../element.js";
import { SECTIONS, arraysOf, attributesOf, offsetOf } from "../layout.js";
import { ownerOf } from "../owner.js";
import { go } from "../place.js";
import { contextOf, nameOf, stateAt } from "../state.js";
import { read, structOf } from "../struct.js";
import { count, valueText } from "../text.js";

export const title = "mesh";
export const key = (place) => [place.at, place.attribute];

const SIZE = 480;
const VERTICES_MAX = 1_000_000;
const ROWS_MAX = 200;

const INDICES = { GL_UNSIGNED_BYTE: Uint8Array, GL_UNSIGNED_SHORT: Uint16Array, GL_UNSIGNED_INT: Uint32Array };

async function bufferOf(at, files, reference) {
  const file = files.find(({ name }) => name === `buffer-${nameOf(reference)}.bin`);
  if (file === undefined) throw new Error(`the contents of buffer ${nameOf(reference)} are not known`);
  return bytes(`objects/${at}/${file.name}`);
}

// Returns the numbers of the vertices that a draw takes, in order.
async function vertices(at, draw, arrays, files) {
  const { args } = draw;
  const most = Math.min(args.count ?? 0, VERTICES_MAX);
  const base = args.basevertex ?? 0;
  if (args.type === undefined) return Array.from({ length: most }, (_, index) => (args.first ?? 0) + index);
  if (!arrays.element_buffer) throw new Error("the indices of this draw are in the program's memory, not in a buffer");
  const type = INDICES[args.type];
  const start = offsetOf(args.indices);
  const buffer = await bufferOf(at, files, arrays.element_buffer);
  const own = buffer.slice(start, start + most * type.BYTES_PER_ELEMENT);
  return Array.from(new type(own, 0, Math.floor(own.byteLength / type.BYTES_PER_ELEMENT)), (index) => index + base);
}

// Returns the lines of a draw as pairs of positions in its list of vertices (OpenGL ES 3.2, 10.1).
function edges(mode, length) {
  const pairs = [];
  const triangle = (one, two, three) => pairs.push([one, two], [two, three], [three, one]);
  for (let at = 0; at < length; at += 1) {
    if (mode === "GL_TRIANGLES" && at % 3 === 2) triangle(at - 2, at - 1, at);
    else if (mode === "GL_TRIANGLE_STRIP" && at >= 2) triangle(at - 2, at - 1, at);
    else if (mode === "GL_TRIANGLE_FAN" && at >= 2) triangle(0, at - 1, at);
    else if (mode === "GL_LINES" && at % 2 === 1) pairs.push([at - 1, at]);
    else if ((mode === "GL_LINE_STRIP" || mode === "GL_LINE_LOOP") && at >= 1) pairs.push([at - 1, at]);
  }
  if (mode === "GL_LINE_LOOP" && length > 1) pairs.push([length - 1, 0]);
  return pairs;
}

async function mesh(place) {
  const { at } = place;
  const draw = await answers.command(at);
  if (draw === null || !/^glDraw(Arrays|Elements|RangeElements)/.test(draw.name)) {
    throw new Error("select a draw: a command that begins with glDrawArrays, glDrawElements or glDrawRangeElements");
  }
  const owner = await ownerOf(draw);
  const [answer, { files }] = await Promise.all([stateAt(at, SECTIONS, owner), answers.of(`objects/${at}`)]);
  const context = contextOf(answer, owner);
  if (context === undefined) throw new Error("the context of this draw is not known");
  const arrays = arraysOf(answer, context);
  const attributes = attributesOf(arrays);
  const wanted = /^\d+$/.test(place.attribute ?? "") ? Number(place.attribute) : null;
  const attribute = attributes.find((it) => it.index === wanted) ?? attributes.find((it) => it.size >= 2) ?? attributes[0];
  if (attribute === undefined) throw new Error("this draw has no vertex attribute array");
  const { binding, word, start } = attribute;
  if (!binding.buffer) throw new Error(`attribute ${attribute.index} is in the program's memory, not in a buffer`);
  if (word === undefined) throw new Error(`attribute ${attribute.index} has the type ${attribute.kind}, which is not shown`);
  const [list, buffer] = await Promise.all([vertices(at, draw, arrays, files), bufferOf(at, files, binding.buffer)]);
  const struct = structOf(word);
  const field = struct.fields[0];
  const view = new DataView(buffer);
  const stride = binding.stride || struct.stride;
  const isInside = (vertex) => start + vertex * stride + struct.stride <= buffer.byteLength;
  const outside = list.filter((vertex) => !isInside(vertex)).length;
  const points = list.map((vertex) => (isInside(vertex) ? read(field, view, start + vertex * stride) : null));
  return { draw, attributes, attribute, list, points, outside };
}

// Draws the wireframe, turned by two angles, so that it fills the canvas.
function wireframe({ draw, points }) {
  const canvas = make("canvas", { width: SIZE, height: SIZE, tabindex: 0, role: "img", "aria-label": "Wireframe" });
  const known = points.filter((point) => point !== null && point.every(Number.isFinite));
  const bounds = [0, 1, 2].map((axis) => {
    const values = known.map((point) => point[axis] ?? 0);
    const [least, most] = values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
    return values.length === 0 ? [0, 1] : [least, most];
  });
  const middle = bounds.map(([least, most]) => (least + most) / 2);
  const radius = Math.max(1e-12, Math.hypot(...bounds.map(([least, most]) => (most - least) / 2)));
  const pairs = edges(draw.args.mode, points.length);
  const view = { turn: 0.5, tilt: 0.4, scale: 1 };
  const isFlat = bounds[2][0] === bounds[2][1];
  if (isFlat) [view.turn, view.tilt] = [0, 0];

  function place(point) {
    const [x, y, z] = [0, 1, 2].map((axis) => ((point[axis] ?? 0) - middle[axis]) / radius);
    const [turnedX, turnedZ] = [x * Math.cos(view.turn) + z * Math.sin(view.turn), z * Math.cos(view.turn) - x * Math.sin(view.turn)];
    const tiltedY = y * Math.cos(view.tilt) - turnedZ * Math.sin(view.tilt);
    const half = SIZE / 2;
    return [half + turnedX * half * 0.95 * view.scale, half - tiltedY * half * 0.95 * view.scale];
  }

  function paint() {
    const context = canvas.getContext("2d");
    const style = getComputedStyle(canvas);
    context.clearRect(0, 0, SIZE, SIZE);
    const placed = points.map((point) => (point === null ? null : place(point)));
    context.strokeStyle = style.getPropertyValue("--bar");
    context.fillStyle = style.getPropertyValue("--bar");
    context.lineWidth = 0.6;
    context.beginPath();
    for (const [one, other] of pairs) {
      if (placed[one] === null || placed[other] === null) continue;
      context.moveTo(...placed[one]);
      context.lineTo(...placed[other]);
    }
    context.stroke();
    if (pairs.length === 0) for (const at of placed) if (at !== null) context.fillRect(at[0] - 1, at[1] - 1, 2, 2);
  }

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    const turn = (move) => {
      view.turn += move.movementX / 100;
      view.tilt += move.movementY / 100;
      paint();
    };
    canvas.addEventListener("pointermove", turn);
    canvas.addEventListener("pointerup", () => canvas.removeEventListener("pointermove", turn), { once: true });
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    view.scale *= event.deltaY > 0 ? 0.9 : 1.1;
    paint();
  });
  // Colours are those of the page that the canvas is in.
  requestAnimationFrame(paint);
  canvas.dataset.edges = pairs.length;
  canvas.dataset.vertices = known.length;
  return canvas;
}

function shown(found) {
  const { draw, attributes, attribute, list, points, outside } = found;
  const select = make(
    "select",
    { id: "attribute", "aria-label": "Attribute", onchange: () => go({ attribute: select.value }, { replaces: true }) },
    attributes.map((it) => make("option", { value: it.index, selected: it === attribute }, `attribute ${it.index}: ${it.size} × ${it.kind}`)),
  );
  const rows = list.slice(0, ROWS_MAX).map((vertex, at) => [String(at), String(vertex), points[at] === null ? "outside of the buffer" : valueText(points[at])]);
  return [
    make("div", { class: "controls" }, select, make("output", {}, `${count(list.length)} vertices, ${draw.args.mode}`)),
    make("div", {}, wireframe(found)),
    outside === 0 ? null : make("p", { class: "error" }, `${count(outside)} vertices are outside of their buffer`),
    make("details", {}, make("summary", {}, "vertices"), table(["", "vertex", "value"], rows, { id: "vertices" })),
  ];
}

export function show(host, place) {
  if (place.at === null) {
    fill(host, make("p", {}, "Select a draw: the vertices that it takes are shown."));
    return;
  }
  whenReady(host, mesh(place), shown, "playing the trace");
}
