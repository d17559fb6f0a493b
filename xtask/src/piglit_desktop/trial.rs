//! `Trial`: one test of piglit, run natively, while it is recorded, and as a replay of the trace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::list::Test;
use crate::child::{self, Ended};
use crate::xserver::XServer;

/// Seconds that a test may take natively. A slower one does not count as passed.
const NATIVE_SECONDS: u64 = 30;
/// Seconds that it may take while it is recorded, and its replay.
const RECORDED_SECONDS: u64 = 180;
/// How much longer than `timeout` a program may need to end.
const GRACE: Duration = Duration::from_secs(30);

/// What begins the lines in which a test says its results.
const RESULT: &str = "PIGLIT: ";

/// What gapii-ctl says about tests that draw into framebuffer objects alone.
const NO_FRAME: &str = "the trace has no frame";

/// Where tests run.
pub struct Place {
    pub piglit: PathBuf,
    pub ctl: PathBuf,
    /// `PIGLIT_PLATFORM`.
    pub platform: String,
    /// Folder for traces; those of trials that differ stay.
    pub traces: PathBuf,
}

/// Results of a test that passes natively.
pub struct Trial {
    /// How the recorded run differs from the native one.
    pub differences: Vec<String>,
    /// None if it was not asked for.
    pub replay: Option<Replay>,
}

/// What `gapii-ctl replay --verify` says.
#[derive(Default)]
pub struct Replay {
    pub compared: u64,
    pub equal: u64,
    pub tolerated: u64,
    /// Answers that differ, by function; `frame` for pixels of frames; `replay` if the trace could not be played.
    pub different: BTreeMap<String, u64>,
    /// The first difference, as a sentence.
    pub first: Option<String>,
}

impl Place {
    /// Runs a test natively, and returns its output, or what it says instead of having passed.
    pub fn native(&self, test: &Test, server: &XServer) -> anyhow::Result<Result<Ended, String>> {
        let ended = self.run(&[], test, server, NATIVE_SECONDS)?;
        let said = ended.output.lines().rev().find_map(|line| {
            let result = line.strip_prefix(RESULT)?.split_once("\"result\": \"")?.1;
            result.split('"').next()
        });
        Ok(match said {
            _ if ended.is_late => Err(format!("longer than {NATIVE_SECONDS} s")),
            Some("pass") if ended.status.success() => Ok(ended),
            Some("pass") | None => Err("crash".to_owned()),
            Some(other) => Err(other.to_owned()),
        })
    }

    /// Records a test that has passed, compares its output, and plays the trace if this is asked for.
    pub fn record(
        &self,
        test: &Test,
        native: &Ended,
        replays: bool,
        server: &XServer,
    ) -> anyhow::Result<Trial> {
        let name =
            test.name.replace(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c), "_");
        let trace = self.traces.join(format!("{name}.gapii"));
        let path = trace.to_string_lossy().into_owned();
        let ctl = self.ctl.to_string_lossy().into_owned();
        let words = [&*ctl, "run", "--force", "--observe-frames", "1", "-o", &path, "--"];
        let recorded = self.run(&words, test, server, RECORDED_SECONDS)?;
        let mut differences = Vec::new();
        if recorded.is_late {
            differences.push(format!("longer than {RECORDED_SECONDS} s"));
        } else if native.status.code() != recorded.status.code() {
            differences.push(format!("{}, not {}", recorded.status, native.status));
        }
        let is_result = |line: &&str| line.starts_with(RESULT);
        if let Some(line) = difference(&native.output, &recorded.output, is_result) {
            differences.push(line);
        } else if let Some(line) = difference(&native.output, &recorded.output, |_| true) {
            let again = self.run(&[], test, server, NATIVE_SECONDS)?;
            if difference(&native.output, &again.output, |_| true).is_none() {
                differences.push(line);
            }
        }
        let said = recorded.output.lines().filter(|line| line.starts_with("gapii"));
        let is_news = |line: &&str| !line.contains(" -> ") && !line.contains(NO_FRAME);
        differences.extend(said.filter(is_news).map(str::to_owned));
        let replay = match replays {
            true => Some(self.replay(&ctl, &path, server)?),
            false => None,
        };
        let trial = Trial { differences, replay };
        if trial.is_identical() {
            // A run that wrote no trace has a difference.
            std::fs::remove_file(&trace)?;
        }
        Ok(trial)
    }

    /// Plays a trace with windows: without them a surface has one colour buffer, which some tests notice.
    fn replay(&self, ctl: &str, trace: &str, server: &XServer) -> anyhow::Result<Replay> {
        let seconds = RECORDED_SECONDS.to_string();
        let mut command = Command::new("timeout");
        command.args(["--foreground", "--kill-after=10", &seconds, ctl]);
        command.args(["replay", "--window", "--verify", "--json", trace]);
        command.env("DISPLAY", server.name()).env_remove("WAYLAND_DISPLAY");
        command.env("MESA_SHADER_CACHE_DISABLE", "true");
        let ended = child::run(&mut command, limit(RECORDED_SECONDS))?;
        // Messages are on standard error, which is here too.
        let text = ended.output.find('{').map_or("", |at| &ended.output[at..]);
        let said = serde_json::Deserializer::from_str(text).into_iter::<Value>().next();
        Ok(match said {
            Some(Ok(said)) => Replay::of(&said),
            _ => {
                let last = ended.output.lines().last().unwrap_or_default();
                let different = BTreeMap::from([("replay".to_owned(), 1)]);
                let first = Some(format!("{}: {last}", ended.status));
                Replay { different, first, ..Replay::default() }
            }
        })
    }

    fn run(
        &self,
        before: &[&str],
        test: &Test,
        server: &XServer,
        seconds: u64,
    ) -> anyhow::Result<Ended> {
        let seconds_text = seconds.to_string();
        let mut command = Command::new("timeout");
        command.args(["--foreground", "--kill-after=10", &seconds_text]).args(before);
        command.arg(self.piglit.join("bin").join(&test.program)).args(&test.arguments).arg("-auto");
        if test.is_offscreen {
            command.arg("-fbo");
        }
        command.env("PIGLIT_PLATFORM", &self.platform).env("PIGLIT_SOURCE_DIR", &self.piglit);
        command.env("DISPLAY", server.name()).env_remove("WAYLAND_DISPLAY");
        // The compiler repeats no warning about a shader that it finds in the cache.
        command.env("MESA_SHADER_CACHE_DISABLE", "true").current_dir(&self.traces);
        let mut ended = child::run(&mut command, limit(seconds))?;
        ended.is_late |= ended.took >= Duration::from_secs(seconds);
        Ok(ended)
    }
}

