//! Flags that several commands share, each defined once, with defaults. Refuses numbers out of range: 0 frames, sizes
//! below 1 MiB, an empty range of frames, addresses other than `unix:PATH`; the daemon checks the rest. `--via` wins
//! over `--connect`, unless only `--connect` is typed. `--submits` counts as frames. Kept frames exclude limits,
//! filters and triggers.

use std::ffi::OsString;
use std::io;
use std::num::{NonZeroU32, NonZeroU64};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use gapii_commands::Api;
use gapii_control::trigger::{Trigger, nanoseconds};
use gapii_control::{KeepRequest, StartRequest, StopRequest, Target};
use gapii_remote::VIA_VARIABLE;
use gapii_trace::filter;
use gapii_trace::frame_rule::FrameRule;

use crate::failure::Failure;
use crate::sandbox::Wish;
use crate::via::Via;

/// Smallest value of --keep-bytes, --bytes and --memory, in bytes.
const KEEP_BYTES_MIN: u64 = 1 << 20;

/// Address of a local daemon's socket for clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Unix(PathBuf),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        match text.strip_prefix("unix:") {
            Some("") => Err("the path after unix: is empty".into()),
            Some(path) => Ok(Address::Unix(path.into())),
            None if text.starts_with('/') => Ok(Address::Unix(text.into())),
            None if text.starts_with("tcp:") => {
                Err("use --via tls://HOST or --via ssh://HOST for a daemon of another machine"
                    .into())
            }
            None => Err("an address is unix:PATH".into()),
        }
    }
}

/// Limits of a replay: a trace decides how much the driver allocates and how long it computes.
#[derive(Args, Clone, Debug, Default)]
pub struct Allowance {
    /// Memory that a replay may use, with K, M or G [default: half of the available memory]
    ///
    /// A replay that uses more is ended, with status 1. Counted is the memory of this process with the driver in it, not
    /// a GPU's own memory.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,

    /// Time that a replay may take, such as 90s or 500ms; a longer one is ended, with status 1 [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub time: Option<Duration>,

    /// Play the trace without network, and without writing files other than the output: a trace that was made to break the
    /// driver can do no more. Needs Linux 6.2
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value_t = Wish::Auto,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "always"
    )]
    pub sandbox: Wish,
}

#[derive(Args, Clone, Debug, Default)]
pub struct Connect {
    /// Address of the daemon, as unix:PATH [default: the user's own daemon, else that of the only `gapii-ctl run`]
    #[arg(long, env = "GAPII_CTL_SOCKET", value_name = "ADDRESS", global = true)]
    pub connect: Option<Address>,

    /// Daemon of another machine, as tls://HOST[:PORT] or ssh://[USER@]HOST[:PORT][/PATH/OF/gapii-ctl]
    ///
    /// The port of tls:// is 9820 by default, that of ssh:// is what ssh is configured for.
    /// Takes precedence over --connect, unless only --connect is given on the command line. Traces are
    /// written on this machine. Run `gapii-ctl pair` on the daemon's machine to create credentials for tls://.
    #[arg(long, env = VIA_VARIABLE, value_name = "URL", global = true)]
    pub via: Option<Via>,

    /// Credentials for --via tls:// [default: gapii/hosts/HOST.json in $XDG_CONFIG_HOME or ~/.config]
    #[arg(long, value_name = "FILE", global = true)]
    pub credentials: Option<PathBuf>,
}

impl Connect {
    /// Returns the options with which another process of this tool, in any folder, asks the same daemon.
    pub fn words(&self) -> io::Result<Vec<OsString>> {
        let with_path = |option: &str, path: &Path| {
            let mut word = OsString::from(option);
            word.push(std::path::absolute(path)?);
            Ok(word)
        };
        let Connect { connect, via, credentials } = self;
        let address = connect.iter().map(|Address::Unix(path)| with_path("--connect=unix:", path));
        let credentials = credentials.iter().map(|path| with_path("--credentials=", path));
        let via = via.iter().map(|via| Ok(format!("--via={via}").into()));
        address.chain(credentials).chain(via).collect()
    }
}

#[derive(Args, Clone, Debug)]
pub struct Json {
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Limits of a capture, and what happens when a ring or the output is full.
#[derive(Args, Clone, Debug)]
pub struct Limits {
    /// End the capture after N frames of each process
    #[arg(long, value_name = "N", value_parser = whole_frames)]
    pub frames: Option<NonZeroU64>,

