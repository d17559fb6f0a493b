//! Replaces the contents of records, block by block. What a record takes in bytes stays, so that blocks stay as long as they are.
//!
//! A payload is made anew, out of zeros: only what is understood is written into it, as noise or as it was. Each field of an atom
//! is named here, so that a new atom or field does not compile until somebody has decided about it. An atom or a kind of
//! observation of a later version is an error. A function that the trace does not describe keeps its header word alone.

use std::collections::HashMap;

use gapii_abi::atom::{
    self, BLOB_NAME_LEN, FrameKind, GpuTime, GpuTimesKind, Header, LEAVE, META_FIRST,
    OBSERVED_BLOB, OBSERVED_INLINE, OBSERVED_NONE, OBSERVED_NUMBER, Ring,
};
use gapii_commands::{Kind, Observed, Repr};
use gapii_state::generated::extensions::NAMES as EXTENSIONS;
use gapii_trace::BlobName;
use gapii_trace::blobs::{BLOB_BYTES_MAX, BlobEntry, BlobNumber, BlobSource, Collector};
use gapii_trace::description::{Description, Function, Type};
use gapii_trace::meta::{Blob, Limits, Meta, Missing, Process, Snapshot, Traced};
use gapii_trace::record::{RecordError, locate};
use gapii_trace::tracker::{TrackError, Tracker};

use super::contents::{Content, Keep, Lead, Replacer, is_integer};
use super::noise::Noise;
use crate::role::ParamRole;

/// Why a record can't be rewritten.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RecordFault {
    /// The block is not made of records.
    #[error(transparent)]
    Record(RecordError),
    /// The record contradicts those before it.
    #[error(transparent)]
    Track(TrackError),
    /// An atom of a later version.
    #[error("nobody has decided what becomes of record {0:#06x}, which a later version wrote")]
    Atom(u16),
    /// A kind of observation of a later version.
    #[error("nobody has decided what becomes of memory of kind {kind} ({function})")]
    Observation {
        /// Name of the command.
        function: String,
        /// The kind.
        kind: u8,
    },
}

/// A blob whose pieces come now.
enum Open {
    /// The noise of memory of this name.
    Noise(BlobName),
    /// The blob as it is written.
    Whole(Vec<u8>),
}

/// Rewrites records. Goes over all blocks twice: first it learns what blobs hold, then it replaces.
pub(super) struct Records<'a> {
    pub replacer: Replacer<'a>,
    keep: Keep,
    tracker: Tracker,
    /// Whether this is the second time.
    writes: bool,
    collector: Collector,
    /// The names of blobs, by the block and the place where each begins.
    begun: HashMap<(u32, u32), BlobName>,
    sizes: HashMap<BlobName, u64>,
    /// What the blobs hold to which records refer.
    contents: HashMap<BlobName, Content>,
    renamed: HashMap<BlobName, BlobName>,
    /// By thread.
    open: HashMap<u32, Open>,
    /// What the structs of each thread's last command point at.
    leads: HashMap<u32, Vec<Lead>>,
    /// The written blobs, in the order of the stream.
    pub blobs: Vec<BlobEntry>,
    /// Their numbers.
    pub numbers: Vec<(BlobNumber, BlobName)>,
    /// Why commands have no times on the GPU.
    pub without_gpu_times: Vec<&'static str>,
    /// Bytes of observed memory, without blobs that come again.
    pub bytes: u64,
}

/// A record, and what it becomes.
struct Rewritten<'a> {
    header: Header,
    stamp: Option<u64>,
    payload: &'a [u8],
    out: &'a mut [u8],
    source: &'a dyn BlobSource,
}

/// What the observations of a command are decoded by.
struct Command<'a> {
    function: &'a Function,
    is_leave: bool,
    process: u32,
    leads: Vec<Lead>,
}

