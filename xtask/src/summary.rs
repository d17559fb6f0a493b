//! Checks that run one after the other or side by side, and the table of their results. A failing check does not stop
//! the others; the end lists the failed checks, each with the command that runs it again. A command beside the tests is
//! killed after 1,800 s (`LIMIT_ASIDE`).

use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::bail;

use crate::child;

/// Longest time that a command beside the tests may take.
const LIMIT_ASIDE: Duration = Duration::from_secs(1800);

/// One line of the summary.
struct Verdict {
    name: &'static str,
    /// The command that runs the check again.
    again: &'static str,
    passed: bool,
    took: Duration,
    /// None for a check that ran beside others in this process.
    cpu_seconds: Option<f64>,
}

/// The checks so far.
pub struct Summary {
    began: Instant,
    verdicts: Mutex<Vec<Verdict>>,
}

impl Default for Summary {
    /// Begins now.
    fn default() -> Self {
        Self { began: Instant::now(), verdicts: Mutex::default() }
    }
}

impl Summary {
    /// Runs a check that prints as it goes, while nothing else runs in this process.
    pub fn check(
        &self,
        name: &'static str,
        again: &'static str,
        run: impl FnOnce() -> anyhow::Result<()>,
    ) {
        let cpu_before = child::own_cpu_seconds();
        self.check_measured(name, again, || {
            run()?;
            Ok(child::own_cpu_seconds() - cpu_before)
        });
    }

    /// Runs a check that prints as it goes, while commands of this process run beside it.
    pub fn check_beside(
        &self,
        name: &'static str,
        again: &'static str,
        run: impl FnOnce() -> anyhow::Result<()>,
    ) {
        self.check_whole(name, again, || run().map(|()| None));
    }

    /// Runs a check that prints as it goes and returns the CPU seconds that it used.
    pub fn check_measured(
        &self,
        name: &'static str,
        again: &'static str,
        run: impl FnOnce() -> anyhow::Result<f64>,
    ) {
        self.check_whole(name, again, || run().map(Some));
    }

    fn check_whole(
        &self,
        name: &'static str,
        again: &'static str,
        run: impl FnOnce() -> anyhow::Result<Option<f64>>,
    ) {
        println!("\n== {name}");
        let began = Instant::now();
        let done = run();
        if let Err(error) = &done {
            eprintln!("{name}: {error:#}");
        }
        let (passed, took, cpu_seconds) = (done.is_ok(), began.elapsed(), done.ok().flatten());
        self.add(Verdict { name, again, passed, took, cpu_seconds });
    }

    /// Runs a command beside other checks; its output is printed whole at its end.
    pub fn check_aside(&self, name: &'static str, again: &'static str, mut command: Command) {
        let verdict = match child::run(&mut command, LIMIT_ASIDE) {
            Ok(ended) => {
                let passed = ended.status.success() && !ended.is_late;
                let (took, cpu_seconds) = (ended.took, Some(ended.cpu_seconds));
                // One call, so that lines of other checks stay outside.
                print!("\n== {name}\n{}", if passed { "" } else { &ended.output });
                Verdict { name, again, passed, took, cpu_seconds }
            }
            Err(error) => {
                eprintln!("{name}: {error:#}");
                Verdict { name, again, passed: false, took: Duration::ZERO, cpu_seconds: None }
            }
        };
        self.add(verdict);
    }

    fn add(&self, verdict: Verdict) {
        self.verdicts.lock().expect("no check panics").push(verdict);
    }

    /// Prints the table; fails if a check failed.
    pub fn finish(self) -> anyhow::Result<()> {
        let took = self.began.elapsed();
        let verdicts = self.verdicts.into_inner().expect("no check panics");
        println!("\n== summary          {:>25}  {:>5}", "seconds", "CPU");
        for Verdict { name, passed, took, cpu_seconds, .. } in &verdicts {
            let word = if *passed { "ok" } else { "FAILED" };
            let cpu = cpu_seconds.map_or("-".to_owned(), |seconds| format!("{seconds:.0}"));
            println!("{word:8}{name:36}{:>5}  {cpu:>5}", took.as_secs());
        }
        println!("{:8}{:36}{:>5}  {:>5.0}", "", "all", took.as_secs(), child::own_cpu_seconds());
        let failed: Vec<_> = verdicts.iter().filter(|verdict| !verdict.passed).collect();
        println!("checks: {} passed, {} failed", verdicts.len() - failed.len(), failed.len());
        if failed.is_empty() {
            return Ok(());
        }
        let again: Vec<_> = failed.iter().map(|failed| format!("\n  {}", failed.again)).collect();
        bail!("run again what failed:{}", again.concat())
    }
}
