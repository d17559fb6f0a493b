//! Measures the cost of attaching to a running program.

use std::collections::BTreeSet;
use std::time::Duration;

use gapii_tests::attach_cost::{self, Attach};
use gapii_tests::bench::median;
use gapii_tests::display::Display;
use serde_json::{Value, json};

use crate::bars::{Bar, print_bars, verdict};
use crate::options::Options;

/// Size of the objects that a program holds, in MiB.
const MIB: u64 = 256;
/// Longest time that a program may be held, in milliseconds.
const HELD_MAX_MS: f64 = 1000.0;
/// Longest time until a frame is recorded, besides two frames, in milliseconds.
const RECORDED_MAX_MS: f64 = 50.0;
const SCENE: &str = "texture";

/// First and second attach to one program, a round each.
type Rounds = Vec<[Attach; 2]>;

/// Attaches to every program, round after round, and prints the results.
pub fn measure(options: &Options) {
    let display = Display::start();
    let formats = attach_cost::formats().into_iter();
    let mut images: Vec<_> = formats.map(|format| (format, Rounds::new())).collect();
    let (mut frames_ms, mut scene) = (Vec::new(), Rounds::new());
    for number in 1..=options.rounds {
        for (format, rounds) in &mut images {
            eprintln!("round {number} of {}: {format}", options.rounds);
            rounds.push(attach_cost::to_images(format, MIB));
        }
        eprintln!("round {number} of {}: {SCENE}", options.rounds);
        let (frame, attaches) = attach_cost::to_scene(&display, SCENE);
        frames_ms.push(ms(frame));
        scene.push(attaches);
    }
    let frame_ms = median(frames_ms);
    println!("first and second attach; medians of {} rounds\n", options.rounds);
    print_images(&images);
    print_scene(frame_ms, &scene);
    if options.json {
        let images = images.iter().map(|(format, rounds)| as_json(format, rounds));
        let images: Vec<_> = images.collect();
        let scene = as_json(SCENE, &scene);
        println!("{}", json!({"images": images, "scene": scene, "frame_ms": frame_ms}));
    }
}

fn print_images(images: &[(String, Rounds)]) {
    println!("{MIB} MiB of          held, ms: first      second        until recorded, ms");
    for (format, rounds) in images {
        let held = |attach: &Attach| ms(attach.held);
        let recorded = |attach: &Attach| ms(attach.recorded);
        let bar = |held: f64| format!("{held:8.0} {:4}", verdict(held, HELD_MAX_MS));
        println!(
            "{format:20}{:>13}{:>13}{:15.0}{:8.0}",
            bar(middle(rounds, 0, held)),
            bar(middle(rounds, 1, held)),
            middle(rounds, 0, recorded),
            middle(rounds, 1, recorded),
        );
        let missing = missing(rounds);
        if let Some(first) = missing.first() {
            println!("    MISSING from the traces, {} in all: {first}", missing.len());
        }
    }
    println!();
}

fn print_scene(frame_ms: f64, rounds: &Rounds) {
    println!("{SCENE} of glmark2-es2, a frame of which takes {frame_ms:.1} ms");
    let bar = |attach: usize, name: &str| Bar {
        what: format!("{name} attach: ms until a frame is recorded").into(),
        measured: middle(rounds, attach, |attach| ms(attach.recorded)),
        limit: (2.0 * frame_ms + RECORDED_MAX_MS).round(),
        least: false,
    };
    print_bars(&[bar(0, "first"), bar(1, "second")]);
}

/// Returns the state that any of the traces lacks.
fn missing(rounds: &Rounds) -> BTreeSet<&String> {
    rounds.iter().flatten().flat_map(|attach| &attach.missing).collect()
}

fn middle(rounds: &Rounds, attach: usize, figure: impl Fn(&Attach) -> f64) -> f64 {
    median(rounds.iter().map(|attaches| figure(&attaches[attach])))
}

fn ms(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}

fn as_json(name: &str, rounds: &Rounds) -> Value {
    let attach = |number| {
        json!({
            "held_ms": middle(rounds, number, |attach| ms(attach.held)),
            "recorded_ms": middle(rounds, number, |attach| ms(attach.recorded)),
        })
    };
    json!({"name": name, "attaches": [attach(0), attach(1)], "missing": missing(rounds)})
}
