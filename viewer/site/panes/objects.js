// Textures and buffers after the selected command. A texture is shown with all its levels, layers and faces, a buffer as a table
// by a struct that is typed; below is what was done to the object.

import { answers, bytes, query } from "../ask.js";
import { fill, make, table, whenReady } from "../element.js";
import { decode } from "../png.js";
import { isSharing, objectOf, objectText, ofOwner, ownersAt, ownersLine } from "../owner.js";
import { address, go } from "../place.js";
import { stage } from "../stage.js";
import { SECTIONS as LAYOUT, layoutsOf } from "../layout.js";
import { contextOf, objectsOf, stateAt } from "../state.js";
import { rowsOf, structOf } from "../struct.js";
import { commandLink, count as countText, size, valueText } from "../text.js";

export const title = "objects";
export const key = (place) => [place.at, place.object, place.struct, place.act];

const SECTIONS = ["textures", "buffers", "renderbuffers", "samplers", "framebuffers", "vertex_arrays", "queries", "syncs"];
const HISTORY_MAX = 500;
const ROWS_MAX = 1000;

// Target, size and format of a texture's first image.
function textureSummary({ target, images: faces }) {
  const levels = Object.values(faces ?? {})[0] ?? {};
  const image = levels[0] ?? Object.values(levels)[0];
  const own = image === undefined ? "without images" : `${image.width} × ${image.height}${image.depth > 1 ? ` × ${image.depth}` : ""}, ${valueText(image.format)}`;
  return `${valueText(target)}, ${own}`;
}

// What is most worth knowing about an object, in a line.
function summary({ section, object }) {
  if (section === "buffers") return `${size(object.size ?? 0)}, ${object.usage ?? ""}`;
  if (section === "textures") return textureSummary(object);
  const facts = ["target", "format", "width", "height", "samples"];
  return facts.filter((fact) => object[fact] !== undefined && object[fact] !== null).map((fact) => `${fact} ${valueText(object[fact])}`).join(", ");
}

function list(answer, name, owner) {
  const objects = objectsOf(answer).filter((it) => SECTIONS.includes(it.section));
  if (objects.length === 0) return make("p", {}, "No object exists after this command.");
  const rows = objects.map((it) => [make("a", { href: address({ object: objectText(it.name, owner) }), "aria-current": it.name === name ? "true" : null }, it.name), it.object.label ?? "", summary(it)]);
  return table(["object", "label", ""], rows, { id: "objects" });
}

// What a file of a texture shows, such as "level 1, face 2", and the number of its level.
function imageOf(file, name) {
  const parts = [...file.name.slice(`texture-${name}`.length).matchAll(/-([a-z]+)(\d+)/g)].map(([, part, number]) => [part, Number(number)]);
  const level = parts.find(([part]) => part === "level")?.[1] ?? 0;
  const others = parts.filter(([part]) => part !== "level").map(([part, number]) => `, ${part} ${number}`);
  return { file, level, title: `level ${level}${others.join("")}` };
}

function images(at, files, name) {
  const own = files.filter((file) => file.name.startsWith(`texture-${name}.`) || file.name.startsWith(`texture-${name}-`));
  if (own.length === 0) return make("p", { class: "note" }, "There is no picture of it.");
  const shown = own.map((file) => imageOf(file, name)).sort((one, other) => one.level - other.level);
  return shown.map(({ file, title }, place) => {
    const host = make("div", {});
    whenReady(host, bytes(`objects/${at}/${file.name}`).then(decode), (picture) => stage(picture), "reading the picture");
    return make("details", { open: place === 0, "data-file": file.name }, make("summary", {}, title), host);
  });
}

function bufferTable(buffer, text) {
  const struct = structOf(text);
  const rows = rowsOf(struct, buffer, ROWS_MAX);
  const all = Math.floor(buffer.byteLength / struct.stride);
  return [
    table(["", ...struct.fields.map((field) => field.type)], rows.map((row, at) => [String(at), ...row.map(valueText)]), { id: "buffer" }),
    all > ROWS_MAX ? make("p", { class: "note" }, `The first ${ROWS_MAX} of ${all} elements are shown.`) : null,
  ];
}

function buffer(at, files, name, owner, place) {
  const file = files.find((it) => it.name === `buffer-${name}.bin`);
  if (file === undefined) return make("p", { class: "note" }, "There are no contents of it.");
  const text = place.struct ?? "f32x4";
  const field = make("input", { name: "struct", value: text, size: 24, "aria-label": "Struct of an element" });
  const form = make(
    "form",
    {
      class: "controls",
      onsubmit: (event) => {
        event.preventDefault();
        go({ struct: field.value }, { replaces: true });
      },
    },
    "an element is ",
    field,
    make("button", {}, "show"),
    make("span", { class: "note" }, "such as f32x3 u8x4 norm, with pad4 for 4 bytes between"),
  );
  const layouts = make("span", { id: "layouts" });
  whenReady(layouts, structsOf(at, name, owner), (texts) => texts.map((text) => make("a", { href: address({ struct: text }) }, `as vertices: ${text}`)), "reading the state");
  const host = make("div", {});
  whenReady(host, bytes(`objects/${at}/${file.name}`).then((buffer) => bufferTable(buffer, text)), (rows) => rows, "reading the buffer");
  return [form, make("p", {}, layouts), host];
}

