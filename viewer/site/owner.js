// What objects belong to: a context, and through it a share group and a process. Names of objects are those of one share group, so
// an object in an address says which: "Texture 5@1.0x55d0" is that of the context 0x55d0 of process 1.

import { answers, lasting } from "./ask.js";
import { make } from "./element.js";
import { address } from "./place.js";

function hex(handle) {
  return `0x${BigInt(handle).toString(16)}`;
}

function isSame(one, other) {
  return one !== null && other !== null && one.process === other.process && String(one.context) === String(other.context);
}

// Returns an object as it stands in an address. `owner` is { process, context }; null if nobody knows it.
export function objectText(name, owner) {
  return owner === null ? name : `${name}@${owner.process}.${hex(owner.context)}`;
}

// Returns the object that the place names, as { name, owner }; without an owner that of the selected command's context.
export function objectOf({ object }) {
  const [, name, process, context] = /^(.*?)(?:@(\d+)\.(0x[0-9a-f]+))?$/.exec(object ?? "") ?? [];
  return { name, owner: context === undefined ? null : { process: Number(process), context: BigInt(context).toString() } };
}

// Returns the owner of the objects that a command uses; null without a context.
export async function ownerOf(command) {
  if (!command?.context) return null;
  const { processes } = await lasting.of("info");
  const process = processes.find(({ pid }) => pid === command.pid)?.process ?? 0;
  return { process, context: command.context };
}

// Returns which owner's objects a pane shows after the selected command: that of the object that the place names, otherwise that of
// the command, otherwise the first one. `own` is that of the command, and `all` has the contexts that exist there.
export async function ownersAt(place) {
  const [command, { contexts }] = await Promise.all([answers.command(place.at), answers.of(`sections/${place.at}`)]);
  const find = (wanted) => contexts.find((it) => isSame(it, wanted)) ?? null;
  const { owner: asked, name } = objectOf(place);
  const own = find(await ownerOf(command));
  const found = find(asked);
  const missing = asked !== null && found === null ? `${name} is an object of ${ownerTitle(asked, [])}, which does not exist after this command.` : null;
  return { command, owner: found ?? own ?? contexts[0] ?? null, own, all: contexts, missing };
}

// Whether two owners have the same objects.
export function isSharing(one, other) {
  return one !== null && other !== null && one.process === other.process && one.share_group === other.share_group;
}

// Returns an owner in words: what tells it from the others.
export function ownerTitle(owner, all) {
  const isSeveral = (name) => all.length === 0 || new Set(all.map((it) => it[name])).size > 1;
  const process = isSeveral("process") ? ` of process ${owner.process}` : "";
  const own = all.filter((it) => it.process === owner.process);
  const group = new Set(own.map((it) => it.share_group)).size > 1 ? `, share group ${owner.share_group}` : "";
  return `context ${hex(owner.context)}${process}${group}`;
}

// Returns " of context …" where there are several.
export function ofOwner(owner, all) {
  return owner === null || all.length < 2 ? "" : ` of ${ownerTitle(owner, all)}`;
}

// Returns the line that chooses whose objects are shown; null where there is one context.
export function ownersLine({ owner, own, all, missing }) {
  if (all.length < 2) return missing === null ? null : make("p", { class: "note", id: "owners" }, missing);
  const link = (it) =>
    make(
      "a",
      { href: address({ object: isSame(it, own) ? null : objectText("", it) }), "aria-current": isSame(it, owner) ? "true" : null },
      `${ownerTitle(it, all)}${isSame(it, own) ? " (that of the command)" : ""}`,
    );
  return make("div", { id: "owners" }, missing === null ? null : make("p", { class: "note" }, missing), make("p", {}, "objects of ", all.flatMap((it, at) => [at === 0 ? "" : " · ", link(it)])));
}
