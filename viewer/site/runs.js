// Tables in which rows that say the same, one after the other, are one row that opens.

import { make } from "./element.js";

// Rows that are joined, at least.
const LEAST = 3;

// Returns the runs of rows for which `follows(row, next)` holds.
function runsOf(rows, follows) {
  const runs = [];
  for (const row of rows) {
    const last = runs.at(-1);
    if (last !== undefined && follows(last.at(-1), row)) last.push(row);
    else runs.push([row]);
  }
  return runs.flatMap((run) => (run.length < LEAST ? run.map((row) => [row]) : [run]));
}

function bodyRow(cells, properties = {}) {
  return make("tr", properties, cells.map((cell) => make("td", {}, cell)));
}

// The row that stands for a run. A click on its first cell shows its rows, or hides them.
function joinedRow(run, cells, joined) {
  const [first, ...others] = joined(run);
  const fold = make("span", { class: "fold" }, "▸");
  const button = make("button", { type: "button", class: "run", "aria-expanded": "false", onclick: () => toggle() }, fold, first);
  const row = bodyRow([button, ...others], { "data-run": run.length });
  let own = null;

  function toggle() {
    const isOpen = own !== null;
    fold.textContent = isOpen ? "▸" : "▾";
    button.setAttribute("aria-expanded", String(!isOpen));
    if (isOpen) own.forEach((it) => it.remove());
    own = isOpen ? null : run.map((it) => bodyRow(cells(it), { class: "within" }));
    if (own !== null) row.after(...own);
  }

  return row;
}

// Makes the table. `cells(row)` returns the cells of a row, and `joined(rows)` those of the row that stands for several.
export function runTable(heads, rows, { follows, cells, joined }, properties = {}) {
  const head = make("tr", {}, heads.map((text) => make("th", {}, text)));
  const body = runsOf(rows, follows).map((run) => (run.length === 1 ? bodyRow(cells(run[0])) : joinedRow(run, cells, joined)));
  return make("table", properties, make("thead", {}, head), make("tbody", {}, body));
}
