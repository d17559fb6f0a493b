// Shaders and programs after the selected command: sources, and the uniforms with their names and values, and what set them. The
// program in use comes first.

import { fill, make, whenReady } from "../element.js";
import { label } from "../labels.js";
import { SECTIONS, programsOf, uniforms } from "../inputs.js";
import { objectOf, ownersAt, ownersLine } from "../owner.js";
import { contextOf, objectsOf, stateAt } from "../state.js";

export const title = "shaders";
export const key = (place) => [place.at, place.object];

function source(shader) {
  const lines = shader.source.split("\n").map((line, at) => make("span", {}, `${String(at + 1).padStart(4)}  ${line}\n`));
  return make("pre", {}, lines);
}

function programPart(program, used, at, isUsed, isOpen) {
  const { name, object } = program;
  const stages = object.last_link?.stages ?? [];
  const contents = () => [
    uniforms(at, program, used),
    stages.map((stage) => [make("h3", {}, `${stage.kind}, ${stage.shader?.kind ?? "Shader"} ${stage.shader?.name ?? "deleted"}`, stage.shader?.name ? label(`${stage.shader.kind} ${stage.shader.name}`, used.owner, at) : null, ", as it was linked"), source(stage)]),
  ];
  const details = make(
    "details",
    { open: isUsed || isOpen, "data-program": name },
    make("summary", {}, `${name}${object.label ? ` "${object.label}"` : ""}${isUsed ? ", in use" : ""}, last link: ${String(object.linked).toLowerCase()}`),
  );
  // Which commands set its uniforms is asked when it is looked at.
  const open = () => details.append(...contents().flat(2).filter((it) => it !== null));
  if (details.open) open();
  else details.addEventListener("toggle", open, { once: true });
  return details;
}

function shaderPart({ name, object }, isOpen) {
  return make(
    "details",
    { open: isOpen, "data-shader": name },
    make("summary", {}, `${name}${object.label ? ` "${object.label}"` : ""}: ${object.kind}, ${object.compiled}`),
    source(object),
  );
}

async function found(place) {
  const owners = await ownersAt(place);
  return [owners, await stateAt(place.at, [...SECTIONS, "shaders"], owners.owner)];
}

function shown([owners, answer], place) {
  const objects = objectsOf(answer);
  const of = (section) => objects.filter((it) => it.section === section);
  const { owner } = owners;
  const context = contextOf(answer, owner);
  const used = new Set(programsOf(answer, context).map((it) => it.object));
  const programs = of("programs").sort((one, other) => used.has(other.object) - used.has(one.object));
  const shaders = of("shaders");
  const name = owners.missing === null ? objectOf(place).name : null;
  if (programs.length + shaders.length === 0) return [ownersLine(owners), make("p", {}, "No shader and no program exists after this command.")];
  const part = (it) => programPart(it, { context, owner }, place.at, used.has(it.object), it.name === name);
  return [ownersLine(owners), ...programs.map(part), make("h2", {}, "shaders"), ...shaders.map((it) => shaderPart(it, it.name === name))];
}

export function show(host, place) {
  if (place.at === null) {
    fill(host, make("p", {}, "Select a command: shaders and programs after it are shown."));
    return;
  }
  whenReady(host, found(place), (all) => shown(all, place));
}
