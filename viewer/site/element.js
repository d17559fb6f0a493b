// Makes elements. Content is always text: nothing from a trace is parsed as HTML.

function present(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined);
}

// Makes an element. `properties` sets attributes; one that begins with "on" adds a listener; null and false are left out.
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...present(children));
  return element;
}

// Replaces the children of an element.
export function fill(element, ...children) {
  element.replaceChildren(...present(children));
}

// Makes a table. A cell is text or an element.
export function table(heads, rows, properties = {}) {
  const head = make("tr", {}, heads.map((text) => make("th", {}, text)));
  const body = rows.map((cells) => make("tr", {}, cells.map((cell) => make("td", {}, cell))));
  return make("table", properties, make("thead", {}, head), make("tbody", {}, body));
}

// Shows `promise` in `element`: a sentence while it is waited for, then what `show` makes of it, or the error.
export async function whenReady(element, promise, show, waiting = "reading the trace") {
  const begun = performance.now();
  const sentence = make("p", { class: "waiting" }, `${waiting} …`);
  fill(element, sentence);
  const tick = setInterval(() => {
    const seconds = Math.round((performance.now() - begun) / 1000);
    if (seconds > 0) sentence.textContent = `${waiting} … ${seconds} s`;
  }, 1000);
  try {
    const answer = await promise;
    if (sentence.isConnected) fill(element, show(answer));
  } catch (error) {
    if (error.name !== "AbortError" && sentence.isConnected) {
      fill(element, make("p", { class: "error", role: "alert" }, error.message));
    }
  } finally {
    clearInterval(tick);
  }
}
