//! `FrameWatch`: notices that a capture with a limit of frames records commands, and that no frame ends: the program may never
//! swap. Notices it once, after 5 s (`PATIENCE`).

use std::time::{Duration, Instant};

use gapii_control::{Progress, StartRequest};
use gapii_trace::frame_rule::FrameRule;

/// How long commands are recorded without the end of a frame.
const PATIENCE: Duration = Duration::from_secs(5);

/// Looks at the progress of a capture.
#[derive(Default)]
pub struct FrameWatch {
    /// When the first commands were recorded.
    since: Option<Instant>,
    is_over: bool,
}

impl FrameWatch {
    /// Returns a sentence if no frame has ended by `now`, once. `request` began the capture.
    pub fn look(
        &mut self,
        progress: &Progress,
        request: &StartRequest,
        now: Instant,
    ) -> Option<String> {
        let is_recording = progress.raw_bytes > 0
            && !progress.is_waiting
            && !progress.is_paused
            && !progress.describing;
        self.is_over |= progress.frames > 0 || request.frames.is_none() || request.counts_submits;
        if self.is_over || !is_recording {
            return None;
        }
        let since = *self.since.get_or_insert(now);
        self.is_over = now.duration_since(since) >= PATIENCE;
        self.is_over.then(|| sentence(&request.frame_rule))
    }
}

fn sentence(rule: &FrameRule) -> String {
    let why = match rule.is_empty() {
        true => {
            "the program may never swap; --frame-end glFlush, for example, ends frames elsewhere"
                .to_owned()
        }
        false => format!("the program has not called what ends them: {rule}"),
    };
    let seconds = PATIENCE.as_secs();
    format!("no frame has ended in {seconds} s, so the limit of frames ends nothing yet: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_without_a_frame_are_noticed_once() {
        let request = StartRequest { frames: Some(60), ..StartRequest::default() };
        let progress = Progress { raw_bytes: 7, ..Progress::default() };
        let nothing = Progress::default();
        let began = Instant::now();
        let look = |watch: &mut FrameWatch, progress, request, seconds| {
            watch.look(progress, request, began + Duration::from_secs(seconds))
        };
        let mut watch = FrameWatch::default();
        assert_eq!(look(&mut watch, &nothing, &request, 9), None, "no command yet");
        assert_eq!(look(&mut watch, &progress, &request, 10), None);
        assert_eq!(look(&mut watch, &progress, &request, 14), None);
        let said = look(&mut watch, &progress, &request, 15).unwrap();
        assert!(said.contains("in 5 s") && said.contains("--frame-end glFlush"), "{said}");
        assert_eq!(look(&mut watch, &progress, &request, 99), None, "said already");

        let rule = FrameRule(vec!["glFinish".to_owned()]);
        let ruled = StartRequest { frame_rule: rule, ..request.clone() };
        let mut watch = FrameWatch::default();
        look(&mut watch, &progress, &ruled, 0);
        let said = look(&mut watch, &progress, &ruled, 5).unwrap();
        assert!(said.ends_with("has not called what ends them: glFinish"), "{said}");
    }

    #[test]
    fn captures_with_frames_or_without_a_limit_are_left_alone() {
        let check = |progress: Progress, request: StartRequest| {
            let mut watch = FrameWatch::default();
            let began = Instant::now();
            for seconds in [0, 9] {
                let now = began + Duration::from_secs(seconds);
                assert_eq!(watch.look(&progress, &request, now), None, "{progress:?}");
            }
        };
        let limited = StartRequest { frames: Some(60), ..StartRequest::default() };
        let recording = Progress { raw_bytes: 7, ..Progress::default() };
        check(recording.clone(), StartRequest::default());
        check(Progress { frames: 1, ..recording.clone() }, limited.clone());
        check(Progress { is_paused: true, ..recording }, limited);
    }
}
