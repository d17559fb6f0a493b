// Statistics of the trace: by function, frame and thread. A click on a head sorts.

import { lasting } from "../ask.js";
import { fill, make, whenReady } from "../element.js";
import { commandLink, count, size, time } from "../text.js";

export const title = "statistics";
export const key = () => "";

// Makes a table whose heads sort it. A column is [title, value of a row, text of a value].
export function sortable(columns, rows, properties = {}) {
  const host = make("div", {});
  const draw = (by, isFalling) => {
    const of = columns[by][1];
    const compare = (one, other) => (of(one) < of(other) ? -1 : of(one) > of(other) ? 1 : 0);
    const sorted = rows.toSorted((one, other) => (isFalling ? compare(other, one) : compare(one, other)));
    const heads = columns.map(([name], at) =>
      make("th", { "aria-sort": at === by ? (isFalling ? "descending" : "ascending") : null }, make("button", { onclick: () => draw(at, at === by ? !isFalling : typeof of(rows[0] ?? {}) !== "string") }, name)),
    );
    const body = sorted.map((row) => make("tr", {}, columns.map(([, value, text]) => make("td", {}, text ? text(value(row), row) : String(value(row))))));
    fill(host, make("table", properties, make("thead", {}, make("tr", {}, heads)), make("tbody", {}, body)));
  };
  draw(1, true);
  return host;
}

function shown(stats) {
  const timed = stats.driver !== null;
  const functions = [
    ["function", (it) => it.name],
    ["commands", (it) => it.commands, count],
    ["read", (it) => it.read_bytes, size],
    ["written", (it) => it.written_bytes, size],
    ["needless", (it) => it.redundant, count],
  ];
  if (timed) {
    functions.push(
      ["time", (it) => it.driver?.total_ns ?? 0, time],
      ["longest", (it) => it.driver?.max_ns ?? 0, (ns, it) => (it.driver?.max_seq == null ? time(ns) : commandLink(it.driver.max_seq, time(ns)))],
    );
  }
  const threads = [
    ["thread", (it) => it.tid],
    ["commands", (it) => it.commands, count],
    ["draws", (it) => it.draws, count],
  ];
  const sums = [
    `${count(stats.commands)} commands`,
    `${count(stats.draws)} draws`,
    `${count(stats.dispatches)} dispatches`,
    `${count(stats.redundant_changes)} of ${count(stats.state_changes)} state changes needless`,
    `${size(stats.uploaded_bytes)} uploaded`,
    `${size(stats.client_bytes)} read from client memory by draws`,
    `${size(stats.read_back_bytes)} read back`,
  ];
  const slowest = stats.slowest.map((it) => make("li", {}, commandLink(it.seq), ` ${it.name}, frame ${it.frame}: ${time(it.driver_ns)}`));
  return [
    make("ul", { class: "sums" }, sums.map((sum) => make("li", {}, sum))),
    slowest.length === 0 ? null : [make("h2", {}, "slowest commands"), make("ol", {}, slowest)],
    make("h2", {}, "functions"),
    sortable(functions, stats.functions, { id: "functions" }),
    make("h2", {}, "threads"),
    sortable(threads, stats.threads, { id: "threads" }),
  ];
}

export function show(host) {
  whenReady(host, lasting.of("statistics"), shown);
}
