//! Pictures of what a command drew, as PNG files of at most 1,024 pixels a side (`SIDE_MAX`).

use std::ffi::OsString;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat};

use crate::process;

/// Longest side of a picture in pixels.
const SIDE_MAX: u32 = 1024;
/// Most pictures of one command.
const PICTURES_MAX: usize = 4;

/// A picture.
#[derive(Debug)]
pub struct Picture {
    /// File name of the replay, which says what the picture shows.
    pub name: String,
    /// Width and height before it was made smaller.
    pub size: [u32; 2],
    /// The PNG file in base64.
    pub png: String,
}

/// Replays a trace up to a command, and returns pictures of the framebuffer that it drew to.
///
/// # Errors
/// The sentence of `gapii-ctl`, or that nothing was drawn to.
pub async fn take(tool: &Path, words: Vec<OsString>) -> Result<Vec<Picture>, String> {
    let folder = tempfile::Builder::new().prefix("gapii-mcp-").tempdir();
    let folder = folder.map_err(|error| format!("can't make a folder: {error}"))?;
    let mut images = OsString::from("--images=");
    images.push(folder.path());
    let first = ["replay".into(), images];
    process::ask(tool, first.into_iter().chain(words)).await?;
    let files = files_of(folder.path()).map_err(|error| error.to_string())?;
    let pictures = files.iter().take(PICTURES_MAX).map(|path| load(path));
    let pictures = pictures.collect::<Result<Vec<_>, _>>()?;
    match pictures.is_empty() {
        true => Err("the command drew to nothing that has a picture".to_owned()),
        false => Ok(pictures),
    }
}

/// The PNG files of a folder, by name.
fn files_of(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "png") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn load(path: &Path) -> Result<Picture, String> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let bytes = fs::read(path).map_err(|error| format!("can't read {name}: {error}"))?;
    let picture = image::load_from_memory_with_format(&bytes, ImageFormat::Png);
    let picture = picture.map_err(|error| format!("can't read {name}: {error}"))?;
    let size = [picture.width(), picture.height()];
    let png = match size.iter().all(|side| *side <= SIDE_MAX) {
        true => bytes,
        false => smaller(&picture).map_err(|error| format!("can't shrink {name}: {error}"))?,
    };
    Ok(Picture { name, size, png: BASE64_STANDARD.encode(png) })
}

fn smaller(picture: &DynamicImage) -> image::ImageResult<Vec<u8>> {
    let mut png = Cursor::new(Vec::new());
    let small = picture.resize(SIDE_MAX, SIDE_MAX, FilterType::Triangle);
    small.write_to(&mut png, ImageFormat::Png)?;
    Ok(png.into_inner())
}

#[cfg(test)]
mod tests {
    use image::RgbaImage;

    use super::*;

    fn loaded(width: u32, height: u32) -> (Picture, Vec<u8>, DynamicImage) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("colour.png");
        let pixel = |x: u32, y: u32| image::Rgba([x as u8, y as u8, 7, 255]);
        RgbaImage::from_fn(width, height, pixel).save(&path).unwrap();
        let picture = load(&path).unwrap();
        let png = BASE64_STANDARD.decode(&picture.png).unwrap();
        let decoded = image::load_from_memory(&png).unwrap();
        (picture, fs::read(path).unwrap(), decoded)
    }

    #[test]
    fn small_picture_is_the_file_itself() {
        let (picture, file, _) = loaded(16, SIDE_MAX);
        assert_eq!((picture.name.as_str(), picture.size), ("colour", [16, SIDE_MAX]));
        assert_eq!(BASE64_STANDARD.decode(picture.png).unwrap(), file);
    }

    #[test]
    fn large_picture_keeps_its_form() {
        let (picture, _, decoded) = loaded(4096, 1024);
        assert_eq!(picture.size, [4096, 1024]);
        assert_eq!((decoded.width(), decoded.height()), (SIDE_MAX, 256));
    }
}
