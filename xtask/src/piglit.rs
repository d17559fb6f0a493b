//! `check-piglit`: records glmark2-es2 and plays the trace with piglit's `replayer.py` and the backend in `contrib/piglit`:
//! the right checksum must pass, and that of a picture with one other pixel must fail. Then compiles the programs of the
//! trace with piglit's `shader_runner`. Piglit is Debian's; its framework is copied into the build folder, where the
//! backend is added. Not part of `test`, because it needs Python's packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use crate::tree::Profile;
use crate::{build, exports, packages, step, tree};

/// The device's name in the list of traces; any name will do.
const DEVICE: &str = "gapii-check";
/// Debian's Python: another one does not have Debian's packages.
const PYTHON: &str = "/usr/bin/python3";
/// Exit status of the replayer if a picture differs.
const DIFFERS: i32 = 2;
/// Rounds in which frames are measured.
const ROUNDS: &str = "3";
/// A frame takes longer than this, in nanoseconds.
const FRAME_NS_MIN: u64 = 10_000;

/// Prints the checksum that the picture has once one of its pixels is changed. Argument: the picture.
const CHANGED: &str = "
import hashlib, sys
from PIL import Image
image = Image.open(sys.argv[1])
pixel = image.getpixel((0, 0))
image.putpixel((0, 0), (pixel[0] ^ 1,) + pixel[1:])
print(hashlib.md5(image.tobytes()).hexdigest())
";

/// Prints the times that the backend measures. Arguments: the folder of piglit, and a trace.
const PROFILE: &str = "
import sys
sys.path.insert(0, sys.argv[1])
from framework.replay.backends import gapii
print('times', *gapii.GapiiBackend.profile(sys.argv[2]))
";

pub fn run() -> anyhow::Result<()> {
    packages::install(&[packages::DEMO, packages::PIGLIT])?;
    build::product(Profile::Dev)?;
    let folder = tree::target().join("piglit");
    let replayer = Replayer::make(&folder)?;
    let traces = folder.join("traces");
    fs::create_dir_all(&traces)?;
    let trace = traces.join("glmark2-es2.gapii");
    exports::record(&trace)?;

    let picture = replayer.dump(&trace)?;
    let right = replayer.checksum(&picture)?;
    let changed = step::output(Command::new(PYTHON).args(["-c", CHANGED]).arg(&picture))?;
    for (what, checksum, expected) in
        [("the right checksum", right.as_str(), 0), ("one other pixel", changed.trim(), DIFFERS)]
    {
        let status = replayer.compare(&trace, checksum)?;
        println!("compare with {what}: status {status:?}");
        ensure!(status == Some(expected), "the status with {what} is not {expected}");
    }
    let mut profile = Command::new(PYTHON);
    profile.args(["-c", PROFILE]).arg(&replayer.folder).arg(&trace);
    let times = step::output(replayer.with_tools(&mut profile))?;
    let times = times.lines().find_map(|line| line.strip_prefix("times ")).unwrap_or_default();
    println!("profile: {times} ns");
    let times: Vec<u64> = times.split(' ').filter_map(|time| time.parse().ok()).collect();
    ensure!(times.len().to_string() == ROUNDS, "no time for each round");
    ensure!(times.iter().all(|time| *time >= FRAME_NS_MIN), "a frame takes longer");
    compile_programs(&trace, &folder.join("programs"))
}

/// Piglit's replayer with the backend.
struct Replayer {
    /// Folder with `bin` and `framework`.
    folder: PathBuf,
}

impl Replayer {
    fn make(folder: &Path) -> anyhow::Result<Replayer> {
        let files = step::output(Command::new("dpkg").args(["-L", "piglit"]))?;
        let script = files.lines().find(|file| file.ends_with("/piglit/bin/replayer.py"));
        let script = Path::new(script.context("Debian's piglit has no replayer.py")?);
        let piglit = script.parent().and_then(Path::parent).context("replayer.py has a folder")?;
        let folder = folder.join("framework");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(folder.join("bin"))?;
        fs::copy(script, folder.join("bin/replayer.py"))?;
        let copy =
            step::output(Command::new("cp").arg("-a").arg(piglit.join("framework")).arg(&folder));
        copy.context("piglit's framework can't be copied")?;
        let backend = tree::root().join("contrib/piglit/gapii.py");
        fs::copy(backend, folder.join("framework/replay/backends/gapii.py"))?;
        Ok(Replayer { folder })
    }

