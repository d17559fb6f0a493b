// Structs that people type to read a buffer: "f32x3 u8x4 norm pad4" is three floats, four bytes from 0 to 1, and 4 bytes that
// are passed over.

const TYPES = {
  f32: [4, (view, at) => view.getFloat32(at, true)],
  f16: [2, (view, at) => half(view.getUint16(at, true))],
  i8: [1, (view, at) => view.getInt8(at), 127],
  u8: [1, (view, at) => view.getUint8(at), 255],
  i16: [2, (view, at) => view.getInt16(at, true), 32767],
  u16: [2, (view, at) => view.getUint16(at, true), 65535],
  i32: [4, (view, at) => view.getInt32(at, true), 2147483647],
  u32: [4, (view, at) => view.getUint32(at, true), 4294967295],
  fixed: [4, (view, at) => view.getInt32(at, true) / 65536],
};

const FIELD = new RegExp(`^(${Object.keys(TYPES).join("|")})(?:x(\\d+))?$`);

function half(bits) {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

// Returns { fields, stride } of a struct as it is typed. A field is { type, offset, read }.
export function structOf(text) {
  const fields = [];
  let offset = 0;
  for (const word of text.trim().split(/\s+/)) {
    const padding = /^pad(\d+)$/.exec(word);
    const [, type, count] = FIELD.exec(word) ?? [];
    const last = fields.at(-1);
    if (padding) offset += Number(padding[1]);
    else if (word === "norm" && last?.max !== undefined) {
      last.isNormalized = true;
      last.type += " norm";
    } else if (type in TYPES) {
      const [bytes, read, max] = TYPES[type];
      fields.push({ type: word, offset, count: Number(count ?? 1), bytes, read, max });
      offset += bytes * Number(count ?? 1);
    } else throw new Error(`"${word}" is no type; the types are ${Object.keys(TYPES).join(", ")}, with x3 for three of them`);
  }
  if (offset === 0) throw new Error("the struct is empty");
  return { fields, stride: offset };
}

// Returns the values of a field in the struct that begins at byte `at`.
export function read(field, view, at) {
  return Array.from({ length: field.count }, (_, index) => {
    const value = field.read(view, at + field.offset + index * field.bytes);
    return field.isNormalized ? Math.max(-1, value / field.max) : value;
  });
}

// Returns the fields of the first `most` structs in a buffer.
export function rowsOf(struct, buffer, most) {
  const view = new DataView(buffer);
  const all = Math.min(most, Math.floor(buffer.byteLength / struct.stride));
  return Array.from({ length: all }, (_, at) => struct.fields.map((field) => {
    const values = read(field, view, at * struct.stride);
    return values.length === 1 ? values[0] : values;
  }));
}
