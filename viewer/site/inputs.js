// What programs take: uniforms, the textures that samplers select, vertex attributes. With links to the commands that set them and
// to the objects.

import { answers, query } from "./ask.js";
import { make, table, whenReady } from "./element.js";
import { labelledLink } from "./labels.js";
import { arraysOf, attributesOf } from "./layout.js";
import { objectsOf } from "./state.js";
import { commandLink, valueText } from "./text.js";

// Sections of the state that have it.
export const SECTIONS = ["programs", "program", "pipeline", "pipelines", "texture_units", "vertex_array", "vertex_arrays", "default_arrays"];

// Targets of textures by the ends of the names of sampler types (GLSL ES 3.20, 4.1.7).
const TARGETS = {
  "2D": "GL_TEXTURE_2D",
  "2DShadow": "GL_TEXTURE_2D",
  "3D": "GL_TEXTURE_3D",
  "2DArray": "GL_TEXTURE_2D_ARRAY",
  "2DArrayShadow": "GL_TEXTURE_2D_ARRAY",
  Cube: "GL_TEXTURE_CUBE_MAP",
  CubeShadow: "GL_TEXTURE_CUBE_MAP",
  CubeArray: "GL_TEXTURE_CUBE_MAP_ARRAY",
  CubeArrayShadow: "GL_TEXTURE_CUBE_MAP_ARRAY",
  "2DMS": "GL_TEXTURE_2D_MULTISAMPLE",
  "2DMSArray": "GL_TEXTURE_2D_MULTISAMPLE_ARRAY",
  Buffer: "GL_TEXTURE_BUFFER",
  ExternalOES: "GL_TEXTURE_EXTERNAL_OES",
};

// Declarations of samplers: their layout, type and name.
const SAMPLER = /(layout\s*\([^)]*\)\s*)?\buniform\s+(?:(?:lowp|mediump|highp)\s+)?[iu]?sampler(\w+)\s+(\w+)/g;
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

// Returns a link to an object of an owner, with its label after the command `at`; text if the state has none.
export function objectLink(reference, owner, at, pane = "objects") {
  if (!reference?.name) return "none";
  return labelledLink(`${reference.kind} ${reference.name}`, owner, at, { pane });
}

// Returns the samplers that the sources of a program declare, by name: the target of their textures, and the unit that a layout
// gives them.
function samplersOf(program) {
  const found = new Map();
  for (const { source } of program.last_link?.stages ?? []) {
    for (const [, layout, type, name] of source.replace(COMMENT, " ").matchAll(SAMPLER)) {
      const unit = Number(/binding\s*=\s*(\d+)/.exec(layout ?? "")?.[1] ?? 0);
      found.set(name, { type: `sampler${type}`, target: TARGETS[type], unit });
    }
  }
  return found;
}

// Returns the type of a uniform as a shader names it, such as mat4 for GL_FLOAT_MAT4.
function typeText(kind) {
  const [, scalar, shape] = /^GL_(FLOAT|INT|UNSIGNED_INT|BOOL)(?:_(VEC\d|MAT\dx?\d?))?$/.exec(kind) ?? [];
  if (scalar === undefined) return valueText(kind);
  if (shape === undefined) return { FLOAT: "float", INT: "int", UNSIGNED_INT: "uint", BOOL: "bool" }[scalar];
  return `${{ FLOAT: "", INT: "i", UNSIGNED_INT: "u", BOOL: "b" }[scalar]}${shape.toLowerCase()}`;
}

// Digits of the values of a matrix; all are in its tooltip.
const DIGITS = 5;

// Values of a uniform in rows of its type: a matrix has a row for each of its columns.
function values({ kind, floats, integers, count }) {
  const all = floats.length > 0 ? floats : integers;
  const columns = /MAT(\d)/.exec(kind)?.[1];
  if (columns === undefined || count !== 1) return valueText(all.length === 1 ? all[0] : all);
  const rows = all.length / columns;
  const column = (at) => all.slice(at * rows, (at + 1) * rows);
  const short = (value) => (typeof value === "number" ? Number(value.toPrecision(DIGITS)) : value);
  return make("span", { class: "matrix" }, Array.from({ length: Number(columns) }, (_, at) => make("div", { title: valueText(column(at)) }, valueText(column(at).map(short)))));
}