/// An atom whose fields are all numbers that stay. The number of its fields is stated, so that a new field is decided about.
macro_rules! numbers {
    ($atom:ident, $fields:literal, $payload:expr, $out:expr) => {{
        const _: () = assert!(atom::$atom::FIELDS.len() == $fields);
        let len = atom::$atom::LEN.min($out.len());
        $out[..len].copy_from_slice(&$payload[..len]);
    }};
}

/// Writes the beginning of an atom: an older one may be shorter.
fn put(out: &mut [u8], at: usize, bytes: &[u8]) {
    let Some(out) = out.get_mut(at..) else { return };
    let len = bytes.len().min(out.len());
    out[..len].copy_from_slice(&bytes[..len]);
}

fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

impl<'a> Records<'a> {
    pub(super) fn new(description: &'a Description, key: [u8; 32], keep: Keep) -> Self {
        Self {
            replacer: Replacer { description, noise: Noise::new(key), texts: 0, depth: 0 },
            keep,
            tracker: Tracker::default(),
            writes: false,
            collector: Collector::default(),
            begun: HashMap::new(),
            sizes: HashMap::new(),
            contents: HashMap::new(),
            renamed: HashMap::new(),
            open: HashMap::new(),
            leads: HashMap::new(),
            blobs: Vec::new(),
            numbers: Vec::new(),
            without_gpu_times: Vec::new(),
            bytes: 0,
        }
    }

    /// Begins to replace: all blocks have come once.
    pub(super) fn begin_writing(&mut self) {
        self.writes = true;
        self.tracker = Tracker::default();
        self.collector = Collector::default();
        self.leads.clear();
        (self.replacer.texts, self.bytes) = (0, 0);
    }

    /// Replaces the contents of the records of block `index`.
    pub(super) fn block(
        &mut self,
        index: u32,
        raw: &mut [u8],
        source: &dyn BlobSource,
    ) -> Result<(), RecordFault> {
        self.tracker.begin_block();
        let mut at = 0;
        while at < raw.len() {
            let found = locate(raw, at).map_err(RecordFault::Record)?;
            let payload = &raw[found.payload_start..found.payload_end].to_vec();
            let out = &mut raw[found.payload_start..found.next];
            out.fill(0);
            let (header, stamp, out) = (found.header, found.stamp, &mut out[..payload.len()]);
            let mut record = Rewritten { header, stamp, payload, out, source };
            match header.id() < META_FIRST {
                true => self.command(&mut record)?,
                false => self.atom(&mut record, (index, at as u32))?,
            }
            at = found.next;
        }
        Ok(())
    }

    fn command(&mut self, record: &mut Rewritten<'_>) -> Result<(), RecordFault> {
        let (header, payload) = (record.header, record.payload);
        let place = self.tracker.command(header, record.stamp).map_err(RecordFault::Track)?;
        let description = self.replacer.description;
        let Some(function) = description.function(header.id()) else { return Ok(()) };
        let is_leave = header.flags() & LEAVE != 0;
        let mut leads = self.leads.remove(&place.thread).filter(|_| is_leave).unwrap_or_default();
        let mut fixed_len = function.result_len();
        if is_leave {
            self.value(function.result, false, payload, record.out);
        } else {
            self.args(function, payload, record.out);
            leads.extend(structs_of(function, payload));
            fixed_len = function.fixed_len as usize;
        }
        let mut command = Command { function, is_leave, process: place.process, leads };
        self.observations(record, &mut command, fixed_len.next_multiple_of(8))?;
        self.leads.insert(place.thread, command.leads);
        Ok(())
    }

    /// Replaces arguments, each as its type demands.
    fn args(&self, function: &Function, payload: &[u8], out: &mut [u8]) {
        for (at, param) in function.params.iter().enumerate() {
            let offset = param.offset as usize;
            let is_content = ParamRole::Content.is_of(function.known, at);
            if let (Some(from), Some(to)) = (payload.get(offset..), out.get_mut(offset..)) {
                self.value(param.ty, is_content, from, to);
            }
        }
    }

