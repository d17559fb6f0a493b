// The page: a head, the timeline, the list of commands, and the panes.

import { answers, ask, lasting } from "./ask.js";
import { Commands } from "./commands.js";
import { divide } from "./divider.js";
import { fill, make } from "./element.js";
import { address, onPlace } from "./place.js";
import { counted } from "./text.js";
import { Timeline } from "./timeline.js";
import * as call from "./panes/call.js";
import * as compare from "./panes/compare.js";
import * as mesh from "./panes/mesh.js";
import * as objects from "./panes/objects.js";
import * as picture from "./panes/picture.js";
import * as problems from "./panes/problems.js";
import * as shaders from "./panes/shaders.js";
import * as state from "./panes/state.js";
import * as statistics from "./panes/statistics.js";

// By the name in the address. A pane has a `title`, and `show(element, place, trace)`; `key(place)` is what it shows: while
// that stays the same, the pane is not made again, but `update(place)` is called if the pane has it.
const PANES = { call, state, picture, objects, mesh, shaders, statistics, problems, compare };

const element = (id) => document.getElementById(id);

function showHead({ info, subject }) {
  const name = subject.trace.split("/").pop();
  document.title = `${name} – gapii`;
  const programs = (info.processes ?? []).map((process) => `${process.name} (${process.pid})`).join(", ");
  fill(
    element("head"),
    make("strong", { title: subject.trace }, name),
    subject.other ? make("span", { title: subject.other }, `compared with ${subject.other.split("/").pop()}`) : null,
    make("span", {}, programs),
    make("span", {}, `${counted(info.commands, "commands")}, ${counted(info.frames, "frames")}`),
    info.complete ? null : make("span", { class: "error" }, "the trace is cut or damaged"),
  );
}

function showTabs(place) {
  const tabs = Object.entries(PANES).map(([name, { title }]) =>
    make(
      "a",
      { href: address({ pane: name }), role: "tab", id: `tab-${name}`, "aria-selected": String(place.pane === name) },
      title,
    ),
  );
  fill(element("panes"), tabs);
}

let shown = null;
let shownAt = null;
// By pane: where it was scrolled to when another one was chosen.
const tops = new Map();
// Milliseconds in which a pane gets as long as it was.
const SCROLL_MS = 3000;

// Scrolls to where the pane was when it was seen last, once its contents are that long.
function keepScroll(host, top) {
  const until = performance.now() + SCROLL_MS;
  const restore = () => {
    if (host.scrollTop !== 0 || performance.now() > until) return;
    host.scrollTop = top;
    if (host.scrollTop < top) {
      host.scrollTop = 0;
      requestAnimationFrame(restore);
    }
  };
  if (top > 0) requestAnimationFrame(restore);
}

function showPane(place, trace) {
  const pane = PANES[place.pane] ?? call;
  const key = JSON.stringify([place.pane, pane.key(place)]);
  showTabs(place);
  if (key === shown) {
    pane.update?.(place);
    return;
  }
  shown = key;
  const host = element("pane");
  const last = host.dataset.pane;
  if (last !== undefined) tops.set(last, host.scrollTop);
  const isOther = last !== place.pane;
  const top = isOther || place.at !== shownAt ? (tops.get(place.pane) ?? 0) : 0;
  host.dataset.pane = place.pane;
  shownAt = place.at;
  answers.inNewRound(() => pane.show(host, place, trace));
  if (isOther) host.scrollTop = 0;
  keepScroll(host, top);
}

async function begin() {
  let trace;
  try {
    const [subject, info, frames] = await Promise.all([ask("subject"), lasting.of("info"), ask("frames")]);
    trace = { subject, info, ...frames };
  } catch (error) {
    fill(element("pane"), make("p", { class: "error", role: "alert" }, error.message));
    return;
  }
  showHead(trace);
  new Timeline(element("timeline"), trace);
  new Commands(element("commands"), trace);
  divide(element("divider"), element("commands"));
  onPlace((place) => showPane(place, trace));
  document.body.dataset.ready = "";
}

begin();