    /// End the capture after N submits of each process, even if the process also presents frames
    ///
    /// A submit is work that a compute API passes to a queue, for example zeCommandQueueExecuteCommandLists.
    /// With this option every submit ends a frame; without it, submits end frames only in processes that
    /// present none.
    #[arg(long, value_name = "N", value_parser = whole_frames, conflicts_with = "frames")]
    pub submits: Option<NonZeroU64>,

    /// End a frame at each call of this function, by name (* and ? match), and not at swaps; may be repeated
    ///
    /// group:NAME ends a frame at the end of each KHR_debug group of that name (* and ? match, too). For programs that never swap,
    /// such as compositors and headless renderers. Swaps end frames, too, with --frame-end 'eglSwapBuffers*'.
    #[arg(long = "frame-end", value_name = "FUNCTION|GLOB", conflicts_with_all = ["submits", "observe_frames"])]
    pub frame_ends: Vec<String>,

    /// Skip K frames before recording begins
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub skip_frames: u64,

    /// End the capture after S seconds; the first snapshot of a running program does not count
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub seconds: Option<f64>,

    /// End the capture when its trace reaches SIZE bytes (suffix K, M or G); data in transit is still written
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub bytes: Option<u64>,

    /// When the output is too slow: spill to a file of the daemon (data beyond the daemon's limit is dropped
    /// and counted), let the program wait, or drop and count
    #[arg(long, value_enum, default_value_t = IfSlow::Spill)]
    pub if_slow: IfSlow,

    /// When a thread's ring is full: wait for the daemon, or drop records and count them
    #[arg(long, value_enum, default_value_t = Overflow::Wait)]
    pub overflow: Overflow,

    /// Time in ms that a thread waits on a full ring before its process leaves the capture
    #[arg(long, value_name = "MS", default_value_t = gapii_control::STALL_MS_DEFAULT)]
    pub stall_ms: u64,

    /// Memory in the program for what a snapshot copies, with K, M or G, or 0
    ///
    /// At the start of a capture of a running program, the program is held while textures and buffers are copied. The copies
    /// are sent while it runs on. What finds no room is sent while the program is held, which takes longer.
    #[arg(long, value_name = "SIZE", value_parser = copies, default_value = "512M")]
    pub attach_memory: u64,

    /// Read back every Nth frame just before it is presented, and record its hash for `replay --verify`
    #[arg(long, value_name = "N", value_parser = one_or_more::<NonZeroU32>)]
    pub observe_frames: Option<NonZeroU32>,

    /// Record the pixels of observed frames as well as their hash
    #[arg(long, requires = "observe_frames")]
    pub frame_pixels: bool,

    /// Record the time that each command spends in the driver; adds about 50 ns to each command
    #[arg(long)]
    pub timing: bool,

    /// Record how long the GPU takes for each draw, clear, copy, dispatch and kernel; includes --timing
    #[arg(long)]
    pub gpu_timing: bool,

    #[command(flatten)]
    pub filter: Filter,

    /// Begin recording on an event: function=NAME|GLOB, gl-error, frame-longer=20ms or frame=N
    ///
    /// Recording begins at the end of a frame, with a snapshot of the program's state: for frame=N behind the Nth frame, else
    /// once the daemon has read the event, which in a fast program is many frames after it. The event itself is not
    /// recorded. While waiting, the program runs as slowly as during a capture, and --frames and --seconds do not count yet.
    #[arg(long, value_name = "TRIGGER", conflicts_with = "skip_frames")]
    pub when: Option<Trigger>,
}

/// Selection of the commands that are recorded.
#[derive(Args, Clone, Debug)]
pub struct Filter {
    /// Record only commands of this thread, by thread id or name (* and ? match); may be repeated
    ///
    /// --thread, --api and --function combine: a command is recorded if it matches one value of each option
    /// that is given. Swaps and the snapshot of an attached program are always recorded. A filtered trace
    /// cannot be replayed.
    #[arg(long = "thread", value_name = "TID|NAME")]
    pub threads: Vec<String>,

    /// Record only commands of this API; may be repeated
    #[arg(long = "api", value_name = "API", value_enum)]
    pub apis: Vec<ApiName>,

