//! The plan of a capture: the client's request, and the settings for the capture's applications. A second capture of a
//! program is refused if it asks for `--timing`, `--gpu-timing`, `--frame-pixels`, another `--observe-frames`, another `--submits`,
//! another `--frame-end` or `--overflow wait` that the first does not have; otherwise it gets the first one's settings, the stall limit
//! included. With `--when` the program does not count frames for the frame limit; the daemon does. A continued capture
//! keeps the settings that its programs have.

use gapii_abi::app::Launch;
use gapii_control::trigger::Trigger;
use gapii_ringbuf::{CaptureId, Mode, ModeSettings, Overflow};
use gapii_trace::Untrusted;
use gapii_trace::filter::Filter;
use gapii_trace::footer::CaptureOptions;
use gapii_trace::frame_rule::FrameRule;

use crate::kept_frames::KeepLimits;

/// The plan of a capture, from its client's request.
#[derive(Clone, Debug)]
pub struct Plan {
    pub id: u64,
    /// Pid of the client that asked for the capture.
    pub client: u32,
    /// The capture's permanent identity: its number and session. Another daemon may have begun the capture.
    pub origin: CaptureId,
    /// Processes with this token join. Without a token, only the processes that were connected at the start
    /// join.
    pub launch: Option<Launch>,
    pub frames: Option<u64>,
    pub skip_frames: u64,
    pub seconds: Option<f64>,
    pub overflow: gapii_control::Overflow,
    pub stall_ms: u64,
    pub observe_frames: Option<u32>,
    pub frame_pixels: bool,
    pub timing: bool,
    /// Only with `timing`.
    pub gpu_timing: bool,
    pub counts_submits: bool,
    /// Processes begin at their next command, not at the end of a frame.
    pub at_any_command: bool,
    /// Which commands end a frame; swaps do if it is empty.
    pub frame_rule: FrameRule,
    /// Bytes of contents that a snapshot may copy, to send them while the program runs on.
    pub attach_memory: u64,
    pub keep: Option<KeepLimits>,
    /// The capture's name, if the client gave one.
    pub name: Option<String>,
    /// Size of the output, in bytes, at which the capture ends.
    pub bytes: Option<u64>,
    pub if_slow: gapii_control::IfSlow,
    /// Selects the commands of its processes that the capture has.
    pub filter: Filter,
    /// The trigger that the capture waits for in each process before it begins.
    pub when: Option<Trigger>,
    pub command: Vec<Untrusted>,
    pub level: i32,
    pub ring_bytes: u64,
}

impl Plan {
    /// Returns the settings for the capture's processes.
    pub fn mode(&self) -> ModeSettings {
        ModeSettings {
            mode: Mode::Capturing,
            overflow: match self.overflow {
                gapii_control::Overflow::Wait => Overflow::Wait,
                gapii_control::Overflow::Drop => Overflow::Drop,
            },
            // With a trigger, frames count from the trigger on, so the process must not count them.
            frames: self.frames.filter(|_| self.when.is_none()).unwrap_or(0),
            skip_frames: self.skip_frames,
            stall_ns: self.stall_ms.saturating_mul(1_000_000),
            observe_frames: self.observe_frames.unwrap_or(0),
            observe_pixels: self.frame_pixels,
            times_driver: self.timing,
            times_gpu: self.gpu_timing,
            // Without kept frames no keyframe comes by itself. Another capture of the process may ask for one.
            keyframe_every: self.keep.map_or(u32::MAX, |keep| keep.keyframe_every),
            counts_submits: self.counts_submits,
            at_any_command: self.at_any_command,
            // Kept frames may be saved at any moment, so their keyframes must be whole.
            attach_bytes: if self.keep.is_none() { self.attach_memory } else { 0 },
        }
    }

