//! `Played`: what a replay of a listed trace has drawn, by the answer of `gapii-ctl replay --json`; and pictures of frames,
//! which a replay writes to a folder.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use gapii_replay::images::{FrameOf, Picture, name_of};
use serde::Deserialize;

use super::children::{Children, Trouble};
use super::list::{Frame, Frames, Listed};

/// The frames that a replay has drawn, and the driver.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// `GL_RENDERER`.
    pub renderer: String,
    /// Digests by frame.
    pub digests: BTreeMap<Frame, String>,
    /// Time that playing took, in seconds.
    pub seconds: f64,
}

/// The parts of a replay's answer that are used.
#[derive(Deserialize)]
struct Answer {
    checksums: Vec<Checksum>,
    driver: Driver,
    seconds: f64,
}

#[derive(Deserialize)]
struct Checksum {
    process: u32,
    frame: u64,
    blake3: String,
}

#[derive(Deserialize)]
struct Driver {
    renderer: String,
}

impl Played {
    /// Plays the trace at `path`.
    pub fn by(children: &Children, listed: &Listed, path: &Path) -> Result<Played, Trouble> {
        let mut words = words(listed);
        words.push("--checksum".into());
        match &listed.frames {
            Frames::Last => words.push("--last-frame".into()),
            Frames::All => {}
            Frames::Some(range) => words.extend(["--frames".into(), range.into()]),
        }
        let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
        Played::read(&children.replay(path, &words)?)
    }

    fn read(answer: &[u8]) -> Result<Played, Trouble> {
        let answer: Answer = serde_json::from_slice(answer)
            .map_err(|error| Trouble::Failed(format!("its replay has no answer: {error}")))?;
        let digest = |it: Checksum| (Frame((it.process, it.frame)), it.blake3);
        Ok(Played {
            renderer: answer.driver.renderer,
            digests: answer.checksums.into_iter().map(digest).collect(),
            seconds: answer.seconds,
        })
    }
}

/// Plays the trace at `path` again up to a frame, and returns the file of its picture in `folder`; `None` if it drew something
/// else than before.
pub fn picture(
    children: &Children,
    (listed, path): (&Listed, &Path),
    (frame, digest): (FrameOf, &str),
    folder: &Path,
) -> Option<(PathBuf, Picture)> {
    let number: OsString = frame.1.to_string().into();
    let mut words = words(listed);
    words.extend(["--images".into(), folder.into(), "--frames".into(), number]);
    let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
    children.replay(path, &words).ok()?;
    let file = folder.join(format!("{}.png", name_of(frame.0, frame.1)));
    let picture = read(&file, digest)?;
    Some((file, picture))
}

/// Reads a picture that has this digest.
pub fn read(file: &Path, digest: &str) -> Option<Picture> {
    let picture = Picture::read_png(BufReader::new(File::open(file).ok()?)).ok()?;
    (picture.checksum() == digest).then_some(picture)
}

fn words(listed: &Listed) -> Vec<OsString> {
    if listed.opaque { vec!["--opaque".into()] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_of_a_replay_has_renderer_and_digests() {
        let answer = r#"{"json_version": 2, "checksums": [
            {"round": 0, "process": 1, "frame": 4, "width": 1, "height": 1, "blake3": "ab"}],
            "driver": {"vendor": "v", "renderer": "r", "version": "3"}, "seconds": 0.25}"#;
        let played = Played::read(answer.as_bytes()).unwrap();
        let digests = BTreeMap::from([(Frame((1, 4)), "ab".to_owned())]);
        assert_eq!(played, Played { renderer: "r".to_owned(), digests, seconds: 0.25 });
        assert!(Played::read(b"{}").is_err());
    }

    #[test]
    fn picture_with_another_digest_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.png");
        let picture = Picture { width: 1, height: 2, rgba: vec![1, 2, 3, 255, 4, 5, 6, 255] };
        picture.write_png(File::create(&file).unwrap()).unwrap();
        assert_eq!(read(&file, &picture.checksum()), Some(picture));
        assert_eq!(read(&file, "ab"), None);
    }
}
