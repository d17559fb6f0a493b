// How draws read vertices: vertex attribute arrays, and the structs that they make of a buffer.

import { nameOf, objectsOf } from "./state.js";
import { structOf } from "./struct.js";

// Types of attributes (OpenGL ES 3.2, table 10.2) as they are typed in structs.
const TYPES = {
  GL_FLOAT: "f32",
  GL_HALF_FLOAT: "f16",
  GL_HALF_FLOAT_OES: "f16",
  GL_FIXED: "fixed",
  GL_BYTE: "i8",
  GL_UNSIGNED_BYTE: "u8",
  GL_SHORT: "i16",
  GL_UNSIGNED_SHORT: "u16",
  GL_INT: "i32",
  GL_UNSIGNED_INT: "u32",
};

// Sections of the state that have the arrays.
export const SECTIONS = ["vertex_array", "vertex_arrays", "default_arrays"];

// Addresses in a state are text, such as "0x10" or "null".
export function offsetOf(value) {
  return value === "null" || value === null ? 0 : Number(value);
}

// Returns the vertex attribute arrays that a draw uses: the bound vertex array object's, or the default ones.
export function arraysOf(answer, context) {
  const bound = context.state.vertex_array;
  if (!bound) return context.state.default_arrays;
  const found = objectsOf(answer).find((it) => it.section === "vertex_arrays" && it.name === `${bound.kind} ${bound.name}`);
  return found?.object.arrays ?? found?.object;
}

// Returns the enabled arrays, each with its number, its binding, where it begins in the buffer, and the word of its type in a
// struct, such as "u8x4 norm"; undefined for a type that is not shown.
export function attributesOf(arrays) {
  const described = arrays.attribs.map((attribute, index) => {
    const binding = arrays.bindings[(index + attribute.binding_shift) % arrays.bindings.length];
    const type = TYPES[attribute.kind];
    const isNormalized = attribute.normalized && !["f32", "f16", "fixed"].includes(type);
    const word = type === undefined ? undefined : `${type}x${attribute.size}${isNormalized ? " norm" : ""}`;
    return { ...attribute, index, binding, word, start: offsetOf(binding.offset) + attribute.relative_offset };
  });
  return described.filter((it) => it.enabled);
}

// Returns the struct of a vertex as it is typed, if these arrays lie in one; otherwise null.
function structText(attributes) {
  const stride = attributes[0].binding.stride;
  const fields = attributes.map((it) => ({ word: it.word, at: it.start % stride })).sort((one, other) => one.at - other.at);
  const words = [];
  let end = 0;
  for (const { word, at } of fields) {
    if (word === undefined || at < end) return null;
    if (at > end) words.push(`pad${at - end}`);
    words.push(word);
    end = at + structOf(word).stride;
  }
  if (end > stride) return null;
  if (end < stride) words.push(`pad${stride - end}`);
  return words.join(" ");
}

// Returns the structs by which the context's arrays read a buffer, as they are typed.
export function layoutsOf(answer, context, buffer) {
  const objects = objectsOf(answer).filter((it) => it.section === "vertex_arrays");
  const all = [context.state.default_arrays, ...objects.map(({ object }) => object.arrays ?? object)].filter((it) => it?.attribs);
  const texts = all.flatMap((arrays) => {
    const own = attributesOf(arrays).filter(({ binding }) => nameOf(binding.buffer) === buffer && binding.stride > 0);
    const strides = new Set(own.map(({ binding }) => binding.stride));
    return [...strides].map((stride) => structText(own.filter(({ binding }) => binding.stride === stride)));
  });
  return [...new Set(texts.filter((text) => text !== null))];
}