    /// Returns this plan with the settings of `first`, a capture that has the same processes already. Returns a
    /// sentence if the processes do not do what this plan needs.
    pub fn beside(self, first: &Self) -> Result<Self, String> {
        let lacks = |what: &str| {
            Err(format!(
                "it is in capture {}, which runs {what}: stop that one first, or leave the option out",
                first.id
            ))
        };
        if self.timing && !first.timing {
            return lacks("without --timing");
        }
        if self.gpu_timing && !first.gpu_timing {
            return lacks("without --gpu-timing");
        }
        if self.observe_frames.is_some() && self.observe_frames != first.observe_frames {
            return match first.observe_frames {
                Some(every) => lacks(&format!("with --observe-frames {every}")),
                None => lacks("without --observe-frames"),
            };
        }
        if self.counts_submits != first.counts_submits {
            return lacks(if first.counts_submits {
                "with --submits"
            } else {
                "without --submits"
            });
        }
        if self.frame_rule != first.frame_rule {
            return match first.frame_rule.is_empty() {
                false => Err(format!(
                    "it is in capture {}, whose frames end at {}: stop that one first, or use the same --frame-end",
                    first.id, first.frame_rule
                )),
                true => lacks("without --frame-end"),
            };
        }
        if self.frame_pixels && !first.frame_pixels {
            return lacks("without --frame-pixels");
        }
        if (self.overflow, first.overflow)
            == (gapii_control::Overflow::Wait, gapii_control::Overflow::Drop)
        {
            return Err(format!(
                "it is in capture {}, which may leave commands out: stop that one first, or use --overflow \
                 drop, too",
                first.id
            ));
        }
        Ok(Self {
            overflow: first.overflow,
            stall_ms: first.stall_ms,
            observe_frames: first.observe_frames,
            frame_pixels: first.frame_pixels,
            timing: first.timing,
            gpu_timing: first.gpu_timing,
            attach_memory: first.attach_memory,
            ..self
        })
    }

    /// Returns this plan with the settings that another daemon told the processes.
    pub fn told(self, settings: &ModeSettings, frame_rule: &FrameRule) -> Self {
        Self {
            frame_rule: frame_rule.clone(),
            overflow: match settings.overflow {
                Overflow::Wait => gapii_control::Overflow::Wait,
                Overflow::Drop => gapii_control::Overflow::Drop,
            },
            stall_ms: settings.stall_ns / 1_000_000,
            observe_frames: Some(settings.observe_frames).filter(|every| *every != 0),
            frame_pixels: settings.observe_pixels,
            timing: settings.times_driver,
            gpu_timing: settings.times_gpu,
            counts_submits: settings.counts_submits,
            at_any_command: settings.at_any_command,
            attach_memory: settings.attach_bytes,
            ..self
        }
    }

    /// Returns the options for the footer.
    pub fn options(&self) -> CaptureOptions {
        CaptureOptions {
            frames: self.frames,
            skip_frames: self.skip_frames,
            seconds: self.seconds,
            overflow: match self.overflow {
                gapii_control::Overflow::Wait => "wait",
                gapii_control::Overflow::Drop => "drop",
            }
            .to_owned(),
            stall_ms: self.stall_ms,
            observe_frames: self.observe_frames,
            frame_pixels: self.frame_pixels,
            timing: self.timing,
            gpu_timing: self.gpu_timing,
            counts_submits: self.counts_submits,
            frame_rule: self.frame_rule.clone(),
            keep_frames: self.keep.map(|keep| keep.frames),
            keyframe_every: self.keep.map(|keep| keep.keyframe_every),
            filter: self.filter.clone(),
            when: self.when.as_ref().map(|when| when.to_string().into()),
            command: self.command.clone(),
        }
    }
}

