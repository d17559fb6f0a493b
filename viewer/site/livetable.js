// A table whose rows stay while their cells change, so that its buttons and links keep the focus and can be pressed at any moment.

import { fill, make, table } from "./element.js";

export class LiveTable {
  // By key: { row, act, text }: the row, what its last cell does, as a word, and the text of the others.
  #rows = new Map();

  // `empty` makes what stands in place of a table without rows.
  constructor(host, heads, empty, properties = {}) {
    this.host = host;
    this.empty = empty;
    this.table = table([...heads, ""], [], properties);
    this.body = this.table.querySelector("tbody");
    fill(host, empty());
  }

  // Shows rows, each { key, cells, act, button }: `button` makes the last cell anew when the word `act` is another one.
  show(rows) {
    const keys = new Set(rows.map(({ key }) => key));
    for (const [key, { row }] of this.#rows) {
      if (keys.has(key)) continue;
      row.remove();
      this.#rows.delete(key);
    }
    rows.forEach((shown, at) => this.#place(shown, at));
    if (rows.length === 0) fill(this.host, this.empty());
    else if (!this.table.isConnected) fill(this.host, this.table);
  }

  #place({ key, cells, act, button }, at) {
    let known = this.#rows.get(key);
    if (known === undefined) {
      known = { row: make("tr", {}, [...cells, ""].map(() => make("td"))), act: null };
      this.#rows.set(key, known);
    }
    const { row } = known;
    cells.forEach((cell, column) => fill(row.children[column], cell));
    if (known.act !== act) {
      fill(row.lastElementChild, button());
      known.act = act;
    }
    if (this.body.children[at] !== row) this.body.insertBefore(row, this.body.children[at] ?? null);
  }
}
