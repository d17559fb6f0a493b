//! Scenes of glmark2-es2 natively, captured and under apitrace.

use std::collections::BTreeMap;

use gapii_tests::bench::Way;
use gapii_tests::display::Display;
use gapii_tests::glmark2::{self, Rounds, Run};
use serde_json::{Value, json};

use crate::bars::{Bar, print_bars};
use crate::options::Options;

/// Runs every scene in every way, round after round, and prints the results.
pub fn measure(options: &Options) {
    let display = Display::start();
    let mut scenes: Vec<(&str, Rounds)> =
        glmark2::SCENES.iter().map(|scene| (*scene, Rounds::new())).collect();
    for number in 1..=options.rounds {
        for (scene, rounds) in &mut scenes {
            eprintln!("round {number} of {}: {scene}", options.rounds);
            rounds.push(glmark2::round(&display, scene, options.seconds));
        }
    }
    println!("glmark2-es2, {} s a scene; medians of {} rounds\n", options.seconds, options.rounds);
    println!("scene                         way          frames/s  of native   bytes/frame");
    for (scene, rounds) in &scenes {
        print_scene(scene, rounds);
    }
    println!();
    let bars: Vec<_> =
        scenes.iter().flat_map(|(scene, rounds)| scene_bars(scene, rounds)).collect();
    print_bars(&bars);
    if options.json {
        let list = |(scene, rounds): &(&str, Rounds)| scene_as_json(scene, rounds);
        println!("{}", Value::from(scenes.iter().map(list).collect::<Vec<_>>()));
    }
}

fn rate(run: &Run) -> f64 {
    run.frames_per_second
}

fn bytes(run: &Run) -> f64 {
    run.bytes_per_frame
}

fn print_scene(scene: &str, rounds: &Rounds) {
    for &way in glmark2::WAYS {
        println!(
            "{scene:30}{:9}{:12.1}{:10.0}%{:14.0}",
            way.name(),
            glmark2::middle(rounds, way, rate),
            100.0 * glmark2::ratio(rounds, way, Way::Native, rate),
            glmark2::middle(rounds, way, bytes),
        );
    }
}

fn scene_bars(scene: &str, rounds: &Rounds) -> Vec<Bar> {
    let kept = 100.0 * glmark2::ratio(rounds, Way::Captured, Way::Native, rate);
    let what = format!("{scene}: frame rate, % of native");
    let mut bars = vec![Bar { what: what.into(), measured: kept, limit: 85.0, least: true }];
    if scene.starts_with("build") {
        let share = 100.0 * glmark2::ratio(rounds, Way::Captured, Way::Apitrace, bytes);
        let what = format!("{scene}: bytes a frame, % of apitrace's");
        bars.push(Bar { what: what.into(), measured: share, limit: 5.0, least: false });
    }
    bars
}

fn scene_as_json(scene: &str, rounds: &Rounds) -> Value {
    let run = |run: &Run| json!({"frames_per_second": run.frames_per_second, "bytes_per_frame": run.bytes_per_frame});
    let round = |round: &BTreeMap<Way, Run>| -> Value {
        round.iter().map(|(way, of)| (way.name().to_owned(), run(of))).collect::<Value>()
    };
    json!({"scene": scene, "rounds": rounds.iter().map(round).collect::<Vec<_>>()})
}
