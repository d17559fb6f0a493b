// The object that a command fills: the one that is bound at its target (OpenGL ES 3.2, 6.2 and 8.5), or that it names.

import { make } from "./element.js";
import { labelledLink } from "./labels.js";
import { ownerOf } from "./owner.js";
import { contextOf, objectsOf, stateAt } from "./state.js";

// Functions that give contents, or a store for them, to what is bound at a target.
const FILLS = /^gl(?:Buffer(?:Sub)?Data|BufferStorage|CopyBufferSubData|(?:Compressed|Copy)?Tex(?:Sub)?Image\dD|CopyImageSubData|TexStorage|TexBuffer|GenerateMipmap|RenderbufferStorage|EGLImageTarget)/;
const OF_BUFFERS = /^gl(?:Buffer|CopyBuffer)/;
const SECTIONS = ["active_texture", "texture_units", "renderbuffer", "vertex_array", "vertex_arrays", "default_arrays"];

// The section that says which buffer is bound at a target.
function sectionOf(target) {
  return target.replace("GL_", "").toLowerCase();
}

function bufferAt(target, answer, { state }) {
  if (target !== "GL_ELEMENT_ARRAY_BUFFER") return state[sectionOf(target)];
  const { vertex_array: bound } = state;
  const own = bound && objectsOf(answer).find((it) => it.section === "vertex_arrays" && it.name === `${bound.kind} ${bound.name}`)?.object;
  return ((own?.arrays ?? own) || state.default_arrays)?.element_buffer;
}

// Faces of a cube map are filled one by one.
function textureAt(target, { state }) {
  const own = target.includes("CUBE_MAP_POSITIVE") || target.includes("CUBE_MAP_NEGATIVE") ? "GL_TEXTURE_CUBE_MAP" : target;
  return state.texture_units?.[state.active_texture ?? 0]?.bindings?.[own];
}

// Returns the object that a command fills, as a reference of the state; null for none.
async function filledBy(command, owner) {
  if (!FILLS.test(command.name) || owner === null) return null;
  const { target, writeTarget, dstTarget, dstName } = command.args;
  if (dstName !== undefined) return { kind: dstTarget === "GL_RENDERBUFFER" ? "Renderbuffer" : "Texture", name: dstName };
  const own = writeTarget ?? target;
  if (typeof own !== "string") return null;
  const isBuffer = OF_BUFFERS.test(command.name);
  const answer = await stateAt(command.seq, isBuffer ? [...SECTIONS, sectionOf(own)] : SECTIONS, owner);
  const context = contextOf(answer, owner);
  if (context === undefined) return null;
  if (isBuffer) return bufferAt(own, answer, context);
  return own === "GL_RENDERBUFFER" ? context.state.renderbuffer : textureAt(own, context);
}

// Returns a paragraph that says which object a command fills, with a link to it. It stays empty if the command fills none.
export function filled(command) {
  const line = make("p", { id: "fills", hidden: true });
  const show = async () => {
    const owner = await ownerOf(command);
    const reference = await filledBy(command, owner);
    if (!reference?.name) return;
    line.hidden = false;
    line.append("The command fills ", labelledLink(`${reference.kind} ${reference.name}`, owner, command.seq), ".");
  };
  // What is wrong with the trace, the pane says.
  if (command !== null) show().catch(() => {});
  return line;
}
