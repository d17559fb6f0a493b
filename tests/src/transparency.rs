//! Runs a program with the shim and without it, and compares exit status, output and the pictures that it read back.
//!
//! Of the recording, it asks only whether it has commands. Figures of programs that print times or addresses are masked; everything else must be
//! the same to the byte.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::display::Display;
use crate::gapii::Session;
use crate::loading::offscreen;
use crate::process::{Finished, run};

/// One program with arguments and environment, whose two runs must look the same.
pub struct Case<'a> {
    pub name: String,
    words: Vec<String>,
    environment: Vec<(&'static str, String)>,
    /// `None` for Mesa's surfaceless platform.
    display: Option<&'a Display>,
    /// Prints figures that differ from run to run.
    has_figures: bool,
    /// Must exit with 0 natively.
    succeeds: bool,
    /// Ends before its first command; every other program must have commands in its recording.
    is_silent: bool,
    /// Shows warnings of the shader compiler.
    reads_warnings: bool,
}

impl<'a> Case<'a> {
    /// `words`, on Mesa's surfaceless platform.
    pub fn new<W: Into<String>>(name: &str, words: impl IntoIterator<Item = W>) -> Self {
        let words = words.into_iter().map(Into::into).collect();
        Self {
            name: name.into(),
            words,
            environment: Vec::new(),
            display: None,
            has_figures: false,
            succeeds: false,
            is_silent: false,
            reads_warnings: false,
        }
    }

    pub fn on(mut self, display: &'a Display) -> Self {
        self.display = Some(display);
        self
    }

    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// Digits, and words that follow `0x`, are not compared.
    pub fn with_figures(mut self) -> Self {
        self.has_figures = true;
        self
    }

    /// A native run that exits with anything but 0 is a difference too.
    pub fn succeeds(mut self) -> Self {
        self.succeeds = true;
        self
    }

    /// The program shows what the shader compiler says about shaders that compile. Mesa does not repeat it for a shader
    /// that it finds in its cache, so both runs get caches of their own, which is slow.
    pub fn reads_warnings(mut self) -> Self {
        self.reads_warnings = true;
        self
    }

    /// The program ends before its first command.
    pub fn calls_nothing(mut self) -> Self {
        self.is_silent = true;
        self
    }

    /// The program, with the folder for its frames.
    fn command(&self, frames: &Path) -> Command {
        let mut command = match self.display {
            Some(display) => display.command(&self.words),
            None => offscreen(self.words[0].as_ref(), &self.words[1..]),
        };
        command.env("GAPII_APP_FRAMES", frames);
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        command
    }

    /// Runs the case natively and captured; returns one sentence per difference.
    pub fn differences(&self, session: &Session) -> Vec<String> {
        let [native_frames, captured_frames] =
            ["native", "captured"].map(|way| session.path(&format!("{way}-{}", self.name)));
        for folder in [&native_frames, &captured_frames] {
            fs::create_dir_all(folder).expect("the session's folder is writable");
        }
        let [mut native, mut captured] =
            [&native_frames, &captured_frames].map(|frames| self.command(frames));
        if self.reads_warnings {
            for (way, command) in [("native", &mut native), ("captured", &mut captured)] {
                command.env("MESA_SHADER_CACHE_DIR", session.path(&format!("{way}.cache")));
            }
        }
        // The captured program has the session's folder too.
        let native = run(native.env("XDG_RUNTIME_DIR", session.path("")));
        let recording = session.record(&[], &captured);
        let mut found = self.in_behaviour(&native, &recording.run);
        found.extend(in_files(&native_frames, &captured_frames));
        let is_summary = |line: &&str| line.starts_with("gapii-ctl: ") && line.contains(" -> ");
        match recording.run.stderr.lines().find(is_summary) {
            None => found.push(format!("nothing was recorded: {}", recording.run)),
            Some(line) if line.contains(", 0 commands of ") != self.is_silent => {
                found.push(format!("what was recorded: {line}"));
            }
            Some(_) => {}
        }
        for path in [&native_frames, &captured_frames] {
            fs::remove_dir_all(path).expect("the session's folder is writable");
        }
        fs::remove_file(&recording.trace.path).expect("the trace was written");
        found
    }

