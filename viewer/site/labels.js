// Labels that the program gave its objects (glObjectLabel), beside their names.

import { answers, query } from "./ask.js";
import { make } from "./element.js";
import { objectText } from "./owner.js";
import { address } from "./place.js";
import { objectsOf } from "./state.js";

// Questions that are not asked yet, so that the objects of one command are asked for at once: the objects by command and owner.
const waiting = new Map();

async function ask(at, owner, names) {
  const object = [...names].sort().map((name) => name.toLowerCase().replace(" ", ":")).join(",");
  const answer = await answers.of(`state${query({ at, object, context: owner?.context })}`);
  const own = objectsOf(answer).filter((it) => owner === null || it.process === owner.process);
  return new Map(own.map(({ name, object: { label } }) => [name, label]));
}

// Returns the label that an object such as "Texture 5" has after the command `at`; undefined for none.
async function labelOf(name, owner, at) {
  const key = `${at} ${owner?.process} ${owner?.context}`;
  let question = waiting.get(key);
  if (question === undefined) {
    const names = new Set();
    const answer = Promise.resolve().then(() => {
      waiting.delete(key);
      return ask(at, owner, names);
    });
    question = { names, answer };
    waiting.set(key, question);
  }
  question.names.add(name);
  return (await question.answer).get(name);
}

// Returns an element for the label of an object after the command `at`, which is filled once it is known.
export function label(name, owner, at) {
  const element = make("span", { class: "label" });
  labelOf(name, owner, at).then(
    (text) => text && element.append(` "${text}"`),
    // The object is shown without its label.
    () => {},
  );
  return element;
}

// Returns a link to an object, with its label after the command `at`. `text` stands for its name.
export function labelledLink(name, owner, at, { pane = "objects", text = name } = {}) {
  return make("a", { href: address({ pane, object: objectText(name, owner) }) }, text, label(name, owner, at));
}
