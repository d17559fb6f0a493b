//! What recording costs: the program of cheap calls natively, with the shim loaded, captured, timed,
//! and under apitrace, interleaved; medians, added nanoseconds and ratios, and which bars are reached.
//!
//! With `--glmark2`, scenes of glmark2-es2 in the same way: frames a second, bytes a frame. With
//! `--replay`, scenes and replays of their recordings. With `--tracked`, what commands cost that are
//! followed at all times.
//!
//! Nothing else should run on the machine meanwhile.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Parser;
use gapii_tests::bench::{self, Load, On, Sample, Way, median, sample};
use gapii_tests::display::Display;
use gapii_tests::glmark2::{self, Rounds, Run};
use gapii_tests::process::missing;
use gapii_tests::replaying::{self, Rates};
use serde_json::{Value, json};

/// Measure what recording costs
#[derive(Parser)]
#[command(name = "bench")]
struct Options {
    /// Rounds; each runs everything once, and medians are taken over them
    #[arg(long, default_value_t = 5)]
    rounds: u64,

    /// Numbers of threads
    #[arg(long, value_delimiter = ',', default_value = "1,2,4")]
    threads: Vec<u64>,

    /// The driver below
    #[arg(long, value_enum, default_value = "bare")]
    driver: On,

    /// Timed runs of half a ring in a burst
    #[arg(long, default_value_t = 20)]
    burst_runs: u64,

    /// Calls of a sustained run
    #[arg(long, default_value_t = 100_000_000)]
    sustained_calls: u64,

    /// Calls of a sustained run under apitrace, which takes twenty times as long for each
    #[arg(long, default_value_t = 10_000_000)]
    apitrace_calls: u64,

    /// Leave apitrace out
    #[arg(long)]
    without_apitrace: bool,

    /// Measure scenes of glmark2-es2 instead: frames a second, and bytes of the trace for each
    #[arg(long)]
    glmark2: bool,

    /// Measure replays of scenes of glmark2-es2 instead: frames a second
    #[arg(long)]
    replay: bool,

    /// Measure instead what commands cost that are followed while nothing is recorded
    #[arg(long)]
    tracked: bool,

    /// Seconds that a scene of glmark2-es2 lasts
    #[arg(long, default_value_t = 3)]
    seconds: u64,

    /// Print the figures as JSON too, on the last line
    #[arg(long)]
    json: bool,
}

/// Samples of every round, by number of threads and way.
type Samples = BTreeMap<(u64, Way), Vec<Sample>>;

fn main() -> ExitCode {
    let options = Options::parse();
    if !options.without_apitrace
        && let Some(what_to_do) = missing("apitrace")
    {
        eprintln!("bench: {what_to_do}, or leave it out with --without-apitrace");
        return ExitCode::FAILURE;
    }
    if options.replay {
        measure_replays(&options);
        return ExitCode::SUCCESS;
    }
    if options.glmark2 {
        measure_scenes(&options);
        return ExitCode::SUCCESS;
    }
    if options.tracked {
        measure_tracked(&options);
        return ExitCode::SUCCESS;
    }
    let (burst, sustained) = measure(&options);
    println!("driver: {}", describe(options.driver));
    println!("median of {} rounds\n", options.rounds);
    print_burst(&burst);
    print_sustained(&options, &sustained);
    let bars = bars(&burst, &sustained);
    print_bars(&bars);
    if options.json {
        println!("{}", as_json(&options, &burst, &sustained, &bars));
    }
    ExitCode::SUCCESS
}

fn describe(driver: On) -> &'static str {
    match driver {
        On::Bare => "a fake one whose functions only return (tests/fake-driver, uncounted)",
        On::Mesa => "Mesa's, offscreen, rasterizer discarded",
    }
}

