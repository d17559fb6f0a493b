//! Conditions that a capture waits for before it records a process. Users write them as `function=glClear` (a pattern),
//! `gl-error`, `frame-longer=20ms` (ns, us, ms or s, more than 0) or `frame=100` (frames since the process connected).
//! A function that no command fits is refused, so that the wait can end.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use gapii_trace::Description;
use gapii_trace::filter::Filter;

/// A condition. The capture waits for it in each process separately.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Trigger {
    /// The process calls a function whose name matches this pattern.
    Function(String),
    /// `glGetError` returns an error.
    GlError,
    /// More than this many nanoseconds pass between two swaps.
    FrameLonger(u64),
    /// The process has ended this many frames since it connected.
    Frame(u64),
}

impl Trigger {
    /// Returns a sentence about why the condition can never come true, or `None` if it can.
    pub fn mistake(&self, description: &Description) -> Option<String> {
        match self {
            Self::Function(name) => {
                Filter { functions: vec![name.clone()], ..Filter::default() }.mistake(description)
            }
            Self::GlError | Self::FrameLonger(_) | Self::Frame(_) => None,
        }
    }
}

impl FromStr for Trigger {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "gl-error" => Ok(Self::GlError),
            Some(("function", name)) if !name.is_empty() => Ok(Self::Function(name.to_owned())),
            Some(("frame", number)) => match number.parse() {
                Ok(frame) => Ok(Self::Frame(frame)),
                Err(_) => Err(format!("{number:?} is not the number of a frame")),
            },
            Some(("frame-longer", time)) => {
                nanoseconds(time).map(Self::FrameLonger).ok_or_else(|| {
                    format!("{time:?} is not a time; write a time as 20ms, 1.5s or 800us")
                })
            }
            _ => {
                Err("a trigger is function=NAME, gl-error, frame-longer=TIME or frame=N".to_owned())
            }
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function(name) => write!(f, "function={}", name.escape_debug()),
            Self::GlError => write!(f, "gl-error"),
            Self::FrameLonger(ns) => {
                let time = format!("{:?}", Duration::from_nanos(*ns)).replace('µ', "u");
                write!(f, "frame-longer={time}")
            }
            Self::Frame(frame) => write!(f, "frame={frame}"),
        }
    }
}

/// Parses a time with its unit, such as `20ms`. Returns `None` for 0 and for anything else that is not a
/// time.
pub fn nanoseconds(text: &str) -> Option<u64> {
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(at);
    let seconds = match unit {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return None,
    };
    let time = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?;
    u64::try_from(time.as_nanos()).ok().filter(|ns| *ns > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triggers_are_written_as_they_are_said() {
        for (text, expected) in [
            ("function=glDraw*", Trigger::Function("glDraw*".to_owned())),
            ("gl-error", Trigger::GlError),
            ("frame-longer=20ms", Trigger::FrameLonger(20_000_000)),
            ("frame-longer=1.5s", Trigger::FrameLonger(1_500_000_000)),
            ("frame-longer=800us", Trigger::FrameLonger(800_000)),
            ("frame=100", Trigger::Frame(100)),
        ] {
            assert_eq!(text.parse(), Ok(expected.clone()), "{text}");
            assert_eq!(expected.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_trigger_is_refused() {
        for text in [
            "",
            "error",
            "gl-error=1",
            "function",
            "function=",
            "frame=x",
            "frame=-1",
            "frame-longer=20",
            "frame-longer=0ms",
            "frame-longer=ms",
            "frame-longer=-1s",
            "frame-longer=nans",
            "frame-longer=1e30s",
            "frame-longer=2h",
        ] {
            assert!(text.parse::<Trigger>().is_err(), "{text}");
        }
    }
}
