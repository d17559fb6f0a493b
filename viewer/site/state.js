// Finds things in the answers of `gapii-ctl state --json`.

import { answers, query } from "./ask.js";

// Returns the state after a command, of these kinds of objects and these sections.
export function stateAt(at, { objects, sections }) {
  return answers.of(`state${query({ at, object: objects?.join(","), section: sections?.join(",") })}`);
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

// Returns the context that is current in the thread of a command; undefined if there is none.
export function contextOf(answer, command) {
  const contexts = answer.processes.flatMap((process) => process.contexts);
  return contexts.find((it) => String(it.context) === String(command.context));
}

// Returns the name of an object that state refers to; undefined for none.
export function nameOf(reference) {
  return reference?.name;
}
