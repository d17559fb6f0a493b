//! `ProgressLine`: progress of a capture, in a line that rewrites itself up to 4 times a second. Shown only if standard
//! error is a terminal.

use std::time::{Duration, Instant};

use gapii_control::Progress;
use indicatif::{DecimalBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

pub struct ProgressLine {
    bar: ProgressBar,
    began: Instant,
}

impl ProgressLine {
    pub fn start() -> ProgressLine {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
        if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
            bar.set_style(style);
        }
        bar.set_message("waiting for the first command");
        ProgressLine { bar, began: Instant::now() }
    }

    pub fn show(&self, progress: &Progress) {
        self.bar.set_message(text(progress, self.began.elapsed()));
    }

    /// Takes the line away while `print` prints something else.
    pub fn suspend(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

fn text(progress: &Progress, elapsed: Duration) -> String {
    let rate = progress.raw_bytes as f64 / elapsed.as_secs_f64().max(0.001);
    if progress.is_waiting {
        return "waiting for the event of --when".to_owned();
    }
    if progress.is_paused {
        return format!("paused after {} frames", HumanCount(progress.frames));
    }
    if progress.describing {
        return format!(
            "copying the program's state: {} so far, {}/s",
            DecimalBytes(progress.blob_bytes),
            DecimalBytes(rate as u64),
        );
    }
    format!(
        "{} frames, {} in {}, {}/s, {} lost",
        HumanCount(progress.frames),
        DecimalBytes(progress.raw_bytes),
        DecimalBytes(progress.file_bytes),
        DecimalBytes(rate as u64),
        HumanCount(progress.lost_calls),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_has_what_was_copied_while_the_program_is_described() {
        let described = Progress {
            describing: true,
            raw_bytes: 60_000_000,
            blob_bytes: 59_000_000,
            ..Progress::default()
        };
        let line = text(&described, Duration::from_secs(2));
        assert_eq!(line, "copying the program's state: 59.00 MB so far, 30.00 MB/s");
        let line = text(&Progress { describing: false, ..described }, Duration::from_secs(2));
        assert_eq!(line, "0 frames, 60.00 MB in 0 B, 30.00 MB/s, 0 lost");
    }

    #[test]
    fn line_says_why_nothing_is_recorded() {
        let paused = Progress { is_paused: true, frames: 1_200, ..Progress::default() };
        assert_eq!(text(&paused, Duration::ZERO), "paused after 1,200 frames");
        let waiting = Progress { is_waiting: true, ..Progress::default() };
        assert!(
            text(&waiting, Duration::from_secs(2)).starts_with("waiting for the event of --when")
        );
    }

    #[test]
    fn line_has_frames_bytes_rate_and_losses() {
        let progress = Progress {
            frames: 1234,
            raw_bytes: 3_000_000,
            file_bytes: 100_000,
            lost_calls: 7,
            ..Progress::default()
        };
        let line = text(&progress, Duration::from_secs(2));
        assert_eq!(line, "1,234 frames, 3.00 MB in 100.00 kB, 1.50 MB/s, 7 lost");
    }
}