    fn in_behaviour(&self, native: &Finished, captured: &Finished) -> Vec<String> {
        let mut found = Vec::new();
        if self.succeeds && native.shell_status() != 0 {
            found.push(format!("fails natively: {native}"));
        }
        if native.shell_status() != captured.shell_status() {
            found.push(format!("exit status of {captured}, not {}", native.status));
        }
        let streams = [
            ("stdout", &native.stdout, &captured.stdout),
            ("stderr", &native.stderr, &captured.stderr),
        ];
        for (name, native, captured) in streams {
            if let Some(line) = first_difference(&self.lines(native), &self.lines(captured)) {
                found.push(format!("{name}: {line}"));
            }
        }
        found
    }

    fn lines(&self, text: &str) -> Vec<String> {
        let lines = text.lines().filter(|line| !line.starts_with("gapii-ctl:"));
        lines.map(|line| if self.has_figures { masked(line) } else { line.to_owned() }).collect()
    }
}

/// The first line in which two texts differ.
fn first_difference(native: &[String], captured: &[String]) -> Option<String> {
    let longest = native.len().max(captured.len());
    let line = |lines: &[String], at: usize| lines.get(at).cloned();
    let at = (0..longest).find(|&at| line(native, at) != line(captured, at))?;
    Some(format!("line {}: {:?}, not {:?}", at + 1, line(captured, at), line(native, at)))
}

/// Compares the names and contents of the files in two folders.
fn in_files(native: &Path, captured: &Path) -> Vec<String> {
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).expect("a folder that was made").flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort_unstable();
        names
    };
    let (ours, theirs) = (names(captured), names(native));
    if ours != theirs {
        return vec![format!("read back {ours:?}, not {theirs:?}")];
    }
    let differs = |name: &&std::ffi::OsString| {
        let [ours, theirs] = [captured, native].map(|folder| fs::read(folder.join(name)));
        ours.expect("a file that was listed") != theirs.expect("a file that was listed")
    };
    ours.iter().filter(differs).map(|name| format!("{} differs", name.display())).collect()
}

/// Replaces each figure, decimal or hexadecimal, by one `#`.
fn masked(line: &str) -> String {
    let mut masked = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let digits = rest.strip_prefix("0x").map(|r| 2 + length(r, |c| c.is_ascii_hexdigit()));
        let figure = digits.unwrap_or(length(rest, |c| c.is_ascii_digit() || c == '.'));
        if figure > 0 && (c.is_ascii_digit() || masked.ends_with('#')) {
            if !masked.ends_with('#') {
                masked.push('#');
            }
            rest = &rest[figure..];
        } else {
            masked.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    masked
}

fn length(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

/// Runs every case in one session with its own daemon.
///
/// # Panics
/// If a case differs, or if there are fewer than `least` cases.
pub fn check(cases: &[Case<'_>], least: usize) {
    assert!(cases.len() >= least, "{} cases, not {least}", cases.len());
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut found = Vec::new();
    for case in cases {
        let differences = case.differences(&session);
        found.extend(differences.into_iter().map(|what| format!("{}: {what}", case.name)));
    }
    println!("transparency: {} cases, {} differences", cases.len(), found.len());
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_masked_and_words_are_not() {
        let check = |line: &str, expected: &str| assert_eq!(masked(line), expected, "{line}");
        check("FPS: 60.25 FrameTime: 16.6 ms", "FPS: # FrameTime: # ms");
        check("context 0x7f80aabbccdd, ES 2", "context #, ES #");
        check("no figures. None.", "no figures. None.");
    }

    #[test]
    fn first_line_that_differs_is_named() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(first_difference(&lines("a\nb"), &lines("a\nb")), None);
        let found = first_difference(&lines("a\nb"), &lines("a")).unwrap();
        assert_eq!(found, "line 2: None, not Some(\"b\")");
    }
}