/// Runs every combination once a round.
fn measure(options: &Options) -> (Samples, Samples) {
    let (mut burst, mut sustained) = (Samples::new(), Samples::new());
    let ways =
        Way::ALL.into_iter().filter(|way| !(options.without_apitrace && *way == Way::Apitrace));
    let ways: Vec<Way> = ways.collect();
    for round in 1..=options.rounds {
        for &threads in &options.threads {
            for &way in &ways {
                eprintln!("round {round} of {}: {threads} threads, {}", options.rounds, way.name());
                let load = Load::burst(threads, options.burst_runs);
                let load = if way == Way::Timed { load.halved() } else { load };
                burst.entry((threads, way)).or_default().push(sample(options.driver, way, load));
                let load = Load::sustained(threads, sustained_calls(options, way));
                sustained.entry((threads, way)).or_default().push(sample(
                    options.driver,
                    way,
                    load,
                ));
            }
        }
    }
    (burst, sustained)
}

fn sustained_calls(options: &Options, way: Way) -> u64 {
    if way == Way::Apitrace { options.apitrace_calls } else { options.sustained_calls }
}

fn middle(samples: &Samples, threads: u64, way: Way, figure: impl Fn(&Sample) -> f64) -> f64 {
    median(samples.get(&(threads, way)).into_iter().flatten().map(figure))
}

fn cpu_ns(samples: &Samples, threads: u64, way: Way) -> f64 {
    middle(samples, threads, way, |sample| sample.cpu_ns_per_call)
}

fn print_burst(burst: &Samples) {
    println!("burst: CPU time of a thread, runs of half a ring");
    println!("threads  way        ns/call    added    ratio    waits");
    for &(threads, way) in burst.keys() {
        let (ours, native) = (cpu_ns(burst, threads, way), cpu_ns(burst, threads, Way::Native));
        let waits = middle(burst, threads, way, |sample| sample.waits as f64);
        let (added, ratio) = (ours - native, ours / native);
        println!("{threads:7}  {:9}{ours:9.2}{added:9.2}{ratio:9.1}{waits:9.0}", way.name());
    }
    println!();
}

fn print_sustained(options: &Options, sustained: &Samples) {
    println!(
        "sustained: wall time, {} calls in all (apitrace {}), nothing lost",
        options.sustained_calls, options.apitrace_calls
    );
    println!("threads  way       M calls/s   ns/call    ratio    waits  waiting  bytes/call");
    for &(threads, way) in sustained.keys() {
        let rate = |way| middle(sustained, threads, way, |sample| sample.calls_per_second);
        let (ours, native) = (rate(way), rate(Way::Native));
        let waits = middle(sustained, threads, way, |sample| sample.waits as f64);
        let wall_ns = sustained_calls(options, way) as f64 / ours * 1e9;
        let waiting = middle(sustained, threads, way, |sample| sample.wait_ns as f64);
        let waiting = 100.0 * waiting / (wall_ns * threads as f64);
        let bytes = middle(sustained, threads, way, |sample| sample.bytes_per_call);
        println!(
            "{threads:7}  {:9}{:10.2}{:10.1}{:9.1}{waits:9.0}{waiting:8.0}%{bytes:12.2}",
            way.name(),
            ours / 1e6,
            1e9 / ours,
            native / ours,
        );
    }
    println!();
}

/// Runs the program of tracked commands natively and with the shim loaded, asleep and not, round after
/// round, and prints what came out.
fn measure_tracked(options: &Options) {
    const CALLS: u64 = 10_000_000;
    const WAYS: [Way; 3] = [Way::Native, Way::Asleep, Way::Idle];
    /// Added nanoseconds: asleep, and idle of the first command, which is not followed, and of others.
    const MOST: (f64, [f64; 2]) = (2.0, [2.0, 12.0]);
    let mut rounds = Vec::new();
    for number in 1..=options.rounds {
        eprintln!("round {number} of {}", options.rounds);
        rounds.push(WAYS.map(|way| bench::tracked(way, CALLS)));
    }
    println!("driver: {}", describe(On::Bare));
    println!("median of {} rounds, {CALLS} calls each: added nanoseconds\n", options.rounds);
    println!("command                      native   asleep      bar     idle      bar");
    let native = rounds.first().map(|[native, ..]| native.clone()).unwrap_or_default();
    let mut figures = Vec::new();
    for (at, (name, _)) in native.iter().enumerate() {
        let [native, asleep, idle] = [0, 1, 2].map(|way: usize| {
            median(rounds.iter().filter_map(|round| Some(round.get(way)?.get(at)?.1)))
        });
        let (of_asleep, of_idle) = (MOST.0, MOST.1[usize::from(at > 0)]);
        let bar = |added: f64, most: f64| {
            format!("{added:9.2}  {most:2} {}", if added <= most { "ok  " } else { "OVER" })
        };
        let (asleep_bar, idle_bar) = (bar(asleep - native, of_asleep), bar(idle - native, of_idle));
        println!("{name:26}{native:9.2}{asleep_bar}{idle_bar}");
        figures.push(json!({
            "command": name, "native_ns": native, "asleep_ns": asleep, "idle_ns": idle,
        }));
    }
    if options.json {
        println!("{}", Value::from(figures));
    }
}

