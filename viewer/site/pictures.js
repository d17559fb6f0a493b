// Pictures of the framebuffer, which the server has a replay take.

import { answers, bytes } from "./ask.js";
import { decode } from "./png.js";

// Returns the files of attachments by their names, such as color0 for at-004711-color0.png.
export function attachments(files) {
  return new Map(files.map(({ name }) => [name.replace(/^at-\d+-/, "").replace(/\.png$/, ""), name]));
}

// Returns the decoded picture of an attachment after a command, or of the first one. `from` is "pictures", or
// "other/pictures" for the second trace.
export async function pictureAt(from, at, attachment) {
  const { files } = await answers.of(`${from}/${at}`);
  const found = attachments(files);
  const name = attachment === undefined ? [...found.values()][0] : found.get(attachment);
  if (name === undefined) throw new Error(`there is no ${attachment ?? "picture"} at command ${at}`);
  return decode(await bytes(`${from}/${at}/${name}`));
}
