//! Scenes of glmark2-es2 natively, captured and under apitrace.

use std::collections::BTreeMap;

use gapii_tests::bench::Way;
use gapii_tests::display::Display;
use gapii_tests::glmark2::{self, Cores, Rounds, Run};
use serde_json::{Value, json};

use crate::bars::{Bar, Limit, Row, print_bars, print_rows};
use crate::options::Options;

/// A scene on some cores, and its rounds.
pub struct Scene {
    name: String,
    cores: Cores,
    rounds: Rounds,
}

/// Runs scenes in every way, round after round, and prints the results.
pub fn measure(options: &Options) {
    let scenes = run(options, options.all_scenes);
    println!("glmark2-es2, {} s a scene; medians of {} rounds\n", options.seconds, options.rounds);
    println!("way          frames/s  of native   bytes/frame  scene");
    scenes.iter().for_each(print_scene);
    println!();
    if options.all_scenes {
        print_rows(&rows(&scenes));
    } else {
        let bars = scenes.iter().flat_map(|scene| scene_bars(&scene.name, &scene.rounds));
        print_bars(&bars.collect::<Vec<_>>());
    }
    if options.json {
        println!("{}", scenes.iter().map(scene_as_json).collect::<Value>());
    }
}

/// Runs two scenes on all cores, or `all` scenes of the default list on one core and on all cores, once in every way a
/// round.
pub fn run(options: &Options, all: bool) -> Vec<Scene> {
    let display = Display::start();
    let (names, cores) = match all {
        true => (glmark2::default_scenes(&display), Cores::BOTH.to_vec()),
        false => (glmark2::SCENES.iter().map(ToString::to_string).collect(), vec![Cores::All]),
    };
    let of = |name: &String| {
        let name = name.clone();
        cores.iter().map(move |&cores| Scene { name: name.clone(), cores, rounds: Rounds::new() })
    };
    let mut scenes: Vec<Scene> = names.iter().flat_map(of).collect();
    let ways = if options.without_apitrace { &glmark2::WAYS[..2] } else { glmark2::WAYS };
    for number in 1..=options.rounds {
        for Scene { name, cores, rounds } in &mut scenes {
            eprintln!("round {number} of {}: {name} {}", options.rounds, cores.describe());
            rounds.push(glmark2::round(&display, name, options.seconds, *cores, ways));
        }
    }
    scenes
}

/// The lines of the table of bars: for one core and for all cores the geometric mean of the frame rates kept, the least of
/// them, and the scenes that are slower than under apitrace.
pub fn rows(scenes: &[Scene]) -> Vec<Row> {
    Cores::BOTH.into_iter().flat_map(|cores| rows_on(scenes, cores)).collect()
}

fn rows_on(scenes: &[Scene], cores: Cores) -> [Row; 3] {
    let (mean, least) = match cores {
        Cores::One => (98.0, 90.0),
        Cores::All => (90.0, 75.0),
    };
    let scenes: Vec<_> = scenes.iter().filter(|scene| scene.cores == cores).collect();
    let kept: Vec<_> = scenes.iter().map(|scene| (scene.kept(), &scene.name)).collect();
    let mean_kept = (kept.iter().map(|(kept, _)| kept.ln()).sum::<f64>() / kept.len() as f64).exp();
    let slowest = kept.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    let (least_kept, slowest) = slowest.map_or((f64::NAN, ""), |(kept, name)| (*kept, name));
    let of = cores.describe();
    let what = format!("glmark2 {of}: scenes that keep less than under apitrace");
    let behind: Option<Vec<_>> = scenes
        .iter()
        .map(|scene| scene.is_behind_apitrace().map(|is_behind| (is_behind, &*scene.name)))
        .collect();
    let behind = match behind {
        Some(all) => {
            let names = all.iter().filter(|(is_behind, _)| *is_behind).map(|(_, name)| *name);
            let names: Vec<_> = names.collect();
            let row = Row::measured(what, names.len() as f64, Limit::AtMost(0.0));
            row.with_detail(names.join(", "))
        }
        None => Row::missing(what, "without apitrace", Limit::AtMost(0.0)),
    };
    let mean_what = format!("glmark2 {of}: frame rate kept, geometric mean, %");
    let least_what = format!("glmark2 {of}: frame rate kept, least of all scenes, %");
    [
        Row::measured(mean_what, 100.0 * mean_kept, Limit::AtLeast(mean)),
        Row::measured(least_what, 100.0 * least_kept, Limit::AtLeast(least)).with_detail(slowest),
        behind,
    ]
}

