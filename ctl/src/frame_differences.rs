//! Frames that look another way in one trace than in another: both are played, and what they show is
//! compared.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use gapii_replay::Options;
use gapii_replay::images::{Folder, Images, Picture, PixelDifference};
use serde::Serialize;

use crate::failure::Failure;
use crate::playing::{self, Stop};
use crate::scratch::Scratch;
use crate::text::counted;
use crate::trace_file;

/// A frame that is not the same in both traces.
#[derive(Serialize)]
pub struct FrameDifference {
    /// As the pictures of `replay --images` are named.
    pub name: String,
    #[serde(flatten)]
    kind: Kind,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Pixels(PixelDifference),
    /// Widths and heights.
    Sizes([[u32; 2]; 2]),
    OnlyInA,
    OnlyInB,
}

impl fmt::Display for FrameDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Pixels(PixelDifference { pixels, of, largest }) => {
                let pixels = counted(*pixels, "pixel");
                write!(f, "{pixels} of {of}, by {largest} of 255 at most")
            }
            Kind::Sizes([[aw, ah], [bw, bh]]) => write!(f, "{aw}x{ah} in A, {bw}x{bh} in B"),
            Kind::OnlyInA => f.write_str("in A only"),
            Kind::OnlyInB => f.write_str("in B only"),
        }
    }
}

/// Plays both traces and compares their frames.
pub fn find(traces: [&PathBuf; 2], stop: &Stop) -> Result<Vec<FrameDifference>, Failure> {
    let scratch = Scratch::create()?;
    let [a, b] = ["a", "b"].map(|name| scratch.path().join(name));
    let names: BTreeSet<String> =
        frames(traces[0], &a, stop)?.into_iter().chain(frames(traces[1], &b, stop)?).collect();
    let mut found = Vec::new();
    for name in names {
        let [a, b] = [read(&a.join(&name))?, read(&b.join(&name))?];
        if let Some(kind) = compare(a, b) {
            let name = name.trim_end_matches(".png").to_owned();
            found.push(FrameDifference { name, kind });
        }
    }
    Ok(found)
}

/// Writes pictures of a trace's frames into a folder; their names.
fn frames(trace: &Path, folder: &Path, stop: &Stop) -> Result<Vec<String>, Failure> {
    let mut reader = trace_file::open(trace)?;
    let pictures = Folder::open(folder).map_err(Failure::unreachable)?;
    let images = Images::of_frames(pictures, 0..u64::MAX, true);
    let options = Options { images, ..Options::default() };
    let report = playing::play(trace, &mut reader, options, stop.clone())?;
    if report.cancelled {
        return Err(Failure::no("stopped before the frames were compared, as asked"));
    }
    let unreadable =
        |error| Failure::unreachable(format!("can't read {}: {error}", folder.display()));
    let entries = folder.read_dir().map_err(unreadable)?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into()));
    names.collect::<io::Result<_>>().map_err(unreadable)
}

/// The picture of a frame, if there is one.
fn read(path: &Path) -> Result<Option<Picture>, Failure> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file,
    };
    let picture = file.and_then(|file| Picture::read_png(BufReader::new(file)));
    let picture = picture.map(Some);
    picture.map_err(|error| Failure::unreachable(format!("can't read {}: {error}", path.display())))
}

fn compare(a: Option<Picture>, b: Option<Picture>) -> Option<Kind> {
    let size = |picture: &Picture| [picture.width, picture.height];
    match (a, b) {
        (Some(a), Some(b)) => match a.difference(&b) {
            Some(difference) => (difference.pixels > 0).then_some(Kind::Pixels(difference)),
            None => Some(Kind::Sizes([size(&a), size(&b)])),
        },
        (Some(_), None) => Some(Kind::OnlyInA),
        (None, Some(_)) => Some(Kind::OnlyInB),
        (None, None) => None,
    }
}