// Returns the structs by which draws of a context read a buffer.
async function structsOf(at, name, owner) {
  const answer = await stateAt(at, LAYOUT, owner);
  const context = contextOf(answer, owner);
  return context === undefined ? [] : layoutsOf(answer, context, name);
}

// What `gapii-ctl history` says a command does, in words.
const ACTS = {
  makes: "makes it",
  deletes: "deletes it",
  fills: "fills it",
  draws_to: "draws to it",
  changes: "changes it",
  draws_with: "draws with it",
  reads: "reads it",
  names: "names it",
};

// What was done to an object that has the name after the selected command, one sort of events or all.
function life({ process, events, counts }, several, place) {
  const sort = (act, title) => make("a", { href: address({ act }), "aria-current": (place.act ?? null) === act ? "true" : null }, title);
  const sorts = [sort(null, "all"), ...Object.entries(counts).map(([act, count]) => sort(act, `${ACTS[act]} (${countText(count)})`))];
  const shown = events.filter((event) => place.act === undefined || event.act === place.act);
  const rows = shown.map((event) => [commandLink(event.seq), String(event.frame), ACTS[event.act], event.function, event.is_setup ? "snapshot" : ""]);
  const left = Object.entries(counts).some(([act, count]) => events.filter((event) => event.act === act).length < count);
  return [
    several ? make("h3", {}, `of process ${process}`) : null,
    make("p", { class: "controls" }, sorts),
    table(["command", "frame", "", "function", ""], rows),
    left ? make("p", { class: "note" }, `The first ${HISTORY_MAX} of each sort are listed.`) : null,
  ];
}

function history(kind, name, owner, place) {
  const { process, context } = owner ?? {};
  const question = query({ object: `${kind}:${name}`, at: place.at, most: HISTORY_MAX, process, context });
  return answers.of(`history${question}`);
}

// The pictures and the contents of an object, which a replay has of those that the selected command can use.
function contentsOf(kind, name, { owner, own }, place) {
  if (kind !== "Texture" && kind !== "Buffer") return null;
  if (own !== null && !isSharing(owner, own)) {
    return make("p", { class: "note" }, "Pictures and contents are those of objects that the selected command can use: select a command of this context to see them.");
  }
  const host = make("div", {});
  const draw = ({ files, notes }) => [
    kind === "Texture" ? images(place.at, files, name) : buffer(place.at, files, name, owner, place),
    notes.map((note) => make("p", { class: "note" }, note)),
  ].flat();
  whenReady(host, answers.of(`objects/${place.at}`), draw, "playing the trace");
  return host;
}

function detail(answer, owners, place) {
  const { name: wanted } = objectOf(place);
  const [kind, number] = (wanted ?? "").split(" ");
  if (!number) return null;
  const name = Number(number);
  const found = objectsOf(answer).find((it) => it.name === wanted);
  const contents = make("div", { id: "contents" }, contentsOf(kind, name, owners, place));
  const past = make("div", { id: "history" });
  whenReady(past, history(kind, name, owners.owner, place), ({ objects }) => objects.flatMap((it) => life(it, objects.length > 1, place)));
  const title = found?.object.label ? `${wanted} "${found.object.label}"` : wanted;
  const facts = found === undefined ? [] : Object.entries(found.object).filter(([, value]) => value === null || typeof value !== "object");
  return [
    make("h2", {}, title, ofOwner(owners.owner, owners.all)),
    contents,
    table(["", ""], facts.map(([fact, value]) => [fact.replaceAll("_", " "), valueText(value)]), { class: "facts" }),
    make("h2", {}, `history of ${title}`),
    past,
  ];
}

export function show(host, place) {
  if (place.at === null) {
    fill(host, make("p", {}, "Select a command: textures, buffers and other objects after it are shown."));
    return;
  }
  const found = async () => {
    const owners = await ownersAt(place);
    return [owners, await stateAt(place.at, SECTIONS, owners.owner)];
  };
  const shown = ([owners, answer]) => {
    const objects = list(answer, owners.missing === null ? objectOf(place).name : null, owners.owner);
    return [ownersLine(owners), objects, owners.missing === null ? detail(answer, owners, place) : null].flat();
  };
  whenReady(host, found(), shown);
}
