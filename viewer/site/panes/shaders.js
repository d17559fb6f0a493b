// Shaders and programs after the selected command: sources, and the uniforms with their names and values. The program in use
// comes first.

import { fill, make, table, whenReady } from "../element.js";
import { objectsOf, stateAt } from "../state.js";
import { valueText } from "../text.js";

export const title = "shaders";
export const key = (place) => [place.at, place.object];

function source(shader) {
  const lines = shader.source.split("\n").map((line, at) => make("span", {}, `${String(at + 1).padStart(4)}  ${line}\n`));
  return make("pre", {}, lines);
}

// Values of a uniform in rows of its type: a matrix has a row for each of its columns.
function values({ kind, floats, integers, count }) {
  const all = floats.length > 0 ? floats : integers;
  const columns = /MAT(\d)/.exec(kind)?.[1];
  if (columns === undefined || count !== 1) return valueText(all);
  const rows = all.length / columns;
  return make("span", {}, Array.from({ length: Number(columns) }, (_, at) => make("div", {}, valueText(all.slice(at * rows, (at + 1) * rows)))));
}

function uniforms(program) {
  const rows = Object.entries(program.uniforms).map(([location, uniform]) => [location, program.uniform_names[location] ?? "", uniform.kind, values(uniform)]);
  return rows.length === 0 ? make("p", { class: "note" }, "no uniform was set") : table(["location", "name", "type", "value"], rows, { class: "uniforms" });
}

function programPart({ name, object }, isUsed, isOpen) {
  const stages = object.last_link?.stages ?? [];
  return make(
    "details",
    { open: isUsed || isOpen, "data-program": name },
    make("summary", {}, `${name}${object.label ? ` "${object.label}"` : ""}${isUsed ? ", in use" : ""}, last link: ${String(object.linked).toLowerCase()}`),
    uniforms(object),
    stages.map((stage) => [make("h3", {}, `${stage.kind}, ${stage.shader?.kind ?? "Shader"} ${stage.shader?.name ?? "deleted"}, as it was linked`), source(stage)]).flat(),
  );
}

function shaderPart({ name, object }, isOpen) {
  return make(
    "details",
    { open: isOpen, "data-shader": name },
    make("summary", {}, `${name}${object.label ? ` "${object.label}"` : ""}: ${object.kind}, ${object.compiled}`),
    source(object),
  );
}

function shown(answer, wanted) {
  const objects = objectsOf(answer);
  const of = (section) => objects.filter((it) => it.section === section);
  const used = new Set(answer.processes.flatMap((it) => it.contexts.map((context) => context.state.program?.name)).map((name) => `Program ${name}`));
  const programs = of("programs").sort((one, other) => used.has(other.name) - used.has(one.name));
  const shaders = of("shaders");
  if (programs.length + shaders.length === 0) return make("p", {}, "No shader and no program exists after this command.");
  return [...programs.map((it) => programPart(it, used.has(it.name), it.name === wanted)), make("h2", {}, "shaders"), ...shaders.map((it) => shaderPart(it, it.name === wanted))];
}

export function show(host, place) {
  if (place.at === null) {
    fill(host, make("p", {}, "Select a command: shaders and programs after it are shown."));
    return;
  }
  whenReady(host, stateAt(place.at, ["programs", "shaders", "context.program"]), (answer) => shown(answer, place.object));
}
