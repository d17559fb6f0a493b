// Decodes PNG files exactly: browsers multiply colours by alpha and cut 16 bits to 8. Reads the forms that gapii-ctl writes:
// grey, grey and alpha, RGB and RGBA, 8 or 16 bits, not interlaced (PNG specification, third edition).

const CHANNELS = { 0: 1, 2: 3, 4: 2, 6: 4 };

async function inflate(parts) {
  const stream = new Blob(parts).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function paeth(left, up, corner) {
  const [byLeft, byUp, byCorner] = [up - corner, left - corner, left + up - 2 * corner].map(Math.abs);
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}

// Undoes the filter of each row, in place (9.2). Returns the rows without the bytes that name their filters.
function unfilter(raw, rowBytes, height, step) {
  const rows = new Uint8Array(rowBytes * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (rowBytes + 1)];
    const from = y * (rowBytes + 1) + 1;
    const to = y * rowBytes;
    for (let x = 0; x < rowBytes; x += 1) {
      const left = x < step ? 0 : rows[to + x - step];
      const up = y === 0 ? 0 : rows[to + x - rowBytes];
      const corner = x < step || y === 0 ? 0 : rows[to + x - rowBytes - step];
      const added = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      rows[to + x] = raw[from + x] + added;
    }
  }
  return rows;
}

// Returns { width, height, channels, max, data }: samples in rows from the top, each from 0 to max.
export async function decode(buffer) {
  const view = new DataView(buffer);
  if (view.byteLength < 33 || view.getUint32(0) !== 0x89504e47) throw new Error("the picture is no PNG file");
  const [width, height, bits, type] = [view.getUint32(16), view.getUint32(20), view.getUint8(24), view.getUint8(25)];
  const channels = CHANNELS[type];
  if (channels === undefined || (bits !== 8 && bits !== 16) || view.getUint8(28) !== 0) {
    throw new Error("the picture has a form that the viewer does not read");
  }
  const parts = [];
  for (let at = 8; at + 8 <= buffer.byteLength; at += 12 + view.getUint32(at)) {
    if (view.getUint32(at + 4) === 0x49444154) parts.push(new Uint8Array(buffer, at + 8, view.getUint32(at)));
  }
  const step = (channels * bits) / 8;
  const rows = unfilter(await inflate(parts), width * step, height, step);
  if (bits === 8) return { width, height, channels, max: 255, data: rows };
  const wide = new DataView(rows.buffer);
  const data = Uint16Array.from({ length: rows.length / 2 }, (_, at) => wide.getUint16(at * 2));
  return { width, height, channels, max: 65535, data };
}