impl Scene {
    /// The part of the native frame rate that a capture keeps.
    fn kept(&self) -> f64 {
        glmark2::ratio(&self.rounds, Way::Captured, Way::Native, rate)
    }

    /// Whether a capture keeps less of the frame rate than apitrace, beyond doubt: the intervals of both over the rounds do not
    /// overlap. `None` without apitrace.
    fn is_behind_apitrace(&self) -> Option<bool> {
        self.rounds.iter().all(|round| round.contains_key(&Way::Apitrace)).then(|| {
            let (_, captured_most) = glmark2::interval(&self.rounds, Way::Captured, Way::Native);
            let (apitrace_least, _) = glmark2::interval(&self.rounds, Way::Apitrace, Way::Native);
            captured_most < apitrace_least
        })
    }
}

fn rate(run: &Run) -> f64 {
    run.frames_per_second
}

fn bytes(run: &Run) -> f64 {
    run.bytes_per_frame
}

fn print_scene(scene: &Scene) {
    let Scene { name, cores, rounds } = scene;
    let ways = rounds.first().into_iter().flat_map(BTreeMap::keys);
    for &way in ways {
        println!(
            "{:9}{:12.1}{:10.0}%{:14.0}  {}: {name}",
            way.name(),
            glmark2::middle(rounds, way, rate),
            100.0 * glmark2::ratio(rounds, way, Way::Native, rate),
            glmark2::middle(rounds, way, bytes),
            cores.describe(),
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

fn scene_as_json(scene: &Scene) -> Value {
    let run = |run: &Run| json!({"frames_per_second": run.frames_per_second, "bytes_per_frame": run.bytes_per_frame});
    let round = |round: &BTreeMap<Way, Run>| -> Value {
        round.iter().map(|(way, of)| (way.name().to_owned(), run(of))).collect::<Value>()
    };
    let rounds: Vec<_> = scene.rounds.iter().map(round).collect();
    json!({"scene": scene.name, "cores": scene.cores.describe(), "rounds": rounds})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(cores: Cores, rates: &[[f64; 3]]) -> Scene {
        let run = |rate| Run { frames_per_second: rate, bytes_per_frame: 0.0 };
        let round = |rates: &[f64; 3]| {
            glmark2::WAYS.iter().copied().zip(rates.map(run)).collect::<BTreeMap<_, _>>()
        };
        Scene { name: "x".to_owned(), cores, rounds: rates.iter().map(round).collect() }
    }

    fn verdicts(scenes: &[Scene], cores: Cores) -> Vec<String> {
        rows_on(scenes, cores).iter().map(|row| row.verdict().into_owned()).collect()
    }

    #[test]
    fn scenes_on_one_core_have_higher_bars() {
        let check = |kept: f64, one: [&str; 2], all: [&str; 2]| {
            for (cores, expected) in [(Cores::One, one), (Cores::All, all)] {
                let scenes = [scene(cores, &[[100.0, kept, 1.0]])];
                assert_eq!(verdicts(&scenes, cores)[..2], expected, "{kept} {cores:?}");
            }
        };
        check(98.5, ["holds", "holds"], ["holds", "holds"]);
        check(97.0, ["misses", "holds"], ["holds", "holds"]);
        check(89.0, ["misses", "misses"], ["misses", "holds"]);
        check(74.0, ["misses", "misses"], ["misses", "misses"]);
    }

    #[test]
    fn scene_is_behind_apitrace_only_if_the_intervals_do_not_overlap() {
        let check = |rates: &[[f64; 3]], expected: &str| {
            let scenes = [scene(Cores::All, rates)];
            assert_eq!(verdicts(&scenes, Cores::All)[2], expected, "{rates:?}");
        };
        check(&[[100.0, 80.0, 90.0], [100.0, 85.0, 95.0]], "misses");
        check(&[[100.0, 80.0, 90.0], [100.0, 91.0, 95.0]], "holds");
        check(&[[100.0, 95.0, 90.0]], "holds");
    }
}
