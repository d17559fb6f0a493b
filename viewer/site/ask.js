// Asks the server. What gapii-ctl refuses is an Error with its sentence.

async function response(path, signal) {
  const answer = await fetch(`api/${path}`, { signal });
  if (!answer.ok) throw new Error(`the server answers ${answer.status} to ${path}`);
  return answer;
}

// Returns a query string of the values that are neither null nor undefined nor empty.
export function query(values) {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

// Integers above 2^53 become strings, because a number would lose their last digits: handles, addresses, stamps.
function exact(key, value, context) {
  const source = context?.source;
  if (typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? "")) return source;
  return value;
}

// Returns the JSON at `path`.
export async function ask(path, signal) {
  const answer = JSON.parse(await (await response(path, signal)).text(), exact);
  if (typeof answer.error === "string") throw new Error(answer.error);
  return answer;
}

// Sends an order, with values as JSON.
export async function order(path, values = {}) {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(`api/${path}`, { method: "POST", headers, body: JSON.stringify(values) });
  if (answer.status === 204) return;
  const text = await answer.text();
  if (!answer.ok) throw new Error(text || `the server answers ${answer.status} to ${path}`);
  const { error } = JSON.parse(text);
  if (typeof error === "string") throw new Error(error);
}

// Calls `take` with each line of JSON at `path`, as it comes. A line with an error ends them.
export async function lines(path, take, signal) {
  const reader = (await response(path, signal)).body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    for (const line of parts) {
      const found = JSON.parse(line, exact);
      if (typeof found.error === "string") throw new Error(found.error);
      take(found);
    }
  }
}

// Returns the command with this number; null if the trace has none.
export async function commandAt(at) {
  let found = null;
  await lines(`commands${query({ from: at, to: at + 1 })}`, (command) => {
    if (command.seq === at) found = command;
  });
  return found;
}

// Returns the bytes at `path`.
export async function bytes(path, signal) {
  return (await response(path, signal)).arrayBuffer();
}

// Remembers the answers to the last `most` questions, so that two panes ask once.
export class Answers {
  #answers = new Map();

  constructor(most) {
    this.most = most;
  }

  of(path) {
    let answer = this.#answers.get(path);
    if (answer === undefined) {
      answer = ask(path);
      // The next one asks again.
      answer.catch(() => this.#answers.delete(path));
    }
    this.#answers.delete(path);
    this.#answers.set(path, answer);
    if (this.#answers.size > this.most) this.#answers.delete(this.#answers.keys().next().value);
    return answer;
  }
}

export const answers = new Answers(24);
