//! Replay for programs: digests of frames, loops, times, lists of traces, and programs as files. All play one recording.

use std::fs;
use std::path::Path;

use gapii_tests::gapii::{Session, Trace};
use gapii_tests::process::{Finished, run};
use gapii_tests::replays::{Recorded, record_app_once, replay};
use serde_json::Value;

fn recorded() -> (Session, Trace) {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let Recorded { trace, .. } = record_app_once(&session, "animation", &[]).expect("a recording");
    (session, trace)
}

fn answer(finished: Finished) -> Value {
    let finished = finished.ok();
    gapii_test_json::value(&finished.stdout).expect("an answer")
}

/// The digest of a PNG's pixels, computed as docs/replay.md says.
fn digest(width: u32, height: u32, rgba: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&width.to_le_bytes());
    hasher.update(&height.to_le_bytes());
    hasher.update(rgba);
    hasher.finalize().to_string()
}

/// Size and RGBA pixels of a PNG, rows from the top.
fn pixels(path: &Path) -> (u32, u32, Vec<u8>) {
    let file = fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut decoder = png::Decoder::new(std::io::BufReader::new(file));
    decoder.set_transformations(png::Transformations::ALPHA);
    let mut reader = decoder.read_info().expect("a PNG");
    let mut rgba = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut rgba).expect("a whole PNG");
    (info.width, info.height, rgba)
}

#[test]
fn rounds_of_a_trace_have_equal_digests_and_each_frame_has_its_times() {
    let (session, trace) = recorded();
    let last = session.path("last.png");
    let options = ["--strict", "--json", "--loop", "5", "--checksum", "--last-frame"];
    let mut command = replay(&session, &trace.path, &options);
    let report = answer(run(command.arg("--snapshot-last").arg(&last)));
    let checksums = report["checksums"].as_array().expect("a list");
    let rounds: Vec<_> = checksums.iter().map(|it| it["round"].as_u64()).collect();
    assert_eq!(rounds, [0, 1, 2, 3, 4].map(Some));
    let (width, height, rgba) = pixels(&last);
    let expected = digest(width, height, &rgba);
    assert!(checksums.iter().all(|it| it["blake3"] == *expected), "{checksums:?}");
    let frames = report["frames"].as_u64().expect("a number");
    assert!(checksums.iter().all(|it| it["frame"] == frames - 1), "{checksums:?}");

    // The lines for people have the digests of all frames, and the last one is the same.
    let lines = run(&mut replay(&session, &trace.path, &["--checksum"])).ok().stdout;
    let lines: Vec<&str> = lines.lines().filter(|line| line.starts_with("frame ")).collect();
    assert_eq!(lines.len() as u64, frames);
    let line = format!("frame {} {width}x{height} {expected}", frames - 1);
    assert_eq!(lines.last(), Some(&line.as_str()));
    let mut digests: Vec<_> = lines.iter().map(|line| line.rsplit(' ').next()).collect();
    digests.sort_unstable();
    digests.dedup();
    assert!(digests.len() > 1, "the frames are equal: {lines:?}");

    let options = ["--benchmark", "--loop", "2", "--json"];
    let report = answer(run(&mut replay(&session, &trace.path, &options)));
    let times = report["frame_times"].as_array().expect("a list");
    assert_eq!(times.len() as u64, 2 * frames);
    let is_measured = |time: &Value, key: &str| time[key].as_u64().is_some_and(|ns| ns > 0);
    assert!(times.iter().all(|time| is_measured(time, "cpu_ns")), "{times:?}");
    // Mesa's llvmpipe has timestamps.
    assert!(times.iter().all(|time| is_measured(time, "gpu_ns")), "{times:?}");
}
