//! `check-exports`: records glmark2-es2 with the times of its commands, exports the trace to Perfetto's format and to that of
//! the Firefox Profiler, and reads both files with code that is not the project's: the package `perfetto` of PyPI, in a
//! virtual environment in the build folder, and Python's reader of JSON. Not part of `test`, because it downloads.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::tree::Profile;
use crate::xserver::XServer;
use crate::{build, packages, python, step, tree};

/// Frames that are recorded.
const FRAMES: u64 = 100;

const FORMATS: [&str; 2] = ["perfetto", "firefox-profiler"];

/// Prints what two files have, given their paths.
const READER: &str = include_str!("exports/read.py");

pub fn run() -> anyhow::Result<()> {
    packages::install(&[packages::DEMO, packages::EXPORTS])?;
    build::product(Profile::Dev)?;
    let folder = tree::target().join("exports");
    std::fs::create_dir_all(&folder)?;
    let python = python::with(&["perfetto"], &folder.join("venv"))?;
    let trace = folder.join("glmark2-es2.gapii");
    println!("recording {FRAMES} frames of glmark2-es2");
    record(&trace)?;
    let files = FORMATS.map(|format| folder.join(format!("glmark2-es2.{format}")));
    for (format, file) in FORMATS.iter().zip(&files) {
        let options = ["--format", format, "--force", "-o"];
        step::output(ctl("export", &trace).args(options).arg(file))?;
    }
    let read = step::output(Command::new(&python).args(["-c", READER]).args(&files))?;
    let read: Value = serde_json::from_str(&read).context("the reader prints no JSON")?;
    let stats = step::output(ctl("stats", &trace).arg("--json"))?;
    let expected = Expected::of(&serde_json::from_str(&stats).context("stats --json is no JSON")?)?;
    print(&expected, &read);
    let wrong: Vec<_> = FORMATS.into_iter().filter(|format| !expected.is(&read[format])).collect();
    ensure!(wrong.is_empty(), "not as recorded: {}", wrong.join(", "));
    Ok(())
}

/// What the files must have.
struct Expected {
    /// Commands with times.
    commands: u64,
    /// Swaps.
    frames: u64,
}

impl Expected {
    fn of(stats: &Value) -> anyhow::Result<Expected> {
        let commands = stats["driver"]["commands"].as_u64().context("stats has no times")?;
        let functions = stats["functions"].as_array().context("stats has no functions")?;
        let is_swap = |function: &&Value| {
            function["name"].as_str().is_some_and(|name| name.starts_with("eglSwapBuffers"))
        };
        let swaps = functions.iter().filter(is_swap);
        let frames = swaps.filter_map(|function| function["commands"].as_u64()).sum();
        ensure!(frames > 0, "nothing was swapped");
        Ok(Expected { commands, frames })
    }

    fn is(&self, file: &Value) -> bool {
        file["commands"] == self.commands && file["frames"] == self.frames && file["faults"] == 0
    }
}

/// Prints a row for the trace and one for each file. Faults are slices that neither nest nor follow each other, and references
/// to tracks, names and categories that a file lacks.
fn print(expected: &Expected, read: &Value) {
    let row = |name: &str, cells: [&dyn std::fmt::Display; 4]| {
        let [commands, frames, tracks, faults] = cells;
        println!("{name:18}{commands:>10}{frames:>8}{tracks:>8}{faults:>8}");
    };
    row("", [&"commands", &"frames", &"tracks", &"faults"]);
    row("trace", [&expected.commands, &expected.frames, &"", &""]);
    for format in FORMATS {
        let cell = |name: &str| read[format][name].to_string();
        let cells = ["commands", "frames", "tracks", "faults"].map(cell);
        row(format, cells.each_ref().map(|cell| cell as &dyn std::fmt::Display));
    }
}

fn ctl(name: &str, trace: &Path) -> Command {
    let mut command = Command::new(tree::artifacts(Profile::Dev).join("gapii-ctl"));
    command.arg(name).arg(trace);
    command
}

/// Records frames of glmark2-es2.
pub fn record(trace: &Path) -> anyhow::Result<()> {
    let display = XServer::start()?;
    let mut command = Command::new(tree::artifacts(Profile::Dev).join("gapii-ctl"));
    let frames = FRAMES.to_string();
    command.args(["run", "--timing", "--frames", &frames, "--quit", "--force", "-o"]).arg(trace);
    let scene = format!("build:nframes={}:duration=600", 10 * FRAMES);
    command.args(["--", "glmark2-es2", "--size", "640x480", "--benchmark", &scene]);
    command.env("DISPLAY", display.name()).stdin(Stdio::null());
    step::output(&mut command).map(drop)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn file_must_have_every_timed_command_and_swap_and_no_fault() {
        let stats = json!({
            "driver": {"commands": 70},
            "functions": [
                {"name": "eglSwapBuffers", "commands": 4},
                {"name": "glClear", "commands": 60},
                {"name": "eglSwapBuffersWithDamageKHR", "commands": 6}
            ]
        });
        let expected = Expected::of(&stats).unwrap();
        let file = |commands: u64, frames: u64, faults: u64| json!({"commands": commands, "frames": frames, "faults": faults});
        assert!(expected.is(&file(70, 10, 0)));
        for wrong in [file(69, 10, 0), file(70, 9, 0), file(70, 10, 1), Value::Null] {
            assert!(!expected.is(&wrong), "{wrong}");
        }
        assert!(Expected::of(&json!({"functions": []})).is_err());
    }
}
