//! What header and footer say about the program, its machine and its user, replaced. Each field is named here, so that a new one
//! does not compile until somebody has decided about it. Numbers and times stay; process and thread ids become small numbers.

use gapii_abi::frame_rule::{self, Word};
use gapii_commands::Api;
use gapii_trace::description::Description;
use gapii_trace::filter::Filter;
use gapii_trace::footer::{
    CaptureOptions, Footer, LevelUse, ProcessEntry, RefusedRing, ThreadLedger, Totals,
};
use gapii_trace::frame_rule::FrameRule;
use gapii_trace::{BlobName, TraceHeader, Untrusted};

use super::contents::Keep;
use super::noise::Noise;

/// Replaces what header and footer say.
pub(super) struct About<'a> {
    pub noise: &'a mut Noise,
    pub keep: Keep,
    pub description: &'a Description,
}

impl About<'_> {
    pub(super) fn header(&mut self, header: TraceHeader) -> TraceHeader {
        let TraceHeader {
            version,
            writer: _,
            session,
            started_unix_ns,
            started_ns,
            started_boot_ns,
            capture,
            kept,
            filter,
            anonymised: _,
            description,
        } = header;
        TraceHeader {
            version,
            writer: concat!("gapii ", env!("CARGO_PKG_VERSION")).into(),
            session: self.noise.name(BlobName::of(session.as_bytes())).to_string(),
            started_unix_ns,
            started_ns,
            started_boot_ns,
            capture,
            kept,
            filter: self.filter(filter),
            anonymised: true,
            description,
        }
    }

    /// `compressed_bytes` and `level` are those of the blocks as they are written now, `without_gpu_times` the sentences that
    /// their records stand for.
    pub(super) fn footer(
        &mut self,
        footer: Footer,
        (compressed_bytes, level): (u64, i32),
        without_gpu_times: &[&str],
    ) -> Footer {
        let Footer {
            reason,
            signal,
            started_unix_ns,
            ended_unix_ns,
            ended_ns,
            ended_boot_ns,
            set_back_ns,
            totals,
            levels: _,
            lost,
            processes,
            threads,
            gaps,
            refused,
            in_flight,
            options,
            when_happened,
            snapshot,
            held_us,
            missing,
            without_gpu_times: sentences,
            seams,
        } = footer;
        let Totals { frames, calls, records, blocks, raw_bytes, compressed_bytes: _, memory } =
            totals;
        let is_own = |it: &Untrusted| without_gpu_times.contains(&it.raw());
        Footer {
            reason,
            signal,
            started_unix_ns,
            ended_unix_ns,
            ended_ns,
            ended_boot_ns,
            set_back_ns,
            totals: Totals { frames, calls, records, blocks, raw_bytes, compressed_bytes, memory },
            levels: vec![LevelUse { level, blocks, raw_bytes }],
            lost,
            processes: processes.into_iter().map(|it| self.process(it)).collect(),
            threads: threads.into_iter().map(|it| self.thread(it)).collect(),
            gaps,
            refused: refused.into_iter().map(|it| self.refused(it)).collect(),
            in_flight,
            options: self.options(options),
            when_happened,
            snapshot,
            held_us,
            missing: missing.iter().map(|it| self.noise.untrusted(it)).collect(),
            without_gpu_times: sentences
                .into_iter()
                .map(|it| if is_own(&it) { it } else { self.noise.untrusted(&it) })
                .collect(),
            seams,
        }
    }

    fn process(&mut self, process: ProcessEntry) -> ProcessEntry {
        let ProcessEntry { process, pid, name, exe, apis, frames, reentrant_calls, foreign_calls } =
            process;
        let is_api = |name: &Untrusted| Api::named(name.raw()).is_some();
        ProcessEntry {
            process,
            pid: self.noise.id(pid),
            name: self.program(name),
            exe: self.program(exe),
            apis: apis
                .into_iter()
                .map(|it| if is_api(&it) { it } else { self.noise.untrusted(&it) })
                .collect(),
            frames,
            reentrant_calls,
            foreign_calls,
        }
    }

    fn thread(&mut self, thread: ThreadLedger) -> ThreadLedger {
        let ThreadLedger {
            thread,
            process,
            tid,
            name,
            produced,
            emitted,
            lost,
            left_out,
            waits,
            wait_ns,
        } = thread;
        let (tid, name) = (self.noise.id(tid), self.program(name));
        ThreadLedger {
            thread,
            process,
            tid,
            name,
            produced,
            emitted,
            lost,
            left_out,
            waits,
            wait_ns,
        }
    }

    fn refused(&mut self, ring: RefusedRing) -> RefusedRing {
        let RefusedRing { process, slot, tid, why } = ring;
        let (tid, why) = (self.noise.id(tid), self.noise.untrusted(&why));
        RefusedRing { process, slot, tid, why }
    }

    fn options(&mut self, options: CaptureOptions) -> CaptureOptions {
        let CaptureOptions {
            frames,
            skip_frames,
            seconds,
            overflow,
            stall_ms,
            observe_frames,
            frame_pixels,
            timing,
            gpu_timing,
            counts_submits,
            frame_rule: FrameRule(rule),
            keep_frames,
            keyframe_every,
            filter,
            when,
            command,
        } = options;
        let is_known = matches!(&*overflow, "wait" | "drop");
        CaptureOptions {
            frames,
            skip_frames,
            seconds,
            overflow: if is_known { overflow } else { self.noise.word(&overflow) },
            stall_ms,
            observe_frames,
            frame_pixels,
            timing,
            gpu_timing,
            counts_submits,
            frame_rule: FrameRule(rule.into_iter().map(|word| self.frame_end(word)).collect()),
            keep_frames,
            keyframe_every,
            filter: self.filter(filter),
            when: when.map(|when| self.noise.untrusted(&when)),
            command: command.iter().map(|word| self.noise.untrusted(word)).collect(),
        }
    }

    fn program(&mut self, name: Untrusted) -> Untrusted {
        if self.keep.program { name } else { self.noise.untrusted(&name) }
    }

    /// Replaces a word of a frame rule: the name of a debug group, or a pattern that fits no function.
    fn frame_end(&mut self, word: String) -> String {
        match Word::of(word.as_bytes()) {
            Word::Group(_) if self.keep.marks => word,
            Word::Group(_) => {
                let (prefix, name) = word.split_at(frame_rule::GROUP.len());
                format!("{prefix}{}", self.noise.word(name))
            }
            Word::Function(_) => self.function(word),
        }
    }

    /// Replaces a pattern unless it fits a function.
    fn function(&mut self, pattern: String) -> String {
        let functions = self.description.functions().iter();
        let mut functions = functions.chain(Description::built_in().functions());
        let fits = functions.any(|it| frame_rule::fits(pattern.as_bytes(), it.name.as_bytes()));
        if fits { pattern } else { self.noise.word(&pattern) }
    }

    fn filter(&mut self, filter: Filter) -> Filter {
        let Filter { threads, apis, functions } = filter;
        let thread = |word: String| match word.parse::<u32>() {
            Ok(id) => self.noise.id(id).to_string(),
            Err(_) if self.keep.program => word,
            Err(_) => self.noise.word(&word),
        };
        let threads = threads.into_iter().map(thread).collect();
        let is_api = |word: &String| Api::named(word).is_some();
        let apis = apis
            .into_iter()
            .map(|word| if is_api(&word) { word } else { self.noise.word(&word) })
            .collect();
        let functions = functions.into_iter().map(|word| self.function(word)).collect();
        Filter { threads, apis, functions }
    }
}
