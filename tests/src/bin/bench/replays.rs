//! Scenes of glmark2-es2, and replays of their recordings.

use gapii_tests::bench::median;
use gapii_tests::display::Display;
use gapii_tests::replaying::{self, Rates};

use crate::bars::{Bar, print_bars};
use crate::options::Options;

/// Runs every scene and replays of it, round after round, and prints the results.
pub fn measure(options: &Options) {
    let display = Display::start();
    let mut scenes: Vec<(&str, Vec<Rates>)> =
        replaying::SCENES.iter().map(|scene| (*scene, Vec::new())).collect();
    for number in 1..=options.rounds {
        for (scene, rounds) in &mut scenes {
            eprintln!("round {number} of {}: {scene}", options.rounds);
            let with_eglretrace = !options.without_apitrace;
            rounds.push(replaying::round(&display, scene, options.seconds, with_eglretrace));
        }
    }
    println!("glmark2-es2, {} s a scene; medians of {} rounds\n", options.seconds, options.rounds);
    println!("scene                            native  captured    replay  eglretrace   frames/s");
    let mut bars = Vec::new();
    for (scene, rounds) in &scenes {
        let middle = |figure: fn(&Rates) -> f64| median(rounds.iter().map(figure));
        println!(
            "{scene:30}{:9.1}{:10.1}{:10.1}{:12.1}",
            middle(|of| of.native),
            middle(|of| of.captured),
            middle(|of| of.replay),
            middle(|of| of.eglretrace),
        );
        let bar = |of: &str, measured: f64| Bar {
            what: format!("{scene}: replay, % of {of}").into(),
            measured: 100.0 * measured,
            limit: 100.0,
            least: true,
        };
        bars.push(bar("native", middle(|of| of.replay / of.native)));
        bars.push(bar("eglretrace", middle(|of| of.replay / of.eglretrace)));
    }
    println!();
    print_bars(&bars);
}
