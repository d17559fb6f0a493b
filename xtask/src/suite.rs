//! Test executables as cargo builds them, and the jobs that run them side by side. A job that takes more than 600 s
//! (`LIMIT`) is killed and counts as failed; one of 10 s or more (`LONG`) is listed with its times. Tests in `ALONE`
//! run while no other test does, those in `FIRST` begin first.
//!
//! Unit tests run as one job per executable. Whole-system tests run as one job per test, because most
//! of them wait for other processes; a job has a deadline, so a hanging test is named and killed.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, IsTerminal as _, Write as _, stderr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use crate::{child, lint, step};

/// The package whose integration tests are the whole-system tests.
pub const SYSTEM: &str = "gapii-tests";

/// Its targets, the folders of `tests/tests/`.
pub const TARGETS: &[&str] = &["daemon", "level_zero", "recording", "replay", "tools"];

/// Longest time that one job may take.
const LIMIT: Duration = Duration::from_secs(600);
/// Jobs that take longer are listed with their times.
const LONG: Duration = Duration::from_secs(10);

/// Whole-system tests that compare speeds, or load every core by themselves. Each runs while no other test does.
const ALONE: &[&str] = &[
    "daemon::service::sixteen_programs_and_eight_clients_get_what_is_theirs",
    "daemon::sharing::stalled_reader_slows_nobody_and_hears_what_it_missed",
];

/// The jobs that use most CPU time, longest first. They start before all others, so that no core waits for one of them
/// at the end.
const FIRST: &[&str] = &[
    "recording::transparency::programs_of_piglit_behave_as_natively",
    "recording::attach::program_is_captured_often_and_grows_by_nothing",
    "replay::apps::every_answer_and_frame_is_as_it_was_recorded",
    "recording::attach::programs_are_played_exactly_from_their_first_frame_on",
    "daemon::keep::programs_are_played_exactly_from_a_keyframe_on",
    "replay::apps::replay_that_is_recorded_has_the_same_commands",
    "recording::transparency::programs_of_one_subject_behave_as_natively",
    "recording::attach::programs_are_played_exactly_from_their_third_frame_on",
    "recording::attach::eglretrace_shows_programs_from_their_second_frame_on",
    "tools::tracers::captures_begin_and_end_while_tracers_come_and_go",
    "recording::transparency::texture_cases_behave_as_natively",
    "tools::export_apps::dumps_are_those_of_apitrace_s_own_recordings",
    "tools::export_apps::eglretrace_shows_what_each_program_read_back",
    "recording::transparency::vertex_cases_behave_as_natively",
    "recording::kill::killed_program_leaves_a_whole_trace",
    "recording::transparency::fixed_function_cases_behave_as_natively",
    "replay::images::frames_are_what_the_program_read_back",
    "daemon::remote::ssh_needs_no_port_and_its_connections_may_fail_too",
    "gapii-capture gapii_capture",
    "gapii-ringbuf all",
];

/// A test executable.
#[derive(Clone, Debug)]
pub struct Executable {
    pub package: String,
    /// Name of the cargo target, such as `daemon` for `tests/tests/daemon/main.rs`.
    pub target: String,
    /// True for a target of the package's folder `tests/`.
    is_integration: bool,
    path: PathBuf,
    /// Root of its package, where cargo would run it.
    folder: PathBuf,
}

/// Makes the command that runs an executable, such as [`Executable::here`].
pub type Start<'a> = &'a dyn Fn(&Executable) -> anyhow::Result<Command>;

/// Something to run: an executable, or one test of an executable.
pub struct Job {
    name: String,
    command: Command,
    is_alone: bool,
}

/// Results of the jobs.
#[derive(Default)]
pub struct Outcome {
    pub passed: usize,
    pub failed: Vec<String>,
    pub cpu_seconds: f64,
}

/// What cargo has built, or found fresh.
#[derive(Default)]
pub struct Built {
    pub tests: Vec<Executable>,
    /// Warnings of rustc and clippy about the workspace. A library and its unit tests are counted apart.
    pub warnings: usize,
}

impl Built {
    /// Adds what another call of cargo has built.
    pub fn extend(&mut self, other: Built) {
        self.tests.extend(other.tests);
        self.warnings += other.warnings;
    }

