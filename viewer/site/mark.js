// The pixel that is marked in a picture.

import { make } from "./element.js";

// Pixels of the screen that a mark has at least.
const LEAST = 9;

// Returns the pixel that the address names, as { x, y } from the lower left corner; null for none.
export function pixelOf({ pixel }) {
  const [, x, y] = /^(\d+),(\d+)$/.exec(pixel ?? "") ?? [];
  return x === undefined ? null : { x: Number(x), y: Number(y) };
}

export class Mark {
  #pixel = null;
  // The picture below it, as { height, width, scale }.
  #picture = null;

  constructor(pixel) {
    this.element = make("div", { class: "mark", hidden: true });
    this.set(pixel);
  }

  // Marks another pixel, or none.
  set(pixel) {
    this.#pixel = pixel;
    this.#lay();
  }

  // Says the size of the picture, and by how much it is enlarged.
  over(picture) {
    this.#picture = picture;
    this.#lay();
  }

  #lay() {
    const [pixel, picture] = [this.#pixel, this.#picture];
    const isThere = pixel !== null && picture !== null && pixel.x < picture.width && pixel.y < picture.height;
    this.element.hidden = !isThere;
    if (!isThere) return;
    const side = Math.max(LEAST, picture.scale + 4);
    // OpenGL counts rows from the bottom.
    const middle = { left: pixel.x + 0.5, top: picture.height - pixel.y - 0.5 };
    for (const [edge, at] of Object.entries(middle)) this.element.style[edge] = `${at * picture.scale - side / 2}px`;
    [this.element.style.width, this.element.style.height] = [`${side}px`, `${side}px`];
    this.element.title = `pixel ${pixel.x}, ${pixel.y}`;
    [this.element.dataset.x, this.element.dataset.y] = [pixel.x, pixel.y];
  }
}
