//! A trace that is merged: its records one after the other, with the stamps that readers see, and how many are left of each
//! thread and process, as the ledger in its footer says.

use std::io::{Read, Seek};

use gapii_abi::atom::{self, Header, META_FIRST, SETUP, Seam, TimeKind};
use gapii_trace::Footer;
use gapii_trace::footer::ProcessEntry;
use gapii_trace::meta::Meta;
use gapii_trace::reader::TraceReader;
use gapii_trace::record::locate;
use gapii_trace::tracker::{PROCESSES_MAX, THREADS_MAX, Tracker};

use super::error::MergeError;

/// A trace and the place in it.
pub struct Source<'r, R> {
    /// Number of the trace, in the order in which they were given.
    pub number: usize,
    pub started_ns: u64,
    /// 0 if unknown.
    pub ended_ns: u64,
    pub footer: Footer,
    /// The process and the thread of the result, by their indices in this trace.
    pub parts: Vec<Option<u32>>,
    pub threads: Vec<Option<u32>>,
    /// The next record; `None` at the end.
    pub head: Option<Head>,
    pub first_stamp: Option<u64>,
    /// When the present block was begun.
    pub block_ns: u64,
    pub next_block: usize,
    reader: &'r mut TraceReader<R>,
    raw: Vec<u8>,
    at: usize,
    tracker: Tracker,
    /// Records that are left, by thread and by process.
    left: Vec<u64>,
    left_of_processes: Vec<u64>,
}

/// A record.
#[derive(Clone, Copy)]
pub struct Head {
    pub kind: Kind,
    pub header: Header,
    /// The stamp that the record has for a reader.
    pub stamp: u64,
    /// Whether the record carries it.
    pub is_stamped: bool,
    /// Indices in the trace; 0 for a seam.
    pub thread: u32,
    pub process: u32,
    start: usize,
    payload: usize,
    payload_end: usize,
    next: usize,
}

/// Kinds of records that are merged in different ways.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A command of the program.
    Command,
    /// A command that describes.
    SetUp,
    /// A record that belongs to a description.
    Describes,
    /// The thread is about to describe all, so that another capture begins here.
    Keyframe,
    /// Another record of the shim.
    Atom,
    /// Another daemon continued the capture.
    Seam(Seam),
}

impl Head {
    /// Whether it is a record of a command that the program called.
    pub fn is_own_command(&self) -> bool {
        matches!(self.kind, Kind::Command)
    }
}

impl<'r, R: Read + Seek> Source<'r, R> {
    /// The trace at its first record.
    pub fn new(
        number: usize,
        reader: &'r mut TraceReader<R>,
        footer: Footer,
    ) -> Result<Self, MergeError> {
        // Indices beyond the limits of a trace are of no record.
        let threads =
            footer.threads.iter().map(|it| it.thread.saturating_add(1)).max().unwrap_or(0);
        let processes =
            footer.processes.iter().map(|it| it.process.saturating_add(1)).max().unwrap_or(0);
        let threads = threads.min(THREADS_MAX) as usize;
        let processes = processes.min(PROCESSES_MAX) as usize;
        let (mut left, mut left_of_processes) = (vec![0; threads], vec![0; processes]);
        for ledger in &footer.threads {
            if let Some(left) = left.get_mut(ledger.thread as usize) {
                *left = u64::saturating_add(*left, ledger.emitted);
            }
            if let Some(left) = left_of_processes.get_mut(ledger.process as usize) {
                *left = u64::saturating_add(*left, ledger.emitted);
            }
        }
        let mut source = Self {
            number,
            started_ns: reader.header().started_ns,
            ended_ns: footer.ended_ns,
            footer,
            parts: vec![None; processes],
            threads: vec![None; threads],
            head: None,
            first_stamp: None,
            block_ns: 0,
            next_block: 0,
            reader,
            raw: Vec::new(),
            at: 0,
            tracker: Tracker::default(),
            left,
            left_of_processes,
        };
        source.advance()?;
        source.first_stamp = source.head.map(|head| head.stamp);
        Ok(source)
    }

    /// Whether the next record is of a thread and has this stamp.
    pub fn is_at(&self, stamp: u64) -> bool {
        self.head.is_some_and(|head| head.stamp == stamp && !matches!(head.kind, Kind::Seam(_)))
    }

    /// Goes on behind a record of a thread.
    pub fn consume(&mut self) -> Result<(), MergeError> {
        if let Some(head) = self.head {
            let (thread, process) = (head.thread as usize, head.process as usize);
            self.left[thread] = self.left[thread].saturating_sub(1);
            self.left_of_processes[process] = self.left_of_processes[process].saturating_sub(1);
        }
        self.advance()
    }

    /// Goes on to the next record that is merged.
    pub fn advance(&mut self) -> Result<(), MergeError> {
        let before = self.head.take().map_or(0, |head| head.stamp);
        loop {
            if self.at >= self.raw.len() {
                if self.next_block >= self.reader.blocks().len() {
                    return Ok(());
                }
                let read = self.reader.read_block(self.next_block, &mut self.raw);
                read.map_err(|error| MergeError::Read { trace: self.number, error })?;
                self.next_block += 1;
                self.at = 0;
                self.tracker.begin_block();
                continue;
            }
            let found = self.record(before);
            let found = found.map_err(|why| MergeError::Record {
                trace: self.number,
                block: self.next_block - 1,
                why,
            })?;
            if found.is_some() {
                self.head = found;
                return Ok(());
            }
        }
    }

