//! Scenes of glmark2-es2 run natively, captured and under apitrace: frames per second, bytes per frame.
//!
//! Only ratios of rates mean anything: a round runs a scene once in every way, and ratios are taken within a round.
//! Prints nothing.

use std::collections::BTreeMap;
use std::process::Command;

use crate::bench::{Way, median, run_as};
use crate::display::Display;
use crate::gapii::Session;
use crate::process::Finished;

/// Values of the option `-b`, without the duration.
pub const SCENES: &[&str] = &["build:use-vbo=false", "buffer:update-method=subdata"];

pub const WAYS: &[Way] = &[Way::Native, Way::Captured, Way::Apitrace];

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
pub fn command(display: &Display, scene: &str, seconds: u64) -> Command {
    display.command(&["glmark2-es2", "-b", &format!("{scene}:duration={seconds}")])
}

/// Runs a scene once in every way.
pub fn round(display: &Display, scene: &str, seconds: u64) -> BTreeMap<Way, Run> {
    WAYS.iter().map(|way| (*way, run_scene(display, scene, seconds, *way))).collect()
}

fn run_scene(display: &Display, scene: &str, seconds: u64, way: Way) -> Run {
    let session = Session::new();
    let trace = session.path("glmark2");
    let finished = run_as(way, &session, &trace, command(display, scene, seconds)).ok();
    let frames_per_second = rate_of(&finished);
    // Native runs leave no trace.
    let bytes = trace.metadata().map_or(0, |data| data.len());
    let frames = frames_per_second * seconds as f64;
    Run { frames_per_second, bytes_per_frame: bytes as f64 / frames }
}

/// Frames per second, as glmark2-es2 prints them.
pub fn rate_of(finished: &Finished) -> f64 {
    let rate = finished.stdout.split("FPS: ").nth(1).and_then(|rest| rest.split(' ').next());
    let rate = rate.and_then(|rate| rate.parse::<f64>().ok());
    rate.unwrap_or_else(|| panic!("glmark2-es2 says its rate: {finished}"))
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