    /// Record only this function, by name (* and ? match); may be repeated
    #[arg(long = "function", value_name = "NAME|GLOB")]
    pub functions: Vec<String>,
}

/// An API as a value of `--api`, by its name. `-` is accepted for `_`: `level-zero` for `level_zero`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApiName(pub Api);

impl ValueEnum for ApiName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [ApiName; Api::ALL.len()] = {
            let mut all = [ApiName(Api::ALL[0]); Api::ALL.len()];
            let mut at = 1;
            while at < all.len() {
                all[at] = ApiName(Api::ALL[at]);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let value = PossibleValue::new(self.0.name());
        let is_same = self.0.name() == self.0.hyphenated();
        Some(if is_same { value } else { value.alias(self.0.hyphenated()) })
    }
}

impl Filter {
    fn request(&self) -> filter::Filter {
        filter::Filter {
            threads: self.threads.clone(),
            apis: self.apis.iter().map(|ApiName(api)| api.name().to_owned()).collect(),
            functions: self.functions.clone(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum IfSlow {
    Spill,
    Wait,
    Drop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Overflow {
    Wait,
    Drop,
}

impl Limits {
    /// Builds the request to capture `target` within these limits.
    pub fn request(&self, target: Target) -> StartRequest {
        StartRequest {
            target,
            frames: self.frames.or(self.submits).map(NonZeroU64::get),
            counts_submits: self.submits.is_some(),
            frame_rule: FrameRule(self.frame_ends.clone()),
            skip_frames: self.skip_frames,
            seconds: self.seconds,
            overflow: match self.overflow {
                Overflow::Wait => gapii_control::Overflow::Wait,
                Overflow::Drop => gapii_control::Overflow::Drop,
            },
            stall_ms: self.stall_ms,
            attach_memory: self.attach_memory,
            observe_frames: self.observe_frames.map(NonZeroU32::get),
            frame_pixels: self.frame_pixels,
            timing: self.timing || self.gpu_timing,
            gpu_timing: self.gpu_timing,
            bytes: self.bytes,
            if_slow: match self.if_slow {
                IfSlow::Spill => gapii_control::IfSlow::Spill,
                IfSlow::Wait => gapii_control::IfSlow::Wait,
                IfSlow::Drop => gapii_control::IfSlow::Drop,
            },
            filter: self.filter.request(),
            when: self.when.clone(),
            ..StartRequest::default()
        }
    }
}

/// Options of frames that are kept in the daemon's memory instead of being written.
#[derive(Args, Clone, Debug)]
pub struct Keep {
    /// Keep at least the last N frames in the daemon's memory, for `gapii-ctl save`; write nothing yet
    ///
    /// The frames stay available after the program has ended or was killed. With -o, they are saved to that
    /// file when the program ends. If this run started its own daemon, they are saved even without -o, because
    /// that daemon ends with the run.
    #[arg(long, value_name = "N", value_parser = whole_frames,
          conflicts_with_all = ["frames", "skip_frames", "seconds", "bytes", "threads", "apis",
                                "functions", "when"])]
    pub keep_frames: Option<NonZeroU64>,

    /// Keep at most SIZE compressed bytes for each process (suffix K, M or G)
    #[arg(long, value_name = "SIZE", requires = "keep_frames", default_value = "256M",
          value_parser = size)]
    pub keep_bytes: u64,

    /// Take a snapshot (keyframe) every M frames; saved traces begin at one. The program pauses for each
    #[arg(long, value_name = "M", requires = "keep_frames", default_value = "100",
          value_parser = one_or_more::<NonZeroU32>)]
    pub keyframe_every: NonZeroU32,
}

impl Keep {
    pub fn request(&self) -> Option<KeepRequest> {
        let frames = self.keep_frames?.get();
        let keyframe_every = self.keyframe_every.get();
        Some(KeepRequest { frames, bytes: self.keep_bytes, keyframe_every })
    }
}

#[derive(Args, Clone, Debug)]
pub struct Output {
    /// Trace file, or - for standard output [default: PROGRAM-DATE-TIME.gapii]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Overwrite the trace file if it exists
    #[arg(long)]
    pub force: bool,
}

/// Whether an output file that exists is overwritten.
#[derive(Args, Clone, Copy, Debug)]
pub struct Force {
    /// Overwrite the output file if it exists
    #[arg(long)]
    pub force: bool,
}

impl Json {
    /// Fails if the JSON document and `output` would share standard output.
    pub fn must_have_standard_output(&self, output: &Path) -> Result<(), Failure> {
        match self.json && output.as_os_str() == "-" {
            true => Err(Failure::usage(
                "with --json the answer goes to standard output; name a file for the output with `-o FILE`",
            )),
            false => Ok(()),
        }
    }
}