    /// Lets a command find `gapii-ctl`, and no display.
    fn with_tools<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let tool = tree::artifacts(Profile::Dev).join("gapii-ctl");
        command.env("PIGLIT_REPLAY_GAPII_BINARY", tool).env("PIGLIT_REPLAY_LOOP_TIMES", ROUNDS);
        // Debian's framework asks for it.
        command.env("PIGLIT_SOURCE_DIR", &self.folder);
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(PYTHON);
        command.arg(self.folder.join("bin/replayer.py")).args(words);
        self.with_tools(&mut command);
        command
    }

    /// Dumps the last frame, and returns its picture.
    fn dump(&self, trace: &Path) -> anyhow::Result<PathBuf> {
        let results = self.folder.join("dumped");
        let said = said(self.command(&["dump", "--output"]).arg(&results).arg(trace))?;
        let name = trace.file_name().unwrap_or_default().to_string_lossy();
        let picture = results.join(format!("{name}-last.png"));
        ensure!(picture.exists() && said.ends_with("OK\n"), "no picture was dumped: {said}");
        Ok(picture)
    }

    fn checksum(&self, picture: &Path) -> anyhow::Result<String> {
        let checksum = said(self.command(&["checksum"]).arg(picture))?.trim().to_owned();
        let is_md5 = checksum.len() == 32 && checksum.bytes().all(|byte| byte.is_ascii_hexdigit());
        ensure!(is_md5, "no checksum: {checksum}");
        Ok(checksum)
    }

    /// Compares a trace as Mesa's continuous integration does, and returns the exit status.
    fn compare(&self, trace: &Path, checksum: &str) -> anyhow::Result<Option<i32>> {
        let name = trace.file_name().unwrap_or_default().to_string_lossy();
        let list = self.folder.join("traces.yml");
        let text = format!(
            "traces:\n  - path: {name}\n    expectations:\n      - device: {DEVICE}\n        checksum: {checksum}\n"
        );
        fs::write(&list, text)?;
        let mut command = self.command(&["compare", "yaml", "-d", DEVICE, "-y"]);
        command.arg(&list).arg("-p").arg(trace.parent().unwrap_or(Path::new(".")));
        command.arg("-o").arg(self.folder.join("results"));
        Ok(command.status()?.code())
    }
}

/// Returns what a command of the replayer prints. Their exit status is 2 also if they succeed, except for `compare`.
fn said(command: &mut Command) -> anyhow::Result<String> {
    let output = command.stderr(Stdio::inherit()).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Exports the programs of a trace and compiles each.
fn compile_programs(trace: &Path, folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let mut export = Command::new(tree::artifacts(Profile::Dev).join("gapii-ctl"));
    export.arg("export").arg(trace).args(["--format", "shader-test", "-o"]).arg(folder);
    step::output(&mut export)?;
    let files = step::output(Command::new("dpkg").args(["-L", "piglit"]))?;
    let runner = files.lines().find(|file| file.ends_with("/bin/shader_runner_gles2"));
    let runner = runner.context("Debian's piglit has no shader_runner_gles2")?;
    let mut count = 0;
    for file in fs::read_dir(folder)? {
        let mut command = Command::new(runner);
        command.arg(file?.path()).args(["-auto", "-fbo"]);
        command.env("PIGLIT_PLATFORM", "surfaceless_egl");
        let output = step::output(&mut command)?;
        ensure!(output.contains(r#""result": "pass""#), "not compiled: {output}");
        count += 1;
    }
    println!("programs compiled by shader_runner: {count}");
    ensure!(count > 0, "the trace has no program");
    Ok(())
}
