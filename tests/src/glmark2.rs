//! Scenes of glmark2-es2 run natively, captured and under apitrace: frames per second, bytes per frame. On all cores, or
//! with the program and the threads of llvmpipe on one core, so that another is free for the daemon.
//!
//! Only ratios of rates mean anything: a round runs a scene once in every way, and ratios are taken within a round.
//! Prints nothing.

use std::collections::BTreeMap;
use std::process::Command;

use crate::bench::{Way, median, run_as};
use crate::display::Display;
use crate::gapii::Session;
use crate::process::{Finished, run};

/// Values of the option `-b`, without the duration.
pub const SCENES: &[&str] = &["build:use-vbo=false", "buffer:update-method=subdata"];

pub const WAYS: &[Way] = &[Way::Native, Way::Captured, Way::Apitrace];

/// The cores that the program and its threads run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cores {
    /// The first core. The daemon has the others.
    One,
    All,
}

impl Cores {
    pub const BOTH: [Cores; 2] = [Cores::One, Cores::All];

    pub fn describe(self) -> &'static str {
        match self {
            Cores::One => "on one core",
            Cores::All => "on all cores",
        }
    }
}

/// One run of a scene.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub frames_per_second: f64,
    /// Bytes of the trace per frame; 0 if there is no trace.
    pub bytes_per_frame: f64,
}

/// The runs of one scene, a round each.
pub type Rounds = Vec<BTreeMap<Way, Run>>;

/// glmark2-es2 with one scene for `seconds`.
pub fn command(display: &Display, scene: &str, seconds: impl Into<f64>) -> Command {
    display.command(&["glmark2-es2", "-b", &benchmark(scene, seconds.into())])
}

fn benchmark(scene: &str, seconds: f64) -> String {
    format!("{scene}:duration={seconds}")
}

/// Returns the scenes of the list that glmark2-es2 runs on its own, as values of `-b`.
pub fn default_scenes(display: &Display) -> Vec<String> {
    // Without a scene, the option is one of all scenes of the default list.
    let briefly = ["glmark2-es2", "--size", "64x64", "-b", ":duration=0.01"];
    let finished = run(&mut display.command(&briefly)).ok();
    let scenes: Vec<_> = finished.stdout.lines().filter_map(scene_of).collect();
    assert!(!scenes.is_empty(), "{finished}");
    scenes
}

/// The scene of a line of the results, such as `[build] use-vbo=false: FPS: 13 FrameTime: 80.451 ms`.
fn scene_of(line: &str) -> Option<String> {
    let (scene, _) = line.strip_prefix('[')?.split_once(": FPS: ")?;
    let (name, options) = scene.split_once("] ")?;
    Some(if options == "<default>" { name.to_owned() } else { format!("{name}:{options}") })
}

/// Runs a scene once in each of `ways`.
pub fn round(
    display: &Display,
    scene: &str,
    seconds: f64,
    cores: Cores,
    ways: &[Way],
) -> BTreeMap<Way, Run> {
    let run = |way| {
        let process = match cores {
            Cores::All => command(display, scene, seconds),
            Cores::One => {
                let benchmark = benchmark(scene, seconds);
                display.command(&["taskset", "--cpu-list", "0", "glmark2-es2", "-b", &benchmark])
            }
        };
        run_scene(process, seconds, way)
    };
    ways.iter().map(|way| (*way, run(*way))).collect()
}

fn run_scene(process: Command, seconds: f64, way: Way) -> Run {
    let session = Session::new();
    let trace = session.path("glmark2");
    let finished = run_as(way, &session, &trace, process).ok();
    let frames_per_second = rate_of(&finished);
    // Native runs leave no trace.
    let bytes = trace.metadata().map_or(0, |data| data.len());
    let frames = frames_per_second * seconds;
    Run { frames_per_second, bytes_per_frame: bytes as f64 / frames }
}

/// Frames per second, from what glmark2-es2 prints.
pub fn rate_of(finished: &Finished) -> f64 {
    let rate = finished.stdout.lines().find_map(rate_in);
    rate.unwrap_or_else(|| panic!("glmark2-es2 says its rate: {finished}"))
}

/// The rate in a line of the results. The rate is printed as an integer, so that of a slow scene is taken from the time of
/// a frame, which has three digits below a millisecond.
fn rate_in(line: &str) -> Option<f64> {
    let number = |word: &str| line.split(word).nth(1)?.split(' ').next()?.parse::<f64>().ok();
    let (rate, frame_ms) = (number("FPS: ")?, number("FrameTime: ")?);
    Some(if rate < 1000.0 && frame_ms > 0.0 { 1000.0 / frame_ms } else { rate })
}

/// The least and the most that one way's rate is of another's, over the rounds.
pub fn interval(rounds: &Rounds, way: Way, to: Way) -> (f64, f64) {
    let rate = |round: &BTreeMap<Way, Run>, way| round[&way].frames_per_second;
    let ratios = rounds.iter().map(|round| rate(round, way) / rate(round, to));
    ratios.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), ratio| {
        (least.min(ratio), most.max(ratio))
    })
}

/// Median over the rounds of a figure of one way.
pub fn middle(rounds: &Rounds, way: Way, figure: impl Fn(&Run) -> f64) -> f64 {
    median(rounds.iter().map(|round| figure(&round[&way])))
}

/// Median over the rounds of the ratio of one way's figure to another's.
pub fn ratio(rounds: &Rounds, way: Way, to: Way, figure: impl Fn(&Run) -> f64) -> f64 {
    median(rounds.iter().map(|round| figure(&round[&way]) / figure(&round[&to])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_results_names_its_scene_and_the_precise_rate() {
        let check = |line: &str, scene: &str, rate: f64| {
            assert_eq!((scene_of(line).as_deref(), rate_in(line)), (Some(scene), Some(rate)));
        };
        check("[build] use-vbo=false: FPS: 13 FrameTime: 80.000 ms", "build:use-vbo=false", 12.5);
        check("[terrain] <default>: FPS: 1 FrameTime: 2000.000 ms", "terrain", 0.5);
        check("[build] use-vbo=true: FPS: 1754 FrameTime: 0.570 ms", "build:use-vbo=true", 1754.0);
        assert_eq!(scene_of("    Surface Size:   64x64 windowed"), None);
    }

    #[test]
    fn ratios_are_taken_within_a_round() {
        let run = |rate| Run { frames_per_second: rate, bytes_per_frame: 0.0 };
        let round = |native, captured| {
            BTreeMap::from([(Way::Native, run(native)), (Way::Captured, run(captured))])
        };
        let rounds = vec![round(100.0, 90.0), round(10.0, 9.0), round(1.0, 0.5)];
        let rate = |run: &Run| run.frames_per_second;
        assert_eq!(ratio(&rounds, Way::Captured, Way::Native, rate), 0.9);
        assert_eq!(middle(&rounds, Way::Native, rate), 10.0);
    }
}