#[cfg(test)]
impl Plan {
    /// Makes the plan of a test's capture.
    pub fn of(id: u64) -> Self {
        Self {
            id,
            client: 0,
            origin: CaptureId { session: [0; 16], number: id },
            launch: None,
            frames: None,
            skip_frames: 0,
            seconds: None,
            overflow: gapii_control::Overflow::Wait,
            stall_ms: 2000,
            observe_frames: None,
            frame_pixels: false,
            timing: false,
            gpu_timing: false,
            counts_submits: false,
            at_any_command: false,
            frame_rule: FrameRule::default(),
            attach_memory: 0,
            keep: None,
            name: None,
            bytes: None,
            if_slow: gapii_control::IfSlow::Spill,
            filter: Filter::default(),
            when: None,
            command: Vec::new(),
            level: 1,
            ring_bytes: 4 << 20,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_capture_is_refused_with_what_the_first_lacks() {
        let check = |first: Plan, second: Plan, expected: Option<&str>| {
            let refused = second.beside(&first).err();
            assert_eq!(refused.is_some(), expected.is_some(), "{refused:?}");
            let named = expected.zip(refused.clone()).is_none_or(|(what, why)| why.contains(what));
            assert!(named, "{refused:?} does not name {expected:?}");
        };
        let drops = || Plan { overflow: gapii_control::Overflow::Drop, ..Plan::of(1) };
        let observes = |every| Plan { observe_frames: Some(every), ..Plan::of(1) };
        let timed = || Plan { timing: true, ..Plan::of(1) };
        check(Plan::of(1), Plan::of(2), None);
        check(Plan::of(1), Plan { frames: Some(3), ..Plan::of(2) }, None);
        check(Plan::of(1), timed(), Some("without --timing"));
        check(timed(), Plan::of(2), None);
        let gpu_timed = || Plan { gpu_timing: true, ..timed() };
        check(timed(), gpu_timed(), Some("without --gpu-timing"));
        check(gpu_timed(), timed(), None);
        check(Plan::of(1), observes(1), Some("without --observe-frames"));
        check(observes(1), observes(2), Some("--observe-frames 1"));
        check(observes(2), observes(2), None);
        check(observes(2), Plan { frame_pixels: true, ..observes(2) }, Some("--frame-pixels"));
        let submits = |id| Plan { counts_submits: true, ..Plan::of(id) };
        check(Plan::of(1), submits(2), Some("without --submits"));
        check(submits(1), Plan::of(2), Some("with --submits"));
        check(submits(1), submits(2), None);
        let flushes =
            |id| Plan { frame_rule: FrameRule(vec!["glFlush".to_owned()]), ..Plan::of(id) };
        check(Plan::of(1), flushes(2), Some("without --frame-end"));
        check(flushes(1), Plan::of(2), Some("whose frames end at glFlush"));
        check(flushes(1), flushes(2), None);
        check(drops(), Plan::of(2), Some("--overflow drop"));
        check(drops(), drops(), None);
        check(Plan::of(1), drops(), None);
    }

    #[test]
    fn capture_that_is_taken_up_is_as_its_processes_were_told() {
        let told = Plan {
            timing: true,
            gpu_timing: true,
            observe_frames: Some(3),
            stall_ms: 7,
            frame_rule: FrameRule(vec!["glFlush".to_owned()]),
            ..Plan::of(1)
        };
        let asked = Plan { frames: Some(7), ..Plan::of(2) }.told(&told.mode(), &told.frame_rule);
        assert_eq!(asked.frame_rule, told.frame_rule);
        assert_eq!((asked.id, asked.frames, asked.stall_ms), (2, Some(7), 7));
        assert_eq!((asked.timing, asked.gpu_timing, asked.observe_frames), (true, true, Some(3)));
    }

    #[test]
    fn second_capture_states_the_settings_of_its_processes() {
        let first = Plan { timing: true, gpu_timing: true, observe_frames: Some(3), ..Plan::of(1) };
        let second = Plan { frames: Some(7), ..Plan::of(2) }.beside(&first).unwrap();
        assert_eq!((second.id, second.frames), (2, Some(7)));
        assert_eq!(
            (second.timing, second.gpu_timing, second.observe_frames),
            (true, true, Some(3))
        );
    }
}
