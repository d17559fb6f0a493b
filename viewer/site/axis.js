// The numbers of frames below the bars of the timeline.

export const AXIS = 15;
// Pixels between two numbers, at least.
const GAP = 14;

// Returns the smallest of 1, 2, 5, 10, 20, 50, … that is at least `least`.
function roundStep(least) {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(least)));
  return [1, 2, 5, 10].map((by) => by * power).find((step) => step >= least);
}

// Returns the places of the frames in sight that get a number: those whose number is a multiple of a round step, or every so
// many ones if the numbers do not follow each other. `barWidth` and `textWidth` are in pixels.
function places(view, barWidth, textWidth) {
  const { first, shown, order, isInOrder } = view;
  const step = roundStep(Math.max(1, (textWidth + GAP) / barWidth));
  const last = Math.min(order.length, Math.ceil(first + shown));
  const found = [];
  for (let at = Math.floor(first); at < last; at += 1) {
    if ((isInOrder ? order[at].frame : at) % step === 0) found.push(at);
  }
  return found;
}

// Draws the axis below `top`, and returns its numbers. `view` has the `order` of the frames, of which `shown` are seen from `first`
// on; `isInOrder` if their numbers follow each other; `hasProcesses` if a number needs its process.
export function drawAxis(context, view, { top, width, colour, line }) {
  const text = (frame) => `${frame.frame}${view.hasProcesses ? ` (${frame.process})` : ""}`;
  const barWidth = width / view.shown;
  context.font = "10px sans-serif";
  context.textBaseline = "alphabetic";
  const longest = view.order.reduce((most, frame) => Math.max(most, frame.frame), 0);
  const textWidth = context.measureText(`${longest}${view.hasProcesses ? " (0)" : ""}`).width;
  const numbers = [];
  context.fillStyle = line;
  context.fillRect(0, top, width, 1);
  for (const at of places(view, barWidth, textWidth)) {
    const middle = (at - view.first + 0.5) * barWidth;
    if (middle < 0 || middle > width) continue;
    const own = text(view.order[at]);
    const half = context.measureText(own).width / 2;
    context.fillStyle = colour;
    context.fillRect(Math.round(middle), top, 1, 3);
    context.fillText(own, Math.min(Math.max(0, middle - half), width - 2 * half), top + 13);
    numbers.push(own);
  }
  return numbers;
}