    /// Replaces the value of type `ty` with which `from` begins. One that a later version knows becomes 0.
    fn value(&self, ty: Type, is_content: bool, from: &[u8], to: &mut [u8]) {
        let Some(repr) = ty.repr else { return };
        let size = usize::from(repr.size());
        let (Some(from), Some(to)) = (from.get(..size), to.get_mut(..size)) else { return };
        match repr {
            Repr::F32 | Repr::F64 => self.replacer.noise.float(from, to),
            _ if is_content => self.replacer.noise.number(from, to),
            Repr::Pointer => to.copy_from_slice(from),
            _ if is_integer(repr) => to.copy_from_slice(from),
            _ => {}
        }
    }

    /// Replaces the observations of a record, which begin at byte `at`: slots, then ranges.
    fn observations(
        &mut self,
        record: &mut Rewritten<'_>,
        command: &mut Command<'_>,
        mut at: usize,
    ) -> Result<(), RecordFault> {
        let function = command.function;
        let direction = if command.is_leave { Observed::Out } else { Observed::In };
        for (param, it) in function.params.iter().enumerate() {
            if it.observed == direction {
                let content = Content::of_param(function, param, self.keep);
                at = self.observation(record, command, at, (content, param))?;
            }
        }
        if command.is_leave && function.result.kind == Kind::String {
            let content = Content::of_result(function, self.keep);
            at = self.observation(record, command, at, (content, usize::MAX))?;
        }
        while let Some((address, word)) =
            word_at(record.payload, at).zip(word_at(record.payload, at + 8))
        {
            put(record.out, at, &address.to_le_bytes());
            let param = ((word >> 48) as u8).checked_sub(1).map_or(usize::MAX, usize::from);
            let is_it = |lead: &&Lead| lead.param == param && lead.address == address;
            let content = match (command.leads.iter().find(is_it), function.params.get(param)) {
                (Some(lead), _) => lead.content,
                (None, Some(it)) if !matches!(it.ty.kind, Kind::Struct(_) | Kind::Chain) => {
                    Content::of_param(function, param, self.keep)
                }
                (None, _) => Content::Bytes,
            };
            at = self.observation(record, command, at + 8, (content, param))?;
        }
        Ok(())
    }

    /// Replaces the observation whose word is at byte `at`. Returns where the next one begins.
    fn observation(
        &mut self,
        record: &mut Rewritten<'_>,
        command: &mut Command<'_>,
        at: usize,
        (content, param): (Content, usize),
    ) -> Result<usize, RecordFault> {
        let Rewritten { payload, out, source, .. } = record;
        let Some(word) = word_at(payload, at) else { return Ok(payload.len()) };
        put(out, at, &word.to_le_bytes());
        let (kind, size, at) = ((word >> 56) as u8, word & ((1 << 48) - 1), at + 8);
        let mut name = None;
        let end = match kind {
            OBSERVED_NONE => at,
            OBSERVED_INLINE => {
                let place = at..at.saturating_add(size as usize);
                let Some(bytes) = payload.get(place.clone()) else { return Ok(payload.len()) };
                self.bytes += size;
                // The first time only structs matter, because they say what blobs hold.
                if self.writes || content.leads_on() {
                    put(out, at, &self.replacer.replace(content, param, bytes, &mut command.leads));
                }
                place.end.next_multiple_of(8)
            }
            OBSERVED_NUMBER => {
                let number = word_at(payload, at).unwrap_or_default();
                put(out, at, &number.to_le_bytes());
                name = source.name(BlobNumber { process: command.process, number });
                at + 8
            }
            OBSERVED_BLOB => {
                name = payload.get(at..).and_then(<[u8]>::first_chunk).map(|name| BlobName(*name));
                if let Some(name) = name.filter(|_| self.writes) {
                    put(out, at, &self.renamed(name, *source).0);
                }
                at + BLOB_NAME_LEN
            }
            kind => {
                let function = command.function.name.clone();
                return Err(RecordFault::Observation { function, kind });
            }
        };
        if let Some(name) = name.filter(|_| !self.writes) {
            // A blob that holds two things is bytes.
            let known = self.contents.entry(name).or_insert(content);
            *known = if *known == content { content } else { Content::Bytes };
        }
        if let Some(bytes) =
            name.filter(|_| content.leads_on()).and_then(|name| source.bytes(name, size))
        {
            let texts = self.replacer.texts;
            self.replacer.replace(content, param, &bytes, &mut command.leads);
            self.replacer.texts = texts;
        }
        Ok(end)
    }

