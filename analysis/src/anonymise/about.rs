//! What header and footer say about the program, its machine and its user, replaced. Each field is named here, so that a new one
//! does not compile until somebody has decided about it. Numbers and times stay; process and thread ids become small numbers.

use gapii_abi::frame_rule;
use gapii_commands::Api;
use gapii_trace::description::Description;
use gapii_trace::filter::Filter;
use gapii_trace::footer::{
    CaptureOptions, Footer, ProcessEntry, RefusedRing, ThreadLedger, Totals,
};
use gapii_trace::frame_rule::FrameRule;
use gapii_trace::{BlobName, TraceHeader, Untrusted};

use super::contents::Keep;
use super::noise::Noise;

/// Replaces what header and footer say. Patterns have every field of a struct, those that stay as `_`.
pub(super) struct About<'a> {
    pub noise: &'a mut Noise,
    pub keep: Keep,
    pub description: &'a Description,
}

impl About<'_> {
    pub(super) fn header(&mut self, header: &mut TraceHeader) {
        #[rustfmt::skip]
        let TraceHeader {
            version: _, writer, host, session, started_unix_ns: _, started_ns: _, started_boot_ns: _, capture: _, kept: _, filter,
            anonymised, description: _,
        } = header;
        *writer = concat!("gapii ", env!("CARGO_PKG_VERSION")).into();
        *host = self.noise.untrusted(host);
        *session = self.noise.name(BlobName::of(session.as_bytes())).to_string();
        self.filter(filter);
        *anonymised = true;
    }

    /// `without_gpu_times` are the sentences that records stand for; these stay.
    pub(super) fn footer(&mut self, footer: &mut Footer, without_gpu_times: &[&str]) {
        #[rustfmt::skip]
        let Footer {
            reason: _, signal: _, started_unix_ns: _, ended_unix_ns: _, ended_ns: _, ended_boot_ns: _, set_back_ns: _,
            totals: Totals {
                frames: _, calls: _, records: _, blocks: _, raw_bytes: _, compressed_bytes: _, memory: _,
            },
            levels: _, lost: _, processes, threads, gaps: _, refused, in_flight: _, options, when_happened: _, snapshot: _,
            held_us: _, missing, without_gpu_times: sentences, seams: _,
        } = footer;
        for process in processes {
            #[rustfmt::skip]
            let ProcessEntry {
                process: _, pid, name, exe, apis, frames: _, reentrant_calls: _, foreign_calls: _,
            } = process;
            *pid = self.noise.id(*pid);
            [name, exe].into_iter().for_each(|name| self.program(name));
            for api in apis.iter_mut().filter(|api| Api::named(api.raw()).is_none()) {
                *api = self.noise.untrusted(api);
            }
        }
        for thread in threads {
            #[rustfmt::skip]
            let ThreadLedger {
                thread: _, process: _, tid, name, produced: _, emitted: _, lost: _, left_out: _, waits: _, wait_ns: _,
            } = thread;
            *tid = self.noise.id(*tid);
            self.program(name);
        }
        for ring in refused {
            let RefusedRing { process: _, slot: _, tid, why } = ring;
            (*tid, *why) = (self.noise.id(*tid), self.noise.untrusted(why));
        }
        self.options(options);
        missing.iter_mut().for_each(|it| *it = self.noise.untrusted(it));
        for sentence in sentences.iter_mut().filter(|it| !without_gpu_times.contains(&it.raw())) {
            *sentence = self.noise.untrusted(sentence);
        }
    }

    fn options(&mut self, options: &mut CaptureOptions) {
        #[rustfmt::skip]
        let CaptureOptions {
            frames: _, skip_frames: _, seconds: _, overflow, stall_ms: _, observe_frames: _, frame_pixels: _, timing: _,
            gpu_timing: _, counts_submits: _, frame_rule: FrameRule(rule), keep_frames: _, keyframe_every: _, filter, when,
            command,
        } = options;
        self.word(overflow);
        rule.iter_mut().for_each(|word| self.word(word));
        self.filter(filter);
        command.iter_mut().chain(when).for_each(|text| *text = self.noise.untrusted(text));
    }

    fn filter(&mut self, filter: &mut Filter) {
        let Filter { threads, apis, functions } = filter;
        for thread in threads.iter_mut() {
            match thread.parse() {
                Ok(id) => *thread = self.noise.id(id).to_string(),
                Err(_) if self.keep.program => {}
                Err(_) => *thread = self.noise.word(thread),
            }
        }
        apis.iter_mut().chain(functions).for_each(|word| self.word(word));
    }

    fn program(&mut self, name: &mut Untrusted) {
        if !self.keep.program {
            *name = self.noise.untrusted(name);
        }
    }

    /// Replaces a word of an option, unless it is the name of an API, fits names of functions, or is known here.
    fn word(&mut self, word: &mut String) {
        let (prefix, name) = match word.strip_prefix("group:") {
            Some(name) => ("group:", name),
            None => ("", &**word),
        };
        let mut functions =
            self.description.functions().iter().chain(Description::built_in().functions());
        let is_known = match prefix {
            "" => {
                matches!(name, "wait" | "drop")
                    || Api::named(name).is_some()
                    || functions.any(|it| frame_rule::fits(name.as_bytes(), it.name.as_bytes()))
            }
            _ => self.keep.marks,
        };
        if !is_known {
            *word = format!("{prefix}{}", self.noise.word(name));
        }
    }
}
