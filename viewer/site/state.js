// Finds things in the answers of `gapii-ctl state --json`.

import { answers, query } from "./ask.js";

// Returns the sections of the state after a command whose names, with or without their scope, are in a list: those of a context
// with its share group and process, so that a name is that of one object; of all if `owner` is null. A program without
// OpenGL ES has none of most.
export async function stateAt(at, wanted, owner) {
  const { sections } = await answers.of(`sections/${at}`);
  const isWanted = (name) => wanted.includes(name) || wanted.includes(name.split(".")[1]);
  const names = new Set(sections.map((it) => it.name).filter(isWanted));
  if (names.size === 0) return { seq: at, processes: [] };
  const found = await answers.of(`state${query({ at, section: [...names].join(","), context: owner?.context })}`);
  if (owner === null) return found;
  // Processes that are copies of each other have contexts with the same handles.
  return { ...found, processes: found.processes.filter((it) => it.process === owner.process) };
}

// Calls `take` with each object in a state: its key such as "Texture 5", its state, the section that holds it, and the index
// of its process.
function eachObject(answer, take) {
  for (const process of answer.processes) {
    const states = [process.state, ...process.share_groups.map((it) => it.state), ...process.contexts.map((it) => it.state)];
    for (const state of states) {
      for (const [section, objects] of Object.entries(state)) {
        if (objects === null || typeof objects !== "object") continue;
        for (const [name, object] of Object.entries(objects)) {
          if (object !== null && typeof object === "object") take(name, object, section, process.process);
        }
      }
    }
  }
}

// Returns the objects of a state as { name, object, section, process }.
export function objectsOf(answer) {
  const found = [];
  eachObject(answer, (name, object, section, process) => found.push({ name, object, section, process }));
  return found;
}

// Returns the context of the owner that a state was asked for; undefined if there is none.
export function contextOf(answer, owner) {
  const contexts = answer.processes.flatMap((process) => process.contexts);
  return owner === null ? undefined : contexts.find((it) => String(it.context) === String(owner.context));
}

// Returns the name of an object that state refers to; undefined for none.
export function nameOf(reference) {
  return reference?.name;
}