    /// Returns what a blob becomes if it is more than bytes.
    fn whole(&mut self, name: BlobName, source: &dyn BlobSource) -> Option<Vec<u8>> {
        let content = *self.contents.get(&name).filter(|content| **content != Content::Bytes)?;
        let bytes = source.bytes(name, *self.sizes.get(&name)?)?;
        Some(self.replacer.replace(content, usize::MAX, &bytes, &mut Vec::new()))
    }

    /// Returns the name of what a blob becomes. A blob that the trace does not have has another name, too.
    fn renamed(&mut self, name: BlobName, source: &dyn BlobSource) -> BlobName {
        if let Some(renamed) = self.renamed.get(&name) {
            return *renamed;
        }
        let size = self.sizes.get(&name).copied().filter(|size| *size <= BLOB_BYTES_MAX);
        let renamed = match (size, self.whole(name, source)) {
            (None, _) => self.replacer.noise.name(name),
            (Some(_), Some(whole)) => BlobName::of(&whole),
            (Some(size), None) => {
                let mut noise = vec![0; size as usize];
                self.replacer.noise.memory(name, 0, &mut noise);
                BlobName::of(&noise)
            }
        };
        self.renamed.insert(name, renamed);
        renamed
    }

    /// Notes a piece of a blob that begins at this place, and returns what it becomes.
    fn piece(&mut self, place: (u32, u32), piece: &Blob<'_>, source: &dyn BlobSource) -> Vec<u8> {
        let Some(thread) = self.tracker.current() else { return Vec::new() };
        if !self.writes {
            if let Some(blob) = self.collector.piece(thread, place, piece) {
                self.begun.insert((blob.block, blob.offset), blob.name);
                self.sizes.insert(blob.name, blob.size);
            }
            return Vec::new();
        }
        if piece.offset == 0 {
            let open = match self.begun.get(&place).copied() {
                Some(name) => self.whole(name, source).map_or(Open::Noise(name), Open::Whole),
                // It is never completed.
                None => Open::Noise(BlobName::of(piece.bytes)),
            };
            self.open.insert(thread, open);
        }
        let mut bytes = vec![0; piece.bytes.len()];
        self.bytes += bytes.len() as u64;
        match self.open.get(&thread) {
            Some(Open::Whole(whole)) => {
                let rest = usize::try_from(piece.offset).ok().and_then(|at| whole.get(at..));
                put(&mut bytes, 0, rest.unwrap_or_default());
            }
            Some(Open::Noise(name)) => self.replacer.noise.memory(*name, piece.offset, &mut bytes),
            None => self.replacer.noise.memory(BlobName::of(piece.bytes), 0, &mut bytes),
        }
        let written = Blob { bytes: &bytes, ..*piece };
        self.blobs.extend(self.collector.piece(thread, place, &written));
        bytes
    }

