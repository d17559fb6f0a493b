//! Measures a call of Level Zero without a tracing layer, with ours and with Debian's, each with and without a
//! tracer, and captured, and commands that are kept for snapshots. Also measures a call of OpenGL ES with and without a
//! tracer.

use gapii_tests::bench::{self, Load, Way, level_zero_sample, median};
use gapii_tests::level_zero::{Costs, Layer, costs};
use gapii_tests::tracers;
use serde_json::json;

use crate::bars::{Bar, print_bars};
use crate::options::Options;

const CALLS: u64 = 20_000_000;
/// Nanoseconds that our layer may add: without a tracer, and for a prologue and an epilogue.
const MOST: (f64, f64) = (2.0, 15.0);
/// Nanoseconds that the shim may add while nothing is recorded: to a command that it passes on, and to commands that it
/// keeps for snapshots.
const MOST_IDLE: &[(&str, f64)] = &[
    ("zeKernelGetIndirectAccess", 2.0),
    ("zeKernelSetGroupSize", 10.0),
    ("zeKernelSetArgumentValue", 15.0),
    ("zeCommandListAppendLaunchKernel", 40.0),
    ("zeCommandListAppendMemoryCopy", 40.0),
    ("zeCommandListAppendBarrier", 40.0),
    ("zeKernelSetArgumentValue+zeCommandListAppendLaunchKernel", 70.0),
];
/// Runs of each kept command; the fastest counts.
const KEPT_RUNS: u64 = 500;
/// Nanoseconds that recording may add in bursts: to a command that is not kept, and to one that is, which may cost as much more as
/// keeping costs while nothing is recorded.
const MOST_CAPTURED: [(&str, f64); 2] =
    [("zeKernelGetIndirectAccess", 15.0), ("zeKernelSetGroupSize", 15.0 + 10.0)];
/// Nanoseconds that a prologue and an epilogue may add to a call of OpenGL ES, which also checks whether it is
/// recorded.
const MOST_GLES: f64 = 30.0;

/// Runs the program without a layer, with ours and with Debian's, round after round, and prints the
/// results.
pub fn measure(options: &Options) {
    const LAYERS: [Option<Layer>; 3] = [None, Some(Layer::Ours), Some(Layer::Debians)];
    let mut rounds = Vec::new();
    for number in 1..=options.rounds {
        eprintln!("round {number} of {}", options.rounds);
        rounds.push(LAYERS.map(|layer| costs(layer, CALLS)));
    }
    let median_of = |at: usize, figure: fn(&Costs) -> Option<f64>| {
        median(rounds.iter().filter_map(|round| round.get(at).and_then(figure)))
    };
    let [native, idle, debians_idle] = [0, 1, 2].map(|at| median_of(at, |c| Some(c.untraced_ns)));
    let [traced, debians_traced] = [1, 2].map(|at| median_of(at, |costs| costs.traced_ns));
    println!("median of {} rounds, {CALLS} calls each, in nanoseconds\n", options.rounds);
    println!("layer        no tracer    added    a tracer    its pair");
    println!("none      {native:12.2}");
    for (name, idle, traced) in [("ours", idle, traced), ("Debian's", debians_idle, debians_traced)]
    {
        let (added, pair) = (idle - native, traced - idle);
        println!("{name:10}{idle:12.2}{added:9.2}{traced:12.2}{pair:12.2}");
    }
    let gles: Vec<Costs> = rounds.iter().map(|_| tracers::costs(CALLS)).collect();
    let gles_idle = median(gles.iter().map(|costs| costs.untraced_ns));
    let gles_traced = median(gles.iter().filter_map(|costs| costs.traced_ns));
    let gles_pair = gles_traced - gles_idle;
    println!("\nOpenGL ES {gles_idle:12.2}         {gles_traced:12.2}{gles_pair:12.2}");
    let captured = MOST_CAPTURED.map(|(name, most)| captures(options, name, most));
    println!("\n{:56}{:>9}{:>9}{:>9}", "command, in bursts", "native", "idle", "captured");
    for Captured { name, native, idle, captured, .. } in &captured {
        println!("{name:56}{native:9.2}{idle:9.2}{captured:9.2}");
    }
    let kept = idle_figures(options);
    println!("\n{:56}{:>9}{:>9}{:>9}", "command", "native", "asleep", "idle");
    for Idle { name, native, asleep, idle, .. } in &kept {
        println!("{name:56}{native:9.2}{asleep:9.2}{idle:9.2}");
    }
    println!();
    let mut bars = vec![
        Bar {
            what: "added by the layer without a tracer, ns".into(),
            measured: idle - native,
            limit: MOST.0,
            least: false,
        },
        Bar {
            what: "a prologue and an epilogue, ns".into(),
            measured: traced - idle,
            limit: MOST.1,
            least: false,
        },
        Bar {
            what: "a pair around OpenGL ES, ns".into(),
            measured: gles_pair,
            limit: MOST_GLES,
            least: false,
        },
    ];
    bars.extend(captured.iter().map(|Captured { name, native, captured, most, .. }| Bar {
        what: format!("{name}, captured, ns").into(),
        measured: captured - native,
        limit: *most,
        least: false,
    }));
    bars.extend(kept.iter().map(|Idle { name, native, idle, most, .. }| Bar {
        what: format!("{name}, idle, ns").into(),
        measured: idle - native,
        limit: *most,
        least: false,
    }));
    print_bars(&bars);
    if options.json {
        let of = |idle: f64, traced: f64| json!({ "untraced_ns": idle, "traced_ns": traced });
        let ours = of(idle, traced);
        let debians = of(debians_idle, debians_traced);
        let gles = of(gles_idle, gles_traced);
        let bursts = captured.iter().map(|it| {
            json!({
                "command": it.name, "native_ns": it.native, "idle_ns": it.idle,
                "captured_ns": it.captured,
            })
        });
        let bursts: Vec<_> = bursts.collect();
        let kept = kept.iter().map(|it| {
            json!({
                "command": it.name, "native_ns": it.native, "asleep_ns": it.asleep,
                "idle_ns": it.idle,
            })
        });
        let kept: Vec<_> = kept.collect();
        let all = json!({
            "native_ns": native, "ours": ours, "debians": debians, "gles": gles, "bursts": bursts,
            "kept": kept
        });
        println!("{all}");
    }
}