impl Output {
    /// Fails if the trace and a JSON document would share standard output.
    pub fn must_leave_room_for(&self, json: &Json) -> Result<(), Failure> {
        self.output.as_deref().map_or(Ok(()), |path| json.must_have_standard_output(path))
    }
}

#[derive(Args, Clone, Debug)]
pub struct App {
    /// Application, by process id or name
    #[arg(long, value_name = "PID|NAME")]
    pub app: Option<String>,
}

/// Selects running captures.
#[derive(Args, Clone, Debug)]
pub struct Running {
    /// Capture, by its name or number as shown by `gapii-ctl list` [default: all captures]
    #[arg(value_name = "NAME")]
    pub capture: Option<String>,

    #[command(flatten)]
    pub app: App,

    #[command(flatten)]
    pub json: Json,
}

impl Running {
    /// Builds the request; without a name and an application it selects all captures.
    pub fn request(&self) -> StopRequest {
        let target = self.app.app.clone().map_or(Target::All, Target::App);
        let number = self.capture.as_deref().and_then(|capture| capture.parse().ok());
        let name = self.capture.clone().filter(|_| number.is_none());
        StopRequest { target, capture: number, name }
    }
}

#[derive(Args, Clone, Debug)]
pub struct Trace {
    /// Trace file
    #[arg(value_name = "FILE")]
    pub trace: PathBuf,
}

#[derive(Args, Clone, Debug)]
pub struct Frames {
    /// Frames from A up to, not including, B; A-B includes B; either bound may be omitted; or one frame
    #[arg(long, value_name = "A..B|A-B|A", value_parser = frame_range)]
    pub frames: Option<Range<u64>>,
}

/// Parses a range of command numbers.
pub fn command_range(text: &str) -> Result<Range<u64>, String> {
    range(text, "command")
}

fn whole_frames(text: &str) -> Result<NonZeroU64, String> {
    let frames: u64 = text.parse().map_err(|_| "a number of frames is expected".to_string())?;
    NonZeroU64::new(frames).ok_or_else(|| {
        "a capture of 0 frames records nothing; omit --frames to record until the program ends"
            .into()
    })
}

/// Parses a capture's name; a number is not a name.
pub fn capture_name(text: &str) -> Result<String, String> {
    match gapii_control::is_name(text) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "a name has 1 to {} letters, digits, dots, dashes and underscores, and is not a number",
            gapii_control::NAME_LEN_MAX
        )),
    }
}

/// Parses a size in bytes with an optional suffix K, M or G; rejects sizes below [`KEEP_BYTES_MIN`].
fn size(text: &str) -> Result<u64, String> {
    match bytes(text)? {
        bytes if bytes >= KEEP_BYTES_MIN => Ok(bytes),
        _ => Err(format!("the smallest size is {} MiB", KEEP_BYTES_MIN >> 20)),
    }
}

/// Parses the size of a snapshot's copies: as [`size`], or 0.
fn copies(text: &str) -> Result<u64, String> {
    if bytes(text)? == 0 { Ok(0) } else { size(text) }
}

fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((at, 'K' | 'k')) => (&text[..at], 10),
        Some((at, 'M' | 'm')) => (&text[..at], 20),
        Some((at, 'G' | 'g')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let number: u64 = number
        .parse()
        .map_err(|_| "a size is a whole number with an optional suffix K, M or G".to_owned())?;
    number.checked_mul(1 << unit).ok_or_else(|| "the size exceeds 2^64 bytes".to_owned())
}

/// Parses a time with its unit.
fn time(text: &str) -> Result<Duration, String> {
    let ns = nanoseconds(text)
        .ok_or_else(|| format!("{text:?} is not a time; write a time as 90s or 500ms"))?;
    Ok(Duration::from_nanos(ns))
}

/// Parses a number that is not 0, of a type that has no 0.
pub fn one_or_more<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "a whole number, 1 or more, is expected".to_string())
}

/// Parses a time in seconds, above 0.
pub fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds is expected".to_string())?;
    if seconds.is_finite() && seconds > 0.0 {
        Ok(seconds)
    } else {
        Err("the time must be greater than 0 seconds; omit --seconds for no limit".into())
    }
}

/// Parses a range of frames, `A..B` or `A`.
pub fn frame_range(text: &str) -> Result<Range<u64>, String> {
    range(text, "frame")
}