/// Runs every scene in every way, round after round, and prints what came out.
fn measure_scenes(options: &Options) {
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

/// Runs every scene and replays of it, round after round, and prints what came out.
fn measure_replays(options: &Options) {
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

/// A promise, and what was measured.
struct Bar {
    what: Cow<'static, str>,
    measured: f64,
    limit: f64,
    /// The limit is the least, not the most.
    least: bool,
}

impl Bar {
    fn reached(&self) -> bool {
        if self.least { self.measured >= self.limit } else { self.measured <= self.limit }
    }
}

fn bars(burst: &Samples, sustained: &Samples) -> Vec<Bar> {
    let added = |threads, way| cpu_ns(burst, threads, way) - cpu_ns(burst, threads, Way::Native);
    let captured = |figure: fn(&Sample) -> f64| middle(sustained, 1, Way::Captured, figure);
    vec![
        Bar {
            what: "idle, one thread: ns added".into(),
            measured: added(1, Way::Idle),
            limit: 2.0,
            least: false,
        },
        Bar {
            what: "captured, burst, one thread: ns added".into(),
            measured: added(1, Way::Captured),
            limit: 15.0,
            least: false,
        },
        Bar {
            what: "captured, burst, each of two threads: ns added".into(),
            measured: added(2, Way::Captured),
            limit: 30.0,
            least: false,
        },
        Bar {
            what: "captured, sustained: M commands/s".into(),
            measured: captured(|s| s.calls_per_second) / 1e6,
            limit: 10.0,
            least: true,
        },
        Bar {
            what: "captured, sustained: bytes a command".into(),
            measured: captured(|s| s.bytes_per_call),
            limit: 3.0,
            least: false,
        },
        Bar {
            what: "captured, sustained: commands lost".into(),
            measured: captured(|s| s.lost_calls as f64),
            limit: 0.0,
            least: false,
        },
    ]
}

fn print_bars(bars: &[Bar]) {
    for bar in bars.iter().filter(|bar| !bar.measured.is_nan()) {
        let Bar { what, measured, limit, least } = bar;
        let (sign, verdict) =
            (if *least { "≥" } else { "≤" }, if bar.reached() { "reached" } else { "MISSED" });
        println!("{what:48}{measured:8.2}  {sign} {limit:4}  {verdict}");
    }
}

fn as_json(options: &Options, burst: &Samples, sustained: &Samples, bars: &[Bar]) -> Value {
    let list = |samples: &Samples| -> Vec<Value> {
        samples
            .keys()
            .map(|&(threads, way)| {
                let middle = |figure: fn(&Sample) -> f64| middle(samples, threads, way, figure);
                json!({
                    "threads": threads,
                    "way": way.name(),
                    "cpu_ns_per_call": middle(|s| s.cpu_ns_per_call),
                    "calls_per_second": middle(|s| s.calls_per_second),
                    "waits": middle(|s| s.waits as f64),
                    "wait_ns": middle(|s| s.wait_ns as f64),
                    "bytes_per_call": middle(|s| s.bytes_per_call),
                })
            })
            .collect()
    };
    let bars: Vec<_> = bars
        .iter()
        .map(|bar| json!({"what": &*bar.what, "measured": bar.measured, "limit": bar.limit, "reached": bar.reached()}))
        .collect();
    json!({
        "driver": format!("{:?}", options.driver).to_lowercase(),
        "rounds": options.rounds,
        "sustained_calls": options.sustained_calls,
        "apitrace_calls": options.apitrace_calls,
        "burst": list(burst),
        "sustained": list(sustained),
        "bars": bars,
    })
}