/// Nanoseconds of one command.
struct Idle {
    name: String,
    native: f64,
    asleep: f64,
    idle: f64,
    /// Nanoseconds that the shim may add.
    most: f64,
}

/// Measures commands without gapii, with libgapii asleep and with libgapii idle. Medians of the rounds.
fn idle_figures(options: &Options) -> Vec<Idle> {
    const WAYS: [Way; 3] = [Way::Native, Way::Asleep, Way::Idle];
    let rounds: Vec<_> =
        (0..options.rounds).map(|_| WAYS.map(|way| bench::kept(way, KEPT_RUNS))).collect();
    let figures = MOST_IDLE.iter().map(|(name, most)| {
        let [native, asleep, idle] = [0, 1, 2].map(|way: usize| {
            let all = rounds.iter().filter_map(|round| round.get(way));
            let own = all.flat_map(|figures| figures.iter().filter(|(known, _)| known == name));
            median(own.map(|(_, ns)| *ns))
        });
        Idle { name: (*name).to_owned(), native, asleep, idle, most: *most }
    });
    figures.collect()
}

/// Nanoseconds of one command in bursts.
struct Captured {
    name: &'static str,
    native: f64,
    /// With libgapii and our layer.
    idle: f64,
    captured: f64,
    /// Nanoseconds that recording may add.
    most: f64,
}

/// Measures a command of Level Zero in bursts. Medians of the rounds.
fn captures(options: &Options, name: &'static str, most: f64) -> Captured {
    const RUNS: u64 = 40;
    let load = Load::burst(1, RUNS).halved();
    let ways = [Way::Native, Way::Idle, Way::Captured];
    let rounds: Vec<_> = (0..options.rounds)
        .map(|_| ways.map(|way| level_zero_sample(name, way, load).cpu_ns_per_call))
        .collect();
    let [native, idle, captured] =
        [0, 1, 2].map(|at| median(rounds.iter().filter_map(|round| round.get(at).copied())));
    Captured { name, native, idle, captured, most }
}
