// What the program has drawn after the selected command: the attachments of the framebuffer, before and after it, the pixels that
// it changed, and the commands of the frame that changed the pixel that one clicks.

import { answers, query } from "../ask.js";
import { fill, make, table, whenReady } from "../element.js";
import { attachments, pictureAt } from "../pictures.js";
import { Mark, pixelOf } from "../mark.js";
import { address, go, place as here } from "../place.js";
import { changed, stage } from "../stage.js";
import { commandLink, count, counted } from "../text.js";

export const title = "picture";
export const key = (place) => [place.at, place.attachment, place.when];

const WHENS = { after: "after the command", before: "before it", difference: "the pixels that it changed" };

async function shownPicture(at, attachment, when) {
  if (when === "before") return { picture: await pictureAt("before", at, attachment) };
  const after = await pictureAt("pictures", at, attachment);
  if (when !== "difference") return { picture: after };
  return changed(await pictureAt("before", at, attachment), after);
}

function colour(values) {
  const swatch = make("span", { class: "swatch" });
  swatch.style.backgroundColor = `rgb(${values.slice(0, 3).map((value) => Math.round(255 * Math.min(1, Math.max(0, value)))).join(" ")})`;
  return [values.map((value) => String(Math.round(value * 1e6) / 1e6)).join(", "), swatch];
}

// The commands that changed a pixel.
function pixelTable({ pixel, commands, before, changes, notes }) {
  const rows = changes.map((change) => [commandLink(change.seq), change.function, colour(change.after)]);
  return [
    make("h2", {}, `pixel ${pixel.join(", ")}, counted from the lower left corner`),
    table(["command", "function", "red, green, blue, alpha"], [["", "before the frame", colour(before)], ...rows], { id: "pixel-changes" }),
    make("p", { class: "note" }, `It was read before and after ${count(commands)} commands of the frame that may write pixels.`),
    notes.map((note) => make("p", { class: "note" }, note)),
  ].flat();
}

// Shows in `host` what happened to the pixel that the place names.
function showPixel(host, place, attachment) {
  const pixel = pixelOf(place);
  const number = /^color(\d+)$/.exec(attachment)?.[1];
  if (number === undefined) fill(host);
  else if (pixel === null) fill(host, make("p", { class: "note" }, "Click a pixel: the commands of this frame that changed it are listed."));
  else whenReady(host, answers.of(`pixel${query({ at: place.at, ...pixel, attachment: number })}`), pixelTable, "playing the trace");
}

// Returns notes, in which those about attachments without a picture are one for each reason.
function missingInWords(notes) {
  const reasons = new Map();
  const others = notes.filter((note) => {
    const [, attachment, reason] = /^no (?:at-\d+-(\w+)\.png|picture at \d+): (.*)$/.exec(note) ?? [];
    if (reason === undefined) return true;
    reasons.set(reason, [...(reasons.get(reason) ?? []), attachment ?? "colour"]);
    return false;
  });
  return [...[...reasons].map(([reason, attachments]) => `no picture of ${attachments.join(", ")}: ${reason}`), ...others];
}

function changedText(pixels) {
  if (pixels === 0) return "The command changed no pixel.";
  return `${counted(pixels, "pixels")} differ from before. They are shown as the command left them, and all others are left out.`;
}

const unmark = () => go({ pixel: null }, { replaces: true });

addEventListener("keydown", ({ key }) => {
  if (key === "Escape" && here().pane === "picture") unmark();
});

// Follows the pixel that the place names, while the picture stays.
let follow = () => {};

export function update(place) {
  follow(place);
}

function shown({ files, notes }, place) {
  const names = [...attachments(files).keys()];
  const attachment = names.includes(place.attachment) ? place.attachment : names[0];
  const when = place.when in WHENS ? place.when : "after";
  const converted = (note) => / is converted: (.*)$/.exec(note)?.[1];
  const remarks = missingInWords(notes.filter((note) => converted(note) === undefined)).map((note) => make("p", { class: "note" }, note));
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
  // The server says of which pictures the values are not those of the attachment.
  const file = attachments(files).get(attachment);
  const conversion = converted(notes.find((note) => note.startsWith(`${file} is converted`)));
  const remark = conversion === undefined ? null : make("p", { class: "note", id: "converted" }, `The picture is converted: ${conversion}. A click on a pixel shows its exact values.`);
  const picture = make("div", { id: "picture" });
  const history = make("div", { id: "pixel" });
  // It may have been clicked since this was asked for.
  const now = here();
  const mark = new Mark(pixelOf(now));
  const remove = make("button", { type: "button", id: "no-pixel", title: "key: Esc", hidden: pixelOf(now) === null, onclick: unmark }, "remove the mark");
  controls.append(remove);
  let marked = now.pixel;
  follow = (to) => {
    if (to.pixel === marked) return;
    marked = to.pixel;
    mark.set(pixelOf(to));
    remove.hidden = pixelOf(to) === null;
    showPixel(history, to, attachment);
  };
  const pick = (x, y) => go({ pixel: `${x},${y}` }, { replaces: true });
  const show = (answer) => [stage(answer.picture, pick, mark), answer.pixels === undefined ? null : make("p", { id: "changed" }, changedText(answer.pixels))];
  whenReady(picture, shownPicture(place.at, attachment, when), show, "playing the trace");
  showPixel(history, now, attachment);
  return [controls, remark, picture, history, ...remarks];
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
