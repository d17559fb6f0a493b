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
  const pass = (line) => {
    const found = JSON.parse(line, exact);
    if (typeof found.error === "string") throw new Error(found.error);
    take(found);
  };
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const parts = (rest + value).split("\n");
      rest = parts.pop();
      parts.forEach(pass);
    }
    // A refusal is no line.
    if (rest !== "") pass(rest);
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function commandAt(from, at, signal) {
  let found = null;
  const take = (command) => {
    if (command.seq === at) found = command;
  };
  await lines(`${from}${query({ from: at, to: at + 1 })}`, take, signal);
  return found;
}

// Returns the bytes at `path`.
export async function bytes(path, signal) {
  return (await response(path, signal)).arrayBuffer();
}

// Remembers the answers to the last `most` questions, so that two panes ask once.
export class Answers {
  // By question: { answer, controller, round, isThere }.
  #asked = new Map();
  #round = 0;

  constructor(most) {
    this.most = most;
  }

  // Returns the JSON at `path`.
  of(path) {
    return this.#ask(path, (signal) => ask(path, signal));
  }

  // Returns the command with this number; null if the trace has none. `from` is "commands", or "other/commands" for the second
  // trace.
  command(at, from = "commands") {
    return this.#ask(`${from} ${at}`, (signal) => commandAt(from, at, signal));
  }

  // Begins a round of questions, by `begin`, and gives up those of earlier rounds that have no answer yet and are not asked again.
  inNewRound(begin) {
    const round = (this.#round += 1);
    begin();
    // Questions that come of answers which are there already belong to the round.
    setTimeout(() => {
      for (const [question, asked] of this.#asked) {
        if (asked.isThere || asked.round >= round) continue;
        this.#asked.delete(question);
        asked.controller.abort();
      }
    }, 0);
  }

  #ask(question, find) {
    const asked = this.#asked.get(question) ?? this.#begin(question, find);
    asked.round = this.#round;
    // The one that was asked last is at the end.
    this.#asked.delete(question);
    this.#asked.set(question, asked);
    if (this.#asked.size > this.most) this.#asked.delete(this.#asked.keys().next().value);
    return asked.answer;
  }

  #begin(question, find) {
    const controller = new AbortController();
    const asked = { answer: find(controller.signal), controller, round: this.#round, isThere: false };
    asked.answer.then(
      () => (asked.isThere = true),
      // The next one asks again.
      () => {
        if (this.#asked.get(question) === asked) this.#asked.delete(question);
      },
    );
    return asked;
  }
}

// Those of the panes.
export const answers = new Answers(24);
// Those that take long and are of use whatever pane is shown: nothing gives them up.
export const lasting = new Answers(8);
