//! Files with what a share group holds: textures as PNG, buffers as bytes, shaders as source; of each kind at most
//! 65,536 objects (`FILES_MAX`). What cannot be read is noted in the report.
//!
//! For the end of a replay only. Reads through a context of its own that shares the objects, so the
//! program's state does not affect the result. The content is the driver's at that moment.

use std::io::Write;

use super::fetch::Fetch;
use super::folder::Folder;
use super::picture::Picture;
use crate::call::Call;
use crate::names::Kind;

/// Largest number of objects of one kind that are written.
const FILES_MAX: usize = 1 << 16;

/// Writes every object that the call's context shares. Notes in the report what can't be read.
pub fn write(call: &mut Call<'_, '_>, folder: &Folder) -> Result<(), String> {
    let names = |kind| call.parts.names.all(call.scopes, kind);
    let (textures, buffers, shaders) =
        (names(Kind::Texture), names(Kind::Buffer), names(Kind::Program));
    let mut notes = Vec::new();
    let fetch = Fetch::begin(&call.parts.driver);
    let written = match &fetch {
        Err(why) => {
            notes.push(format!("no resources: {why}"));
            Ok(())
        }
        Ok(fetch) => [
            write_textures(fetch, folder, &textures, &mut notes),
            write_buffers(fetch, folder, &buffers, &mut notes),
            write_shaders(fetch, folder, &shaders),
        ]
        .into_iter()
        .collect(),
    };
    drop(fetch);
    for note in notes {
        call.parts.tally.note(note);
    }
    written
}

/// Recorded name and driver's name of an object.
type Named = (u64, u64);

fn write_textures(
    fetch: &Fetch<'_>,
    folder: &Folder,
    textures: &[Named],
    notes: &mut Vec<String>,
) -> Result<(), String> {
    for (recorded, real) in textures.iter().take(FILES_MAX) {
        let images = match fetch.texture(*real as u32) {
            Ok(images) => images,
            Err(why) => {
                notes.push(format!("no picture of texture {recorded}: {why}"));
                continue;
            }
        };
        for image in images {
            let name = format!("texture-{recorded}{}.png", image.suffix);
            match image.picture {
                Ok(picture) => write_picture(folder, name, picture)?,
                Err(why) => notes.push(format!("no {name}: {why}")),
            }
        }
    }
    Ok(())
}

fn write_buffers(
    fetch: &Fetch<'_>,
    folder: &Folder,
    buffers: &[Named],
    notes: &mut Vec<String>,
) -> Result<(), String> {
    for (recorded, real) in buffers.iter().take(FILES_MAX) {
        match fetch.buffer(*real as u32) {
            Ok(None) => {}
            Ok(Some(bytes)) => {
                folder.write(format!("buffer-{recorded}.bin"), move |out| out.write_all(&bytes))?
            }
            Err(why) => notes.push(format!("no buffer-{recorded}.bin: {why}")),
        }
    }
    Ok(())
}

fn write_shaders(fetch: &Fetch<'_>, folder: &Folder, shaders: &[Named]) -> Result<(), String> {
    for (recorded, real) in shaders.iter().take(FILES_MAX) {
        // The API has one set of names for programs and shaders.
        if let Some((extension, source)) = fetch.shader(*real as u32) {
            let name = format!("shader-{recorded}.{extension}");
            folder.write(name, move |out| out.write_all(&source))?;
        }
    }
    Ok(())
}

fn write_picture(folder: &Folder, name: String, picture: Picture) -> Result<(), String> {
    folder.write(name, move |out: &mut dyn Write| picture.write_png(out))
}
