// The place in the trace that the page shows. It is the fragment of the page's address, so that a place can be sent as a
// link: #pane=state&at=4711.

const listeners = new Set();

// Returns the place: `pane`, `at` (number of the selected command, or null) and what panes keep there, as text.
export function place() {
  const values = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const at = /^\d+$/.test(values.at ?? "") ? Number(values.at) : null;
  return { pane: "call", ...values, at };
}

// Returns the address of a place that differs from the present one by `changes`; null removes a value.
export function address(changes) {
  const values = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") values.delete(name);
    else values.set(name, value);
  }
  return `#${values}`;
}

// Goes to a place. A step within the list of commands replaces the last one in the browser's history.
export function go(changes, { replaces = false } = {}) {
  const to = address(changes);
  if (to === location.hash) return;
  if (replaces) {
    history.replaceState(null, "", to);
    tell();
  } else {
    location.hash = to;
  }
}

// Calls `listener` with the place now and whenever it changes.
export function onPlace(listener) {
  listeners.add(listener);
  listener(place());
}

function tell() {
  for (const listener of listeners) listener(place());
}

addEventListener("hashchange", tell);
