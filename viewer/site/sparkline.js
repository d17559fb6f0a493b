// A line of rates, as high as a line of text.

const WIDTH = 90;
const HEIGHT = 14;

function svg(tag, properties, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Draws values from 0 to the largest of them; the last one is at the right.
export function sparkline(values) {
  const most = Math.max(...values, 1e-9);
  const step = WIDTH / Math.max(values.length - 1, 1);
  const points = values.map((value, at) => `${(at * step).toFixed(1)},${(HEIGHT - 1 - (value / most) * (HEIGHT - 2)).toFixed(1)}`);
  const title = svg("title", {}, `at most ${most.toFixed(1)} in the last ${values.length} refreshes`);
  const line = svg("polyline", { points: points.join(" "), class: "spark" });
  return svg("svg", { width: WIDTH, height: HEIGHT, role: "img" }, title, line);
}
