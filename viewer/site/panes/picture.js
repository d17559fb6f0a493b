// What the program has drawn after the selected command: the attachments of the framebuffer, before and after it, its own
// contribution, and the commands of the frame that changed the pixel that one clicks.

import { answers, query } from "../ask.js";
import { fill, make, table, whenReady } from "../element.js";
import { attachments, pictureAt } from "../pictures.js";
import { address, go } from "../place.js";
import { difference, stage } from "../stage.js";
import { commandLink, count } from "../text.js";

export const title = "picture";
export const key = (place) => [place.at, place.attachment, place.when, place.pixel];

const WHENS = { after: "after the command", before: "before it", difference: "its own contribution" };

async function shownPicture(at, attachment, when) {
  if (when === "before") return { picture: await pictureAt("before", at, attachment) };
  const after = await pictureAt("pictures", at, attachment);
  if (when !== "difference") return { picture: after };
  return difference(after, await pictureAt("before", at, attachment));
}

function colour(values) {
  const swatch = make("span", { class: "swatch" });
  swatch.style.backgroundColor = `rgb(${values.slice(0, 3).map((value) => Math.round(255 * Math.min(1, Math.max(0, value)))).join(" ")})`;
  return [values.map((value) => String(Math.round(value * 1e4) / 1e4)).join(", "), swatch];
}

// The commands that changed a pixel.
function pixelTable({ pixel, commands, before, changes, notes }) {
  const rows = changes.map((change) => [commandLink(change.seq), change.function, colour(change.after)]);
  return [
    make("h2", {}, `pixel ${pixel.join(", ")}, counted from the lower left corner `, make("a", { href: address({ pixel: null }), id: "no-pixel" }, "close")),
    table(["command", "function", "red, green, blue, alpha"], [["", "before the frame", colour(before)], ...rows], { id: "pixel-changes" }),
    make("p", { class: "note" }, `It was read before and after ${count(commands)} commands of the frame that may write pixels.`),
    notes.map((note) => make("p", { class: "note" }, note)),
  ].flat();
}

// What happened to the pixel that the place names.
function pixelPart(place, attachment) {
  const [x, y] = (place.pixel ?? "").split(",");
  const number = /^color(\d+)$/.exec(attachment)?.[1];
  if (!/^\d+$/.test(x) || !/^\d+$/.test(y ?? "") || number === undefined) {
    return number === undefined ? null : make("p", { class: "note" }, "Click a pixel: the commands of this frame that changed it are listed.");
  }
  const host = make("div", { id: "pixel" });
  whenReady(host, answers.of(`pixel${query({ at: place.at, x, y, attachment: number })}`), pixelTable, "playing the trace");
  return host;
}

function shown({ files, notes }, place) {
  const names = [...attachments(files).keys()];
  const attachment = names.includes(place.attachment) ? place.attachment : names[0];
  const when = place.when in WHENS ? place.when : "after";
  const remarks = notes.map((note) => make("p", { class: "note" }, note));
  if (attachment === undefined) return [make("p", {}, "Nothing is drawn to there."), remarks].flat();
  const choice = (id, label, values, chosen, change) => {
    const select = make("select", { id, "aria-label": label, onchange: () => go({ [change]: select.value }, { replaces: true }) }, values.map(([value, text]) => make("option", { value, selected: value === chosen }, text)));
    return select;
  };
  const controls = make(
    "div",
    { class: "controls" },
    choice("attachment", "Attachment", names.map((name) => [name, name]), attachment, "attachment"),
    choice("when", "When", Object.entries(WHENS), when, "when"),
    make("a", { href: `api/pictures/${place.at}/${attachments(files).get(attachment)}`, download: attachments(files).get(attachment) }, "PNG file"),
  );
  const picture = make("div", { id: "picture" });
  const pick = (x, y) => go({ pixel: `${x},${y}` }, { replaces: true });
  const show = (answer) => [stage(answer.picture, pick), answer.pixels === undefined ? null : make("p", { id: "changed" }, `${count(answer.pixels)} pixels differ`)];
  whenReady(picture, shownPicture(place.at, attachment, when), show, "playing the trace");
  return [controls, pixelPart(place, attachment), picture, ...remarks];
}

export function show(host, place, trace) {
  if (place.at === null) {
    fill(host, make("p", {}, "Select a command: a replay shows what it has drawn."));
    return;
  }
  const before = make("a", { href: address({ at: Math.max(trace.first_seq, place.at - 1) }) }, "previous command");
  const behind = make("a", { href: address({ at: Math.min(trace.end_seq - 1, place.at + 1) }) }, "next command");
  const contents = make("div", {});
  fill(host, make("p", {}, before, " · ", behind), contents);
  whenReady(contents, answers.of(`pictures/${place.at}`), (answer) => shown(answer, place), "playing the trace");
}