fn limit(seconds: u64) -> Duration {
    Duration::from_secs(seconds) + GRACE
}

/// The first line of two outputs that differs, without lines of gapii.
fn difference(native: &str, recorded: &str, counts: impl Fn(&&str) -> bool) -> Option<String> {
    let lines = |text| {
        let lines = str::lines(text).filter(|line| !line.starts_with("gapii"));
        lines.filter(&counts).map(str::to_owned).collect::<Vec<_>>()
    };
    let (native, recorded) = (lines(native), lines(recorded));
    let at =
        (0..native.len().max(recorded.len())).find(|at| native.get(*at) != recorded.get(*at))?;
    Some(format!("says {:?}, not {:?}", recorded.get(at), native.get(at)))
}

impl Trial {
    /// Nothing differs.
    pub fn is_identical(&self) -> bool {
        let played = self.replay.as_ref().is_none_or(|replay| replay.different.is_empty());
        self.differences.is_empty() && played
    }

    pub fn json(&self) -> Value {
        let replay =
            self.replay.as_ref().map(|Replay { compared, equal, tolerated, different, first }| {
                json!({ "compared": compared, "equal": equal, "tolerated": tolerated,
                    "different": different, "first": first })
            });
        json!({ "differences": self.differences, "replay": replay })
    }
}

impl Replay {
    /// From the JSON of `replay --verify`.
    fn of(said: &Value) -> Self {
        let verified = &said["verified"];
        let number = |name: &str| verified[name].as_u64().unwrap_or(0);
        let listed = verified["differences"].as_array().map_or(&[][..], Vec::as_slice);
        let mut different = BTreeMap::new();
        for difference in listed {
            let function = difference["function"].as_str().unwrap_or("?").to_owned();
            *different.entry(function).or_insert(0) += 1;
        }
        let left_out = number("different").saturating_sub(listed.len() as u64);
        if left_out > 0 {
            different.insert("others".to_owned(), left_out);
        }
        let skipped = said["skips_by_function"].as_object().into_iter().flatten();
        different.extend(
            skipped.map(|(name, count)| (format!("skipped {name}"), count.as_u64().unwrap_or(0))),
        );
        let first = listed.first().map(|it| {
            let text = |name: &str| it[name].as_str().unwrap_or_default().to_owned();
            format!(
                "#{} {} {}: {}, not {}",
                it["seq"],
                text("function"),
                text("part"),
                text("seen"),
                text("expected")
            )
        });
        let skip = said["skips"].as_array().and_then(|skips| skips.first());
        let first = first
            .or_else(|| skip.map(|it| format!("#{} {}: {}", it["seq"], it["function"], it["why"])));
        let (compared, equal, tolerated) =
            (number("compared"), number("equal"), number("tolerated"));
        Self { compared, equal, tolerated, different, first }
    }
}

/// Path of the folder of Debian's piglit.
pub fn piglit() -> anyhow::Result<PathBuf> {
    let files = crate::step::output(Command::new("dpkg").args(["-L", "piglit"]))?;
    let runner = files.lines().find(|file| file.ends_with("/piglit/bin/shader_runner"));
    let folder = runner.and_then(|file| Path::new(file).parent()?.parent().map(Path::to_owned));
    anyhow::Context::context(folder, "Debian's piglit has no shader_runner")
}
