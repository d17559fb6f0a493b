//! Lines that `replay` prints for each frame, for programs: `frame 3 640x480 DIGEST` with `--checksum`, and `frame 3
//! cpu_ns=1200 gpu_ns=900` with `--benchmark`. A frame of a second process begins with `process 1`, and with `--loop` or `--loop-last` all
//! begin with `round 0` and so on.

use std::fmt::Write;

use gapii_replay::images::FrameChecksum;
use gapii_replay::{MeasuredFrame, Report};

/// A line for each checksum and each time; `with_rounds` says that each begins with its round.
pub fn lines(report: &Report, with_rounds: bool) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    for it in &report.checksums {
        let FrameChecksum { round, process, frame, width, height, blake3 } = it;
        let place = place(with_rounds.then_some(*round), *process, *frame);
        let _ = writeln!(text, "{place} {width}x{height} {blake3}");
    }
    for it in &report.frame_times {
        let MeasuredFrame { round, process, frame, cpu_ns, gpu_ns } = *it;
        let place = place(with_rounds.then_some(round), process, frame);
        let gpu = gpu_ns.map(|gpu_ns| format!(" gpu_ns={gpu_ns}")).unwrap_or_default();
        let _ = writeln!(text, "{place} cpu_ns={cpu_ns}{gpu}");
    }
    text
}

fn place(round: Option<u64>, process: u32, frame: u64) -> String {
    let round = round.map(|round| format!("round {round} ")).unwrap_or_default();
    match process {
        0 => format!("{round}frame {frame}"),
        process => format!("{round}process {process} frame {frame}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_frame_has_a_line() {
        let blake3 = "ab".repeat(32);
        let (width, height) = (640, 480);
        let checksum = FrameChecksum { round: 1, process: 0, frame: 3, width, height, blake3 };
        let time = MeasuredFrame { round: 0, process: 0, frame: 0, cpu_ns: 12, gpu_ns: Some(9) };
        let other = MeasuredFrame { process: 1, gpu_ns: None, ..time };
        let report = Report {
            checksums: vec![checksum],
            frame_times: vec![time, other],
            ..Report::default()
        };
        let digest = "ab".repeat(32);
        assert_eq!(
            lines(&report, false),
            format!(
                "frame 3 640x480 {digest}\nframe 0 cpu_ns=12 gpu_ns=9\nprocess 1 frame 0 cpu_ns=12\n"
            )
        );
        assert_eq!(
            lines(&report, true),
            format!(
                "round 1 frame 3 640x480 {digest}\nround 0 frame 0 cpu_ns=12 gpu_ns=9\n\
                 round 0 process 1 frame 0 cpu_ns=12\n"
            )
        );
    }
}