    /// Replaces an atom at this place, a block and an offset in it.
    fn atom(&mut self, record: &mut Rewritten<'_>, place: (u32, u32)) -> Result<(), RecordFault> {
        let Rewritten { header, stamp, payload, out, source } = record;
        let meta = self.tracker.meta(*header, *stamp, payload).map_err(RecordFault::Track)?;
        match meta {
            Meta::Block(_) => numbers!(Block, 3, payload, out),
            Meta::SwitchThread(_) => numbers!(SwitchThread, 1, payload, out),
            Meta::Context(_) => numbers!(Context, 3, payload, out),
            Meta::Gap(_) => numbers!(Gap, 8, payload, out),
            Meta::CaptureEnd(_) => numbers!(CaptureEnd, 2, payload, out),
            Meta::Keyframe(_) => numbers!(Keyframe, 2, payload, out),
            Meta::Subject(_) => numbers!(Subject, 3, payload, out),
            Meta::Stored(_) => numbers!(Stored, 4, payload, out),
            Meta::Time(_) => numbers!(Time, 4, payload, out),
            Meta::Account(_) => numbers!(Account, 17, payload, out),
            Meta::Seam(_) => numbers!(Seam, 4, payload, out),
            Meta::Numbered(numbered) => {
                numbers!(Numbered, 1, payload, out);
                self.number(numbered.number);
            }
            Meta::End(end) => {
                numbers!(End, 2, payload, out);
                const _: () = assert!(atom::InFlight::FIELDS.len() == 3);
                let commands = end.in_flight.iter().flat_map(atom::InFlight::encode);
                put(out, atom::End::LEN, &commands.collect::<Vec<_>>());
            }
            Meta::Rings(rings) => {
                numbers!(Rings, 4, payload, out);
                const _: () = assert!(Ring::FIELDS.len() == 28);
                let all = payload[atom::Rings::LEN..].chunks_exact(Ring::LEN);
                for (ring, at) in all.take(rings.rings.len()).zip(0..) {
                    // Without the inode of the segment.
                    let at = atom::Rings::LEN + at * Ring::LEN;
                    put(out, at, &ring[..16]);
                    put(out, at + 24, &ring[24..]);
                }
            }
            Meta::GpuTimes(times) => {
                numbers!(GpuTimes, 5, payload, out);
                self.without_gpu_times.extend(times.without());
                if times.kind == GpuTimesKind::Times {
                    for (time, at) in times.times.into_iter().zip(0..) {
                        let GpuTime { called_ns, begin_ns, duration_ns, tid, id } = time;
                        let tid = self.replacer.noise.id(tid);
                        let time = GpuTime { called_ns, begin_ns, duration_ns, tid, id };
                        put(out, atom::GpuTimes::LEN + at * GpuTime::LEN, &time.encode());
                    }
                }
            }
            Meta::Thread(atom::Thread { tid, flags, name }) => {
                let (tid, name) = (self.replacer.noise.id(tid), self.thread_name(&name));
                put(out, 0, &atom::Thread { tid, flags, name }.encode());
            }
            Meta::ThreadState(state) => {
                let atom::ThreadState { thread, process, tid, api, context, stamp, name } = state;
                let (tid, name) = (self.replacer.noise.id(tid), self.thread_name(&name));
                let state = atom::ThreadState { thread, process, tid, api, context, stamp, name };
                put(out, 0, &state.encode());
            }
            Meta::Process(Process { process, pid, start_ns, frames, name }) => {
                let pid = self.replacer.noise.id(pid);
                let noise = self.program(name);
                let name_len = noise.len() as u32;
                put(out, 0, &atom::Process { process, pid, start_ns, frames, name_len }.encode());
                put(out, atom::Process::LEN, &noise);
            }
            Meta::Blob(piece) => {
                let Blob { total, offset, bytes: _ } = piece;
                put(out, 0, &atom::Blob { total, offset }.encode());
                let noise = self.piece(place, &piece, *source);
                put(out, atom::Blob::LEN, &noise);
            }
            Meta::Frame(frame) => {
                let atom::Frame { surface, frame, width, height, kind, name } = frame;
                if !self.writes {
                    if kind == FrameKind::Blob {
                        self.contents.insert(BlobName(name), Content::Bytes);
                    }
                    return Ok(());
                }
                let name = self.renamed(BlobName(name), *source).0;
                put(out, 0, &atom::Frame { surface, frame, width, height, kind, name }.encode());
            }
            Meta::Limits(limits) => self.limits(&limits, out),
            Meta::Snapshot(Snapshot { held_us, missing }) => {
                let len = missing.len() as u32;
                put(out, 0, &atom::Snapshot { len, held_us }.encode());
                let noise = self.replacer.noise.lines(missing);
                put(out, atom::Snapshot::LEN, &noise);
            }
            Meta::Missing(Missing { text }) => {
                put(out, 0, &atom::Missing { len: text.len() as u32 }.encode());
                let noise = self.replacer.noise.lines(text);
                put(out, atom::Missing::LEN, &noise);
            }
            Meta::Traced(traced) => self.traced(&traced, out),
            Meta::Unknown(id) => return Err(RecordFault::Atom(id)),
        }
        Ok(())
    }

