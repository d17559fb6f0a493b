//! `demo`: records 100 frames of glmark2-es2 on a display of its own, prints a summary of the trace, and replays
//! it for a contact sheet.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use serde_json::Value;

use crate::tree::Profile;
use crate::xserver::XServer;
use crate::{build, packages, step, tree};

const FRAMES: u64 = 100;
/// Frames of each timed run; 100 frames end too soon for a good measurement.
const TIMED_FRAMES: u64 = 500;
/// Number of runs of each kind. Native and captured runs alternate, so that other load on the machine affects both.
const ROUNDS: usize = 3;

pub fn run() -> anyhow::Result<()> {
    packages::install(&[packages::DEMO])?;
    build::product(Profile::Release)?;
    let display = XServer::start()?;
    let folder = tree::target().join("demo");
    std::fs::create_dir_all(&folder)?;
    let trace = folder.join("glmark2-es2.gapii");

    println!("recording {FRAMES} frames of glmark2-es2");
    let frames = FRAMES.to_string();
    record(&["--frames", &frames, "--quit"], &trace, &mut glmark2(10 * FRAMES), &display)?;
    let info = info(&trace)?;
    println!("timing {TIMED_FRAMES} frames {ROUNDS} times with capture and without");
    let (native, captured) = frame_times(&folder.join("timed.gapii"), &display)?;
    print_table(&info, native, captured)?;
    let sheet = folder.join("glmark2-es2.png");
    montage(&trace, &sheet)?;
    println!("\nthe trace is {}", trace.display());
    println!("list it:     {} dump {}", ctl().display(), trace.display());
    println!("play it:     {} replay {} --window", ctl().display(), trace.display());
    println!("its frames, played from the trace, are on {}", sheet.display());
    Ok(())
}

fn ctl() -> std::path::PathBuf {
    tree::release().join("gapii-ctl")
}

/// One scene, as fast as it goes.
fn glmark2(frames: u64) -> Command {
    let scene = format!("build:nframes={frames}:duration=600");
    step::command("glmark2-es2", &["--size", "640x480", "--benchmark", &scene])
}

/// Runs `program` under `gapii-ctl run`; returns the program's output.
fn record(
    options: &[&str],
    trace: &Path,
    program: &mut Command,
    display: &XServer,
) -> anyhow::Result<String> {
    let mut command = Command::new(ctl());
    command.arg("run").args(options).args(["--force", "-o"]).arg(trace).arg("--");
    command.arg(program.get_program()).args(program.get_args());
    command.env("DISPLAY", display.name()).stdin(Stdio::null());
    step::output(&mut command)
}

/// Plays the trace, and puts its frames on a contact sheet.
fn montage(trace: &Path, sheet: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(ctl());
    step::output(command.arg("montage").arg(trace).args(["--force", "-o"]).arg(sheet)).map(drop)
}

/// Milliseconds per frame without and with capture: medians, by the program's own clock.
fn frame_times(scratch: &Path, display: &XServer) -> anyhow::Result<(f64, f64)> {
    let (mut native, mut captured) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut program = glmark2(TIMED_FRAMES);
        native.push(frame_time(&step::output(program.env("DISPLAY", display.name()))?)?);
        captured.push(frame_time(&record(&[], scratch, &mut program, display)?)?);
    }
    std::fs::remove_file(scratch)?;
    Ok((median(native), median(captured)))
}

/// Finds `FrameTime: 2.016 ms` in what glmark2 prints.
fn frame_time(printed: &str) -> anyhow::Result<f64> {
    let (_, rest) = printed.split_once("FrameTime:").context("glmark2-es2 printed no FrameTime")?;
    let number = rest.split_whitespace().next().context("FrameTime is empty")?;
    number.parse().with_context(|| format!("FrameTime is `{number}`"))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn info(trace: &Path) -> anyhow::Result<Value> {
    let mut command = Command::new(ctl());
    command.arg("info").arg(trace).arg("--json");
    serde_json::from_str(&step::output(&mut command)?).context("info --json is no JSON")
}

fn print_table(info: &Value, native: f64, captured: f64) -> anyhow::Result<()> {
    let count = |path: &str| {
        info.pointer(path).and_then(Value::as_u64).with_context(|| format!("info has no {path}"))
    };
    let (frames, calls) = (count("/frames")?, count("/calls")?);
    let (raw, file) = (count("/raw_bytes")?, count("/file_bytes")?);
    if frames == 0 {
        bail!("no frame was recorded");
    }
    println!();
    println!("frames              {frames}");
    println!("commands            {calls}");
    println!("commands per frame  {:.1}", calls as f64 / frames as f64);
    println!("threads             {}", count("/threads")?);
    println!("bytes raw           {raw}");
    println!("bytes compressed    {file}  ({:.1} %)", 100.0 * file as f64 / raw.max(1) as f64);
    println!("waits               {}", count("/waits")?);
    println!("lost commands       {}", count("/lost/calls")?);
    println!("time per frame      {native:.3} ms without capture, {captured:.3} ms with");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_time_is_found_in_what_glmark2_prints() {
        let printed = "[build] nframes=100: FPS: 497 FrameTime: 2.016 ms\n===\n";
        assert_eq!(frame_time(printed).ok(), Some(2.016));
        assert!(frame_time("glmark2 failed").is_err());
    }

    #[test]
    fn median_is_the_middle_value() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
    }
}
