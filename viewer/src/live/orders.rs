//! Orders of the page's buttons, and the words of the command line that carry them out.

use std::ffi::OsString;

use serde::Deserialize;

/// A capture of a running program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// Process id of the program; all programs without it.
    pid: Option<u32>,
    /// Frames after which it ends.
    frames: Option<u64>,
    /// Seconds after which it ends.
    seconds: Option<f64>,
    /// Functions and debug groups at which frames end, separated by spaces; swaps end frames without any.
    #[serde(default)]
    frame_end: String,
    /// With the time of each command.
    #[serde(default)]
    timing: bool,
    /// With the time on the GPU of each draw, clear, copy and dispatch.
    #[serde(default)]
    gpu_timing: bool,
}

/// Frames that the daemon has kept of a program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Save {
    /// Process id of the program.
    pid: u32,
    /// The last frames; all that are kept without it.
    last: Option<u64>,
}

impl Capture {
    /// Returns the program in words.
    pub fn of(&self) -> String {
        self.pid.map_or_else(|| "all programs".to_owned(), program)
    }

    /// Returns the words of `gapii-ctl start`.
    pub fn words(&self) -> Vec<OsString> {
        let mut words = vec!["start".to_owned()];
        words.push(self.pid.map_or_else(|| "--all".to_owned(), |pid| format!("--app={pid}")));
        words.extend(self.frames.map(|frames| format!("--frames={frames}")));
        words.extend(self.seconds.map(|seconds| format!("--seconds={seconds}")));
        let ends = self.frame_end.split_whitespace();
        words.extend(ends.map(|end| format!("--frame-end={end}")));
        words.extend(self.timing.then(|| "--timing".to_owned()));
        words.extend(self.gpu_timing.then(|| "--gpu-timing".to_owned()));
        words.into_iter().map(Into::into).collect()
    }
}

impl Save {
    /// Returns the program in words.
    pub fn of(&self) -> String {
        program(self.pid)
    }

    /// Returns the words of `gapii-ctl save`.
    pub fn words(&self) -> Vec<OsString> {
        let mut words = vec!["save".to_owned(), format!("--app={}", self.pid)];
        words.extend(self.last.map(|last| format!("--last={last}")));
        words.into_iter().map(Into::into).collect()
    }
}

fn program(pid: u32) -> String {
    format!("process {pid}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[OsString], expected: &str) {
        let words: Vec<_> = words.iter().map(|it| it.to_string_lossy()).collect();
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn options_are_those_that_were_ordered() {
        let read = |text| serde_json::from_str::<Capture>(text).expect("an order");
        check(&read("{}").words(), "start --all");
        let one = read(r#"{"pid":7,"frames":9,"seconds":0.5,"timing":true,"gpu_timing":true}"#);
        check(&one.words(), "start --app=7 --frames=9 --seconds=0.5 --timing --gpu-timing");
        let ends = read(r#"{"pid":7,"frame_end":" glFlush  group:frame"}"#);
        check(&ends.words(), "start --app=7 --frame-end=glFlush --frame-end=group:frame");
        check(&Save { pid: 7, last: None }.words(), "save --app=7");
        check(&Save { pid: 7, last: Some(3) }.words(), "save --app=7 --last=3");
    }

    #[test]
    fn what_is_not_known_is_refused() {
        assert!(serde_json::from_str::<Capture>(r#"{"pid":7,"output":"/etc/passwd"}"#).is_err());
        assert!(serde_json::from_str::<Save>(r#"{"pid":"7"}"#).is_err());
    }
}