/// Parses `A..B`, `A` or apitrace's `A-B`, which includes B, as numbers of `thing`s; either bound of a range may be omitted,
/// and `*` is all.
fn range(text: &str, thing: &str) -> Result<Range<u64>, String> {
    if text.contains([',', '/']) {
        return Err(format!(
            "one range of {thing}s is taken, as A..B, A-B or A, and no list, step or filter of apitrace's call sets"
        ));
    }
    let number = |text: &str| {
        let number = text.parse::<u64>();
        number.map_err(|_| {
            format!("`{text}` is not a {thing} number; {thing}s are written A..B, A-B or A")
        })
    };
    let bound = |text: &str, open: u64| if text.is_empty() { Ok(open) } else { number(text) };
    let range = if text == "*" {
        0..u64::MAX
    } else if let Some((start, end)) = text.split_once("..") {
        bound(start, 0)?..bound(end, u64::MAX)?
    } else if let Some((start, last)) = text.split_once('-') {
        number(start)?..bound(last, u64::MAX)?.saturating_add(1)
    } else {
        let only = number(text)?;
        only..only.saturating_add(1)
    };
    if range.is_empty() {
        return Err(format!(
            "{text} contains no {thing}: of A..B, B is exclusive, of A-B it is not"
        ));
    }
    Ok(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn api_is_named_with_either_separator() {
        for name in ["level_zero", "level-zero"] {
            assert_eq!(ApiName::from_str(name, false), Ok(ApiName(Api::LevelZero)), "{name}");
        }
        assert!(ApiName::from_str("vulkan", false).is_err());
    }

    #[test]
    fn words_lead_to_the_same_daemon() {
        let check = |connect: &Connect, expected: &[&str]| {
            assert_eq!(connect.words().unwrap(), expected, "{connect:?}");
        };
        let here = Connect { connect: "unix:/run/x".parse().ok(), ..Connect::default() };
        let credentials = Some("/c".into());
        let far = Connect { via: "ssh://h".parse().ok(), credentials, ..Connect::default() };
        check(&Connect::default(), &[]);
        check(&here, &["--connect=unix:/run/x"]);
        check(&far, &["--credentials=/c", "--via=ssh://h"]);
    }

    fn check_range(text: &str, expected: Option<Range<u64>>) {
        assert_eq!(frame_range(text).ok(), expected, "{text}");
    }

    #[test]
    fn frame_range_bounds_are_half_open_and_optional_and_one_number_is_one_frame() {
        check_range("3..7", Some(3..7));
        check_range("..7", Some(0..7));
        check_range("3..", Some(3..u64::MAX));
        check_range("..", Some(0..u64::MAX));
        check_range("7..7", None);
        check_range("7..3", None);
        check_range("7", Some(7..8));
        check_range("*", Some(0..u64::MAX));
        check_range("", None);
        check_range("a..b", None);
        check_range("-1..3", None);
    }

    #[test]
    fn range_of_a_call_set_includes_its_last_frame_and_lists_are_refused() {
        check_range("3-7", Some(3..8));
        check_range("3-3", Some(3..4));
        check_range("3-", Some(3..u64::MAX));
        check_range("7-3", None);
        check_range("-3", None);
        for text in ["1,3", "0-9/3", "*/frame"] {
            assert!(frame_range(text).unwrap_err().contains("one range"), "{text}");
        }
    }

    #[test]
    fn limits_that_record_nothing_are_rejected() {
        assert!(whole_frames("0").is_err());
        assert!(whole_frames("-1").is_err());
        assert_eq!(whole_frames("100").map(NonZeroU64::get), Ok(100));
        for text in ["0", "-1", "nan", "inf", "x"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        assert_eq!(seconds("0.5"), Ok(0.5));
    }

    #[test]
    fn sizes_have_units() {
        let check = |text: &str, expected| assert_eq!(size(text).ok(), expected, "{text}");
        check("1048576", Some(1 << 20));
        check("2M", Some(2 << 20));
        check("3g", Some(3 << 30));
        check("2048K", Some(2 << 20));
        for text in ["", "M", "1K", "-2M", "2.5M", "2T", "99999999999G"] {
            check(text, None);
        }
    }

    #[test]
    fn address_takes_a_prefixed_or_absolute_path() {
        let expected = Ok(Address::Unix("/run/gapii/ctl.sock".into()));
        assert_eq!("unix:/run/gapii/ctl.sock".parse(), expected);
        assert_eq!("/run/gapii/ctl.sock".parse(), expected);
        for text in ["", "unix:", "ctl.sock", "tcp://localhost:1"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