    /// Fails if the compilers had warnings.
    pub fn require_no_warnings(&self) -> anyhow::Result<()> {
        match self.warnings {
            0 => Ok(()),
            warnings => bail!("{warnings} warnings, printed with the build"),
        }
    }
}

/// Runs cargo with `arguments`, and with clippy in place of rustc; prints the compilers' messages.
pub fn build(arguments: &[&str]) -> anyhow::Result<Built> {
    let mut cargo = step::cargo(arguments);
    lint::compile_with_clippy(&mut cargo)?;
    let format = if stderr().is_terminal() { "json-diagnostic-rendered-ansi" } else { "json" };
    cargo.arg(format!("--message-format={format}")).stdout(Stdio::piped());
    let mut child =
        cargo.spawn().with_context(|| format!("can't start `{}`", step::line(&cargo)))?;
    let messages = child.stdout.take().context("the output is piped")?;
    let mut built = Built::default();
    for line in BufReader::new(messages).lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        if is_test(&message) {
            built.tests.push(executable(&message)?);
        }
        if let Some(diagnostic) = diagnostic(&message) {
            eprint!("{diagnostic}");
            built.warnings += 1;
        }
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("`{}` failed ({status})", step::line(&cargo));
    }
    Ok(built)
}

/// The text of a warning or an error at a place in the code; sums such as "2 warnings emitted" have none.
fn diagnostic(message: &Value) -> Option<&str> {
    let is_about_code =
        message["message"]["spans"].as_array().is_some_and(|spans| !spans.is_empty());
    (message["reason"] == "compiler-message" && is_about_code)
        .then(|| message["message"]["rendered"].as_str())?
}

fn is_test(message: &Value) -> bool {
    message["reason"] == "compiler-artifact"
        && message["profile"]["test"] == true
        && message["executable"].is_string()
}

fn executable(message: &Value) -> anyhow::Result<Executable> {
    let text = |value: &Value| value.as_str().map(str::to_owned).context("cargo names a target");
    let manifest = PathBuf::from(text(&message["manifest_path"])?);
    let folder = manifest.parent().context("a manifest lies in a folder")?.to_path_buf();
    Ok(Executable {
        package: package_name(&text(&message["package_id"])?),
        target: text(&message["target"]["name"])?,
        is_integration: message["target"]["kind"] == serde_json::json!(["test"]),
        path: PathBuf::from(text(&message["executable"])?),
        folder,
    })
}

/// The name in `path+file:///a/b#name@1.0.0` or `path+file:///a/name#1.0.0`.
fn package_name(id: &str) -> String {
    let (path, name) = id.rsplit_once('#').unwrap_or(("", id));
    match name.split_once('@') {
        Some((name, _)) => name.to_owned(),
        None => path.rsplit('/').next().unwrap_or(name).to_owned(),
    }
}