    /// Notes the number of the thread's last blob.
    fn number(&mut self, number: u64) {
        let Some(thread) = self.tracker.current() else { return };
        let process = self.tracker.thread_at(thread).map_or(0, |thread| thread.process);
        let name = self.collector.numbered(thread).filter(|_| self.writes);
        self.numbers.extend(name.map(|name| (BlobNumber { process, number }, name)));
    }

    fn traced(&mut self, traced: &Traced<'_>, out: &mut [u8]) {
        let Traced { id, kind, made, left, given } = *traced;
        let args_len = made.len();
        put(out, 0, &atom::Traced { id, kind, args_len: args_len as u32 }.encode());
        let Some(function) = self.replacer.description.function(id) else { return };
        let Some(rest) = out.get_mut(atom::Traced::LEN..) else { return };
        let (made_out, rest) = rest.split_at_mut(args_len);
        self.args(function, made, made_out);
        let (left_out, given_out) = rest.split_at_mut(left.len());
        self.args(function, left, left_out);
        self.value(function.result, false, given, given_out);
    }

    fn limits(&mut self, limits: &Limits<'_>, out: &mut [u8]) {
        let Limits { context, version, numbers, extensions, renderer, version_string } = *limits;
        let fixed = atom::Limits {
            context,
            major: version.0,
            minor: version.1,
            numbers: (numbers.len() / 4) as u16,
            extensions_len: extensions.len() as u16,
        };
        let names = extensions.split(|byte| *byte == b' ');
        let noise = &mut self.replacer.noise;
        let known = |name: &[u8]| EXTENSIONS.iter().any(|known| known.as_bytes() == name);
        let names: Vec<_> =
            names.map(|name| if known(name) { name.to_vec() } else { noise.text(name) }).collect();
        let mut all = [&fixed.encode(), numbers, &names.join(&b' ')].concat();
        for text in [renderer, version_string] {
            match self.keep.driver {
                true => all.extend_from_slice(text),
                false => all.extend(noise.text(text)),
            }
            all.push(0);
        }
        put(out, 0, &all);
    }

    /// Replaces the name of a program.
    fn program(&mut self, name: &[u8]) -> Vec<u8> {
        if self.keep.program { name.to_vec() } else { self.replacer.noise.text(name) }
    }

    fn thread_name(&mut self, name: &[u8; 16]) -> [u8; 16] {
        if self.keep.program {
            return *name;
        }
        let mut noise = [0; 16];
        self.replacer.noise.until_nul(name, &mut noise);
        noise
    }
}

/// Returns which structs the arguments of a command lead to.
fn structs_of(function: &Function, payload: &[u8]) -> impl Iterator<Item = Lead> {
    function.params.iter().enumerate().filter_map(move |(param, it)| {
        let content = match it.ty.kind {
            Kind::Struct(layout) => Content::Structs(layout),
            Kind::Chain => Content::Chain,
            _ => return None,
        };
        let address = word_at(payload, it.offset as usize)?;
        Some(Lead { param, address, content })
    })
}
