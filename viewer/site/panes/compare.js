// The differences between the trace and a second one.

import { answers } from "../ask.js";
import { make, table, whenReady } from "../element.js";
import { commandLink, count, valueText } from "../text.js";

export const title = "compare";
export const key = () => "";

function cell(value, name) {
  if (name === "seq" || name.endsWith("_seq")) return value === null ? "" : commandLink(value);
  return typeof value === "number" ? count(value) : valueText(value);
}

// Lists of objects as tables, all else as a line.
function part(name, value) {
  if (Array.isArray(value) && value.length > 0 && typeof value[0] === "object") {
    const heads = Object.keys(value[0]);
    return [make("h2", {}, name.replaceAll("_", " ")), table(heads.map((head) => head.replaceAll("_", " ")), value.map((row) => heads.map((head) => cell(row[head] ?? null, head))))];
  }
  return make("p", {}, `${name.replaceAll("_", " ")}: ${valueText(value)}`);
}

export function show(host, place, trace) {
  if (trace.subject.other === null) {
    host.replaceChildren(make("p", {}, "There is no second trace: begin with ", make("code", {}, `gapii-ctl ui ${trace.subject.trace} OTHER`), "."));
    return;
  }
  const shown = (answer) => Object.entries(answer).filter(([name]) => name !== "json_version").flatMap(([name, value]) => part(name, value));
  whenReady(host, answers.of("differences"), shown, "comparing");
}