impl Executable {
    /// True for those with whole-system tests.
    pub fn is_system(&self) -> bool {
        self.package == SYSTEM && self.is_integration
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The executable, where cargo would run it.
    pub fn here(&self) -> anyhow::Result<Command> {
        let mut command = Command::new(&self.path);
        command.current_dir(&self.folder).stdin(Stdio::null());
        Ok(command)
    }

    /// All tests in one job, `threads` at a time.
    pub fn whole(&self, start: Start<'_>, threads: usize) -> anyhow::Result<Job> {
        let mut command = start(self)?;
        command.arg(format!("--test-threads={threads}"));
        Ok(Job { name: format!("{} {}", self.package, self.target), command, is_alone: false })
    }

    /// One job per test that `is_wanted` by its name, `TARGET::MODULE::TEST`. Ignored tests have none.
    pub fn each(
        &self,
        start: Start<'_>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> anyhow::Result<Vec<Job>> {
        let ignored: BTreeSet<String> = self.list(start, &["--ignored"])?.into_iter().collect();
        let mut jobs = Vec::new();
        for test in self.list(start, &[])?.into_iter().filter(|test| !ignored.contains(test)) {
            let name = format!("{}::{test}", self.target);
            if is_wanted(&name) {
                let mut command = start(self)?;
                command.args(["--exact", &test, "--test-threads=1"]);
                let is_alone = ALONE.contains(&name.as_str());
                jobs.push(Job { name, command, is_alone });
            }
        }
        Ok(jobs)
    }

    /// One job for a test `MODULE::TEST` that is ignored unless it is asked for.
    pub fn ignored(&self, start: Start<'_>, test: &str) -> anyhow::Result<Job> {
        let is_there = self.list(start, &["--ignored"])?.iter().any(|listed| listed == test);
        ensure!(is_there, "{} has no ignored test {test}", self.target);
        let mut command = start(self)?;
        command.args(["--ignored", "--exact", test, "--test-threads=1"]);
        Ok(Job { name: format!("{}::{test}", self.target), command, is_alone: false })
    }

    fn list(&self, start: Start<'_>, options: &[&str]) -> anyhow::Result<Vec<String>> {
        let mut command = start(self)?;
        let listed = step::output(command.args(["--list", "--format", "terse"]).args(options))?;
        Ok(listed
            .lines()
            .filter_map(|line| line.strip_suffix(": test"))
            .map(str::to_owned)
            .collect())
    }
}

impl Job {
    /// Leaves out the tests whose names contain `part`.
    pub fn skip(&mut self, part: &str) {
        self.command.args(["--skip", part]);
    }

    /// Sets a variable of its environment.
    pub fn set(&mut self, variable: &str, value: impl AsRef<OsStr>) {
        self.command.env(variable, value);
    }
}

/// Runs `jobs`, those of [`FIRST`] before the others, up to `width` at a time, then those that must be alone; prints
/// failures with their output.
pub fn run(jobs: Vec<Job>, width: usize) -> anyhow::Result<Outcome> {
    let progress = Mutex::new(Progress::new(jobs.len()));
    let (alone, mut together): (Vec<_>, Vec<_>) = jobs.into_iter().partition(|job| job.is_alone);
    // A stable sort: the others keep their order.
    together
        .sort_by_key(|job| FIRST.iter().position(|name| *name == job.name).unwrap_or(FIRST.len()));
    for (jobs, width) in [(together, width), (alone, 1)] {
        let queue = Mutex::new(VecDeque::from(jobs));
        std::thread::scope(|scope| {
            for _ in 0..width {
                scope.spawn(|| {
                    while let Some(job) = next(&queue) {
                        run_one(job, &progress);
                    }
                });
            }
        });
    }
    Ok(progress.into_inner().expect("no worker panics").finish())
}

/// CPU seconds of the jobs. Fails if any job did, and names the failed ones.
pub fn require_success(outcome: &Outcome) -> anyhow::Result<f64> {
    println!(
        "{} passed, {} failed, {:.0} CPU seconds",
        outcome.passed,
        outcome.failed.len(),
        outcome.cpu_seconds
    );
    if !outcome.failed.is_empty() {
        bail!("these failed:\n  {}", outcome.failed.join("\n  "));
    }
    Ok(outcome.cpu_seconds)
}

fn next(queue: &Mutex<VecDeque<Job>>) -> Option<Job> {
    queue.lock().expect("no worker panics").pop_front()
}

fn run_one(mut job: Job, progress: &Mutex<Progress>) {
    let began = Instant::now();
    let ended = child::run(&mut job.command, LIMIT);
    let mut progress = progress.lock().expect("no worker panics");
    match ended {
        Ok(ended) => {
            let verdict = match (ended.is_late, ended.status.success()) {
                (true, _) => Err(format!("killed after {} s", LIMIT.as_secs())),
                (false, true) => Ok(()),
                (false, false) => Err(ended.status.to_string()),
            };
            progress.add(&job, verdict, ended.took, ended.cpu_seconds, &ended.output);
        }
        Err(error) => progress.add(&job, Err(format!("{error:#}")), began.elapsed(), 0.0, ""),
    }
}

/// Results so far, and their display.
struct Progress {
    all: usize,
    outcome: Outcome,
    is_terminal: bool,
}

impl Progress {
    fn new(all: usize) -> Self {
        Self { all, outcome: Outcome::default(), is_terminal: stderr().is_terminal() }
    }