    /// Passes over the record at the present place. Returns it if it is merged.
    fn record(&mut self, before: u64) -> Result<Option<Head>, String> {
        let record = locate(&self.raw, self.at).map_err(|error| error.to_string())?;
        let (start, payload, next) = (record.start, record.payload_start, record.next);
        self.at = next;
        let header = record.header;
        let kind = if header.id() < META_FIRST {
            self.tracker.command(header, record.stamp).map_err(|error| error.to_string())?;
            if header.flags() & SETUP != 0 { Kind::SetUp } else { Kind::Command }
        } else {
            let bytes = &self.raw[payload..record.payload_end];
            let meta = self.tracker.meta(header, record.stamp, bytes);
            match meta.map_err(|error| error.to_string())? {
                Meta::Subject(_) | Meta::Snapshot(_) => Kind::Describes,
                Meta::Keyframe(_) => Kind::Keyframe,
                Meta::Time(time) if time.kind == TimeKind::Hold => Kind::Describes,
                Meta::Seam(seam) => Kind::Seam(seam),
                Meta::Block(block) => {
                    self.block_ns = block.start_ns;
                    return Ok(None);
                }
                _ if header.id() < atom::BLOCK => Kind::Atom,
                // The daemon's own records are written anew.
                _ => return Ok(None),
            }
        };
        let head = |stamp, thread, process| Head {
            kind,
            header,
            stamp,
            is_stamped: record.stamp.is_some(),
            thread,
            process,
            start,
            payload,
            payload_end: record.payload_end,
            next,
        };
        if let Kind::Seam(_) = kind {
            return Ok(Some(head(before, 0, 0)));
        }
        let thread = self.tracker.current().unwrap_or_default();
        let of_thread = self.tracker.thread_at(thread);
        let of_thread = of_thread.filter(|it| {
            (thread as usize) < self.threads.len() && (it.process as usize) < self.parts.len()
        });
        match of_thread {
            Some(it) => Ok(Some(head(it.stamp, thread, it.process))),
            None => Err(format!("thread {thread} is not in the ledger")),
        }
    }

    /// The whole record at the head, with its padding.
    pub fn record_bytes(&self) -> &[u8] {
        self.head.map_or(&[], |head| &self.raw[head.start..head.next])
    }

    /// What of the record at the head does not depend on the capture: its kind and its payload.
    pub fn content(&self) -> Option<(u16, u16, &[u8])> {
        let head = self.head?;
        let flags = head.header.flags() & !atom::STAMPED;
        Some((head.header.id(), flags, &self.raw[head.payload..head.payload_end]))
    }

    /// The thread of the result.
    pub fn thread(&self, thread: u32) -> Option<u32> {
        self.threads.get(thread as usize).copied().flatten()
    }

    /// Sets the process of the result for one that has no record.
    pub fn set_part(&mut self, process: u32, part: u32) {
        if let Some(it) = self.parts.get_mut(process as usize) {
            *it = Some(part);
        }
    }

    /// Sets the thread of the result for one that has no record.
    pub fn set_thread(&mut self, thread: u32, of_result: u32) {
        if let Some(it) = self.threads.get_mut(thread as usize) {
            *it = Some(of_result);
        }
    }

    /// Records of a thread that have not been consumed.
    pub fn left_of_thread(&self, thread: u32) -> u64 {
        self.left[thread as usize]
    }

    /// Records of a process that have not been consumed.
    pub fn left_of_process(&self, process: u32) -> u64 {
        self.left_of_processes[process as usize]
    }

    /// Whether records of the process were lost.
    pub fn has_lost(&self, process: u32) -> bool {
        let Footer { threads, gaps, refused, .. } = &self.footer;
        let of_process =
            |index: u32| threads.iter().any(|it| it.thread == index && it.process == process);
        threads.iter().any(|it| it.process == process && it.lost > 0)
            || gaps.iter().any(|gap| of_process(gap.thread))
            || refused.iter().any(|ring| ring.process == process)
    }

    /// Whether the trace ends inside a command of the thread.
    pub fn is_in_flight(&self, thread: u32) -> bool {
        self.footer.in_flight.iter().any(|command| command.thread == thread)
    }

    /// What the footer says of a process.
    pub fn process(&self, process: u32) -> ProcessEntry {
        let entry = self.footer.processes.iter().find(|it| it.process == process);
        entry.cloned().unwrap_or_default()
    }

    /// When the process joined the capture.
    pub fn start_ns(&self, process: u32) -> u64 {
        self.tracker.process_at(process).map_or(0, |it| it.start_ns)
    }

    /// The process of a thread.
    pub fn process_of(&self, thread: u32) -> u32 {
        self.tracker.thread_at(thread).map_or(0, |it| it.process)
    }

    /// Id and name of a thread.
    pub fn name_of(&self, thread: u32) -> (u32, [u8; 16]) {
        self.tracker.thread_at(thread).map_or_else(Default::default, |it| (it.tid, it.name))
    }
}
