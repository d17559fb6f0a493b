//! Damaged traces, cut or with changed bytes, and the parts that `gapii-ctl` still reads from them.

use std::path::Path;
use std::process::Command as Process;

use crate::fake_driver;
use crate::gapii::{Session, Trace, commands};
use crate::process::Finished;
use crate::programs::program;
use crate::random::Random;
use crate::stream::{self, Counts, Frame};

/// A sound trace of several blocks, and the contents that a second, independent reader finds.
pub struct Sample {
    session: Session,
    bytes: Vec<u8>,
    blocks: Vec<(Frame, Counts)>,
    header_end: usize,
}

impl Sample {
    /// Records two threads with `rounds` rounds of ten commands each.
    pub fn record(rounds: u32) -> Self {
        let session = Session::new();
        let mut process = Process::new(program("draw_forever"));
        process.arg("2").arg(rounds.to_string());
        fake_driver::use_in(&mut process, None::<&Path>);
        let recording = session.record(&[], &process);
        recording.run.ok();
        recording.trace.is_whole("exit");
        let bytes = std::fs::read(&recording.trace.path).expect("the trace is there");
        let frames = stream::frames(&bytes);
        let header_end = frames[0].bytes.end;
        let count = |frame: &Frame| {
            let block = stream::unpack(&stream::decompress(&bytes[frame.bytes.clone()]));
            assert!(stream::begins_with_block(&block), "{frame:?}");
            stream::count(&block)
        };
        let data = frames.iter().filter(|frame| !frame.skippable);
        let blocks: Vec<_> = data.map(|frame| (frame.clone(), count(frame))).collect();
        assert!(blocks.len() >= 3, "a sample needs several blocks, this has {}", blocks.len());
        Self { session, bytes, blocks, header_end }
    }

    pub fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Commands that took effect, in all blocks.
    pub fn effects(&self) -> u64 {
        self.blocks.iter().map(|(_, counts)| counts.effects).sum()
    }

    /// The sample as a file.
    pub fn trace(&self) -> Trace {
        self.file(&self.bytes)
    }

    /// Cuts the sample at `at` and checks that `info` counts, and `dump` lists, every whole block.
    #[track_caller]
    pub fn check_cut(&self, at: u64, dump: bool) {
        let at = at as usize;
        let trace = self.file(&self.bytes[..at]);
        let info = trace.ask("info", &["--json"]);
        if at < self.header_end {
            assert_rejected(&info, 1);
            return;
        }
        let whole = self.blocks.iter().filter(|(frame, _)| frame.bytes.end <= at);
        let (blocks, effects) = whole.fold((0, 0), |(n, e), (_, c)| (n + 1, e + c.effects));
        let info = trace.info();
        assert_eq!(
            (&info["blocks"], &info["commands"]),
            (&blocks.into(), &effects.into()),
            "cut at {at}: {info:#}"
        );
        assert_eq!(info["complete"], false, "cut at {at}: {info:#}");
        if dump {
            let dump = trace.ask("dump", &["--json"]);
            assert_rejected(&dump, 1);
            // A command whose leave record is beyond the cut may have taken effect too.
            let listed = commands(&dump).iter().filter(|command| command.seq.is_some()).count();
            let listed = listed as u64;
            assert_eq!(listed, effects, "cut at {at}");
        }
        assert_rejected(&trace.ask("verify", &[]), 1);
    }

    /// Changes a byte and checks that `verify` reports it in one sentence.
    #[track_caller]
    pub fn check_flip(&self, random: &mut Random) {
        let mut bytes = self.bytes.clone();
        let at = random.below(self.len()) as usize;
        let change = 1 + random.below(255) as u8;
        bytes[at] ^= change;
        let trace = self.file(&bytes);
        eprintln!("byte {at} of {} changed by {change:#x}", bytes.len());
        assert_rejected(&trace.ask("verify", &[]), 1);
        for question in ["info", "dump"] {
            let answer = trace.ask(question, &["--json"]);
            assert!(matches!(answer.status.code(), Some(0 | 1)), "{answer}");
            assert!(!answer.stderr.contains("panicked"), "{answer}");
        }
    }

    fn file(&self, bytes: &[u8]) -> Trace {
        let trace = Trace::new(self.session.path("damaged.gapii"));
        std::fs::write(&trace.path, bytes).expect("the test's folder is writable");
        trace
    }
}

/// Checks that the command is refused with `code` and one sentence.
#[track_caller]
pub fn assert_rejected(finished: &Finished, code: i32) {
    assert_eq!(finished.status.code(), Some(code), "{}", brief(finished));
    assert_says_one_sentence(finished);
}

#[track_caller]
pub fn assert_says_one_sentence(finished: &Finished) {
    let words = finished.stderr.trim();
    assert!(!words.is_empty() && words.lines().count() <= 3, "one sentence: {}", brief(finished));
    assert!(!words.contains("panicked"), "{}", brief(finished));
}

/// Without the thousands of lines of a dump.
fn brief(finished: &Finished) -> Finished {
    let stdout = finished.stdout.chars().take(2000).collect();
    Finished { stdout, ..finished.clone() }
}