    fn add(
        &mut self,
        job: &Job,
        verdict: Result<(), String>,
        took: Duration,
        cpu_seconds: f64,
        output: &str,
    ) {
        self.outcome.cpu_seconds += cpu_seconds;
        self.erase_line();
        let times = format!("{:>5.1} s, {cpu_seconds:>5.1} s CPU", took.as_secs_f64());
        match verdict {
            Ok(()) => {
                self.outcome.passed += 1;
                if took >= LONG || std::env::var_os("GAPII_TEST_TIMES").is_some() {
                    println!("ok      {times}  {}", job.name);
                }
                notes(output).for_each(|note| println!("{}: {note}", job.name));
            }
            Err(why) => {
                println!("{}\nFAILED  {times}  {}: {why}", output.trim_end(), job.name);
                println!("        run it again: {}", step::line(&job.command));
                self.outcome.failed.push(job.name.clone());
            }
        }
        self.show_line();
    }

    fn show_line(&self) {
        if self.is_terminal {
            let done = self.outcome.passed + self.outcome.failed.len();
            eprint!("{done} of {}, {} failed", self.all, self.outcome.failed.len());
            // Only a display.
            let _ = stderr().flush();
        }
    }

    fn erase_line(&self) {
        if self.is_terminal {
            eprint!("\r\x1b[K");
        }
    }

    fn finish(self) -> Outcome {
        self.erase_line();
        self.outcome
    }
}

/// The lines that a test wrote to be shown although it passes.
fn notes(output: &str) -> impl Iterator<Item = &str> {
    output.lines().filter_map(|line| line.strip_prefix("note: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(name: &str, script: &str) -> Job {
        let mut command = step::command("sh", &["-c", script]);
        command.stdin(Stdio::null());
        Job { name: name.to_owned(), command, is_alone: name == "alone" }
    }

    #[test]
    fn package_is_named_by_both_forms_of_an_id() {
        assert_eq!(package_name("path+file:///a/ctl#gapii-ctl@0.1.0"), "gapii-ctl");
        assert_eq!(package_name("path+file:///a/xtask#0.1.0"), "xtask");
    }

    #[test]
    fn failed_jobs_are_named_and_the_others_still_run() {
        let jobs = vec![shell("a", "exit 1"), shell("b", "true"), shell("alone", "true")];
        let outcome = run(jobs, 2).unwrap();
        assert_eq!((outcome.passed, outcome.failed.as_slice()), (2, &["a".to_owned()][..]));
        assert!(require_success(&outcome).unwrap_err().to_string().contains("a"));
    }

    #[test]
    fn notes_are_the_lines_that_begin_with_the_word() {
        let output = "\nrunning 1 test\nnote: not counted\na note: no\n";
        assert_eq!(notes(output).collect::<Vec<_>>(), ["not counted"]);
    }

    #[test]
    fn job_that_must_be_alone_runs_after_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let marker = folder.path().join("done");
        let marker = marker.display();
        let jobs = vec![
            shell("alone", &format!("test -e {marker}")),
            shell("a", &format!("sleep 0.1; touch {marker}")),
        ];
        assert_eq!(run(jobs, 2).unwrap().passed, 2);
    }

    #[test]
    fn longest_jobs_start_first() {
        let folder = tempfile::tempdir().unwrap();
        let marker = folder.path().join("started");
        let marker = marker.display();
        let jobs = vec![
            shell("a", &format!("test -e {marker}")),
            shell(FIRST[0], &format!("touch {marker}")),
        ];
        assert_eq!(run(jobs, 1).unwrap().passed, 2);
    }

    /// A test that is renamed would lose its place.
    #[test]
    fn listed_tests_exist() {
        for name in FIRST.iter().chain(ALONE).filter(|name| !name.contains(' ')) {
            let names: Vec<_> = name.split("::").collect();
            let [target, module, test] = names[..] else { panic!("{name} has no three parts") };
            let file = crate::tree::root().join(format!("tests/tests/{target}/{module}.rs"));
            let text = std::fs::read_to_string(file).unwrap();
            assert!(text.contains(&format!("fn {test}()")), "{name}");
        }
    }
}