// The textures that are bound at texture units for a sampler.
function textures(units, { target }, { context, owner, at: seq }) {
  return units.map((unit, at) => {
    const bindings = context?.state.texture_units?.[unit]?.bindings ?? {};
    const texture = target === undefined ? Object.values(bindings)[0] : bindings[target];
    return [at === 0 ? "" : ", ", `unit ${unit}: `, context === undefined ? "no context" : objectLink(texture, owner, seq)];
  });
}

// The rows of a program's uniforms: { location, cells }. Samplers that nobody has set select the unit of their layout, or unit 0.
function rowsOf(program, used) {
  const samplers = samplersOf(program);
  const rows = Object.entries(program.uniforms).map(([location, uniform]) => {
    const name = program.uniform_names[location] ?? "";
    const sampler = samplers.get(name.replace(/\[.*$/, ""));
    samplers.delete(name);
    if (sampler === undefined) return { location, cells: [name, typeText(uniform.kind), values(uniform)] };
    return { location, cells: [name, sampler.type, make("span", {}, textures(uniform.integers, sampler, used))] };
  });
  const unset = [...samplers].map(([name, sampler]) => ({ location: null, cells: [name, sampler.type, make("span", {}, textures([sampler.unit], sampler, used))] }));
  return [...rows, ...unset];
}

// What `gapii-ctl history` says of the commands that set the uniforms of a program.
async function settersOf(at, { name }, owner) {
  const [kind, number] = name.split(" ");
  const { objects } = await answers.of(`history${query({ object: `${kind}:${number}`, at, most: 1, ...owner })}`);
  return objects.at(-1)?.uniforms ?? [];
}

// Returns the table of a program's uniforms after the command `at`. `used` has the `owner` of the program, and its `context`, whose
// bound textures samplers take.
export function uniforms(at, program, used) {
  const rows = rowsOf(program.object, { ...used, at });
  if (rows.length === 0) return make("p", { class: "note" }, "no uniform was set");
  const cells = new Map();
  const setter = (location) => {
    if (location === null) return "never set";
    const cell = make("span", {}, "…");
    cells.set(location, cell);
    return cell;
  };
  const title = (location, name) => (location === null ? name : `${location}: ${name}`);
  const cellsOf = ({ location, cells: [name, type, value] }) => [title(location, name), type, setter(location), value];
  const shown = table(["location: name", "type", "set by", "value"], rows.map(cellsOf), { class: "uniforms" });
  const note = make("p", { class: "note" });
  const link = (setters) => {
    for (const [location, cell] of cells) {
      const it = setters.find((setter) => String(setter.location) === location);
      cell.replaceChildren(...(it === undefined ? [""] : [commandLink(it.seq), ` ${it.function}`]));
    }
    return [];
  };
  if (cells.size > 0) whenReady(note, settersOf(at, program, used.owner), link, "reading which commands set them");
  return [shown, note];
}

// Returns the programs that a context uses, as objects: its own, or otherwise those of its pipeline (OpenGL ES 3.2, 7.4).
export function programsOf(answer, context) {
  const { program, pipeline, pipelines } = context?.state ?? {};
  const bound = pipelines?.[`${pipeline?.kind} ${pipeline?.name}`];
  const references = program ? [program] : Object.values(bound?.stages ?? {});
  const names = new Set(references.filter((it) => it?.name).map((it) => `${it.kind} ${it.name}`));
  return objectsOf(answer).filter((it) => it.section === "programs" && names.has(it.name));
}

// Returns the table of the vertex attributes that a draw takes; null without any.
export function attributes(answer, { context, owner, at }) {
  const arrays = arraysOf(answer, context);
  const found = arrays?.attribs === undefined ? [] : attributesOf(arrays);
  if (found.length === 0) return null;
  const from = ({ buffer }) => (buffer?.name ? objectLink(buffer, owner, at) : "the program's memory");
  const rows = found.map((it) => [String(it.index), it.word ?? `${it.size} × ${valueText(it.kind)}`, from(it.binding), String(it.start), String(it.binding.stride)]);
  return table(["attribute", "type", "buffer", "offset", "stride"], rows, { class: "attributes" });
}
