//! The bundle of `doctor --bundle`: a `.tar.zst` with what a bug report needs. It has no contents of captures. The user's home
//! folder and name, and what looks like a secret, are left out.
//!
//! It sends nothing.

mod contents;
mod discretion;
mod tar;

use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::args::Connect;
use crate::bundle::discretion::Discretion;
use crate::bundle::tar::Tar;
use crate::failure::Failure;
use crate::finished_file::FinishedFile;

/// Folder of all files in the archive.
const FOLDER: &str = "gapii-report";

/// A file of a bundle.
#[derive(Serialize, JsonSchema)]
pub struct BundledFile {
    /// Path in the archive.
    pub name: String,
    /// Size, in bytes.
    pub bytes: u64,
}

/// Writes a bundle, with `checks` of `doctor`. Returns the files in it.
///
/// # Errors
/// A file that exists, without `force`.
pub fn write(
    path: &Path,
    force: bool,
    checks: Value,
    connect: &Connect,
) -> Result<Vec<BundledFile>, Failure> {
    if path.as_os_str() == "-" {
        return Err(Failure::usage(
            "a bundle is not written to standard output, which has the checks; name a file: `--bundle report.tar.zst`",
        ));
    }
    let cannot =
        |error: io::Error| Failure::system(format!("can't write {}: {error}", path.display()));
    let mut file = FinishedFile::create(path, force)?;
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let compressed = zstd::Encoder::new(&mut file, 0).map_err(cannot)?;
    let mut archive = Tar::new(compressed, time);
    let mut files = Vec::new();
    for (name, text) in contents::files(connect, checks, &Discretion::of_this_user()) {
        let name = format!("{FOLDER}/{name}");
        archive.add(&name, text.as_bytes()).map_err(cannot)?;
        files.push(BundledFile { name, bytes: text.len() as u64 });
    }
    archive.finish().and_then(zstd::Encoder::finish).map_err(cannot)?;
    file.finish().map_err(cannot)?;
    Ok(files)
}
