//! Plays the commands of a trace, one after the other, in the order in which they took effect.
//!
//! All there is of a replay is one value, which the threads hand to each other: see `threads`.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::CStr;
use std::io::{self, Read, Seek};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use gapii_protocol::trace::description::{Description, Function, Type};
use gapii_protocol::trace::reader::Commands;
use gapii_protocol::trace::value::Value;
use gapii_protocol::trace::{Bytes, Command, TraceReader};
use gapii_state::follow::Follower;

use crate::call::{self, ARGS_MAX, Call, Entry, Output, Play, Skip};
use crate::driver::{Driver, Loader, function};
use crate::egl::{self, Egl};
use crate::generated;
use crate::gl::Gl;
use crate::images::{self, Images};
use crate::level_zero::{self, LevelZero};
use crate::limits::Limits;
use crate::mappings::{self, Mappings};
use crate::memory::Memory;
use crate::names::{Names, Scopes};
use crate::outputs::Outputs;
use crate::report::Report;
use crate::survey::Survey;
use crate::threads::{self, Threads, Turn};
use crate::verify::{self, Verifier};

/// What is to be played, and how.
#[derive(Default)]
pub struct Options {
    /// Frames of each process that are shown; playing begins with the first command in any case, and
    /// each process ends behind them.
    pub frames: Option<Range<u64>>,
    /// Play up to this command.
    pub stop_after: Option<u64>,
    /// Surfaces are real windows.
    pub window: bool,
    pub limits: Limits,
    pub images: Images,
    pub verify: Verifier,
}

/// Hears how a replay goes on, on the thread that plays.
pub trait Events: Send {
    /// A frame has ended.
    fn frame(&mut self, frame: &FrameEnd) {
        let _ = frame;
    }

    /// So many commands of so many have been looked through, before anything is played; `of` is 0
    /// where nobody knows.
    fn surveyed(&mut self, done: u64, of: u64) {
        let _ = (done, of);
    }

    /// So many commands of so many are done; `of` is 0 where nobody knows.
    fn progress(&mut self, done: u64, of: u64) {
        let _ = (done, of);
    }

    /// Whether to stop at the next occasion.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Hears nothing.
pub struct Quiet;

impl Events for Quiet {}

/// The end of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameEnd {
    /// Index of the process in the trace.
    pub process: u32,
    /// From 0, within its process.
    pub frame: u64,
    /// The command that ended it.
    pub seq: u64,
}

/// Why a trace can't be played.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{name} of the trace has other parameters than this build knows: {why}")]
    Signature { name: String, why: String },
    #[error("{0}")]
    Library(String),
    #[error("{0}")]
    Missing(String),
    #[error("{0}")]
    Images(String),
    #[error("can't reserve memory to play in: {0}")]
    Memory(io::Error),
}

/// Everything that commands are played with.
pub struct Parts {
    pub driver: Arc<Driver>,
    pub memory: Memory,
    pub outputs: Outputs,
    pub names: Names,
    pub mappings: Mappings,
    /// What the program had set up, as of the command that is played.
    pub follower: Follower,
    pub survey: Survey,
    pub egl: Egl,
    pub gl: Gl,
    pub level_zero: LevelZero,
    pub images: Images,
    pub verify: Verifier,
    pub report: Report,
    pub limits: Limits,
    /// Surfaces are real windows.
    pub window: bool,
    pub threads: Threads,
    pub(crate) call_outputs: Vec<Output>,
    facts: HashMap<u32, Facts>,
    /// Contexts in which an array in the program's memory was given a stride that is not bounded.
    pub(crate) wide_arrays: HashSet<u32>,
}

/// What the driver said of one of its contexts.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Client version: major, minor.
    pub version: (u32, u32),
    /// `GL_PIXEL_UNPACK_BUFFER` and `GL_PIXEL_PACK_BUFFER` are binding points.
    pub has_pixel_buffers: bool,
    /// Buffers can be mapped, in a version before 3.0.
    pub has_map_buffer: bool,
    /// Uploads may take a part of an image in memory.
    pub has_unpack_subimage: bool,
    /// The same of read-backs.
    pub has_pack_subimage: bool,
}

/// Plays `reader`'s trace from its first command on.
pub fn replay<R: Read + Seek + Send>(
    reader: &mut TraceReader<R>,
    loader: &dyn Loader,
    options: Options,
    events: &mut dyn Events,
) -> Result<Report, ReplayError> {
    let table = functions(&reader.header().description)?;
    reader.keep_decoded(options.limits.kept_bytes);
    let Some(survey) = Survey::of(reader, events)? else {
        return Ok(Report { cancelled: true, ..Report::default() });
    };
    let apis = survey.apis();
    if let Some(why) = apis.iter().find_map(|api| loader.lacks(*api)) {
        return Err(ReplayError::Library(why));
    }
    let driver = Arc::new(Driver::load(loader, &apis));
    let egl = Egl::open(&driver, &survey, options.window).map_err(|lacks| missing(&lacks))?;
    let limits = options.limits;
    let parts = Parts {
        driver,
        memory: Memory::new(limits.input_bytes).map_err(ReplayError::Memory)?,
        outputs: Outputs::new(limits.output_bytes).map_err(ReplayError::Memory)?,
        names: Names::new(limits.names),
        mappings: Mappings::default(),
        follower: Follower::default(),
        survey,
        egl,
        gl: Gl::default(),
        level_zero: LevelZero::default(),
        images: options.images,
        verify: options.verify,
        report: Report::default(),
        limits,
        window: options.window,
        threads: Threads::new(limits.threads),
        call_outputs: Vec::new(),
        facts: HashMap::new(),
        wide_arrays: HashSet::new(),
    };
    let total = reader.footer().map_or(0, |footer| footer.totals.calls);
    let player = Player {
        commands: reader.commands()?,
        parts,
        table,
        events,
        frames: options.frames,
        ended: BTreeSet::new(),
        stop_after: options.stop_after,
        total,
        done: 0,
        is_pending: false,
        is_over: false,
        failure: None,
    };
    let begun = Instant::now();
    let Some(mut player) = threads::play(player) else {
        return Err(ReplayError::Missing("a thread of the replay ended early".to_owned()));
    };
    player.parts.egl.close();
    if let Some(failure) = player.failure.take() {
        return Err(failure.into());
    }
    let images = std::mem::take(&mut player.parts.images);
    let mut report = player.parts.report;
    report.has_surfaces = player.parts.survey.uses_egl();
    report.verified = player.parts.verify.finish();
    report.seconds = begun.elapsed().as_secs_f64();
    report.threads = player.parts.threads.count();
    report.images = images.finish().map_err(ReplayError::Images)?;
    Ok(report)
}

/// What there is not, of which there is something; a line for each if there is more than one.
fn missing(lacks: &[String]) -> ReplayError {
    ReplayError::Missing(match lacks {
        [only] => only.clone(),
        many => many.iter().map(|lack| format!("\n  {lack}")).collect(),
    })
}

/// How a function of the trace is played, and where its arguments are.
struct Known {
    play: Option<Play>,
    is_gl: bool,
    is_level_zero: bool,
    fixed_len: usize,
    args: Box<[(Type, usize)]>,
}

/// What plays the functions of a trace, by their ids.
fn functions(description: &Description) -> Result<Vec<Option<Known>>, ReplayError> {
    let mut table = Vec::new();
    for of_trace in description.functions() {
        let id = usize::from(of_trace.id);
        if table.len() <= id {
            table.resize_with(id + 1, || None);
        }
        table[id] = Some(known(of_trace)?);
    }
    Ok(table)
}

fn known(of_trace: &Function) -> Result<Known, ReplayError> {
    let entry = find(&generated::table::COMMANDS, &of_trace.name)
        .or_else(|| find(&egl::COMMANDS, &of_trace.name));
    let is_level_zero = level_zero::describes(&of_trace.name);
    let play = entry.map(|entry| entry.play).or(is_level_zero.then_some(level_zero::play));
    if play.is_some() {
        check_signature(of_trace)?;
    }
    let args = of_trace.params.iter().map(|param| (param.ty, param.offset as usize));
    Ok(Known {
        play,
        is_gl: of_trace.name.starts_with("gl"),
        is_level_zero,
        fixed_len: of_trace.fixed_len as usize,
        args: args.collect(),
    })
}

fn find(entries: &'static [Entry], name: &str) -> Option<&'static Entry> {
    let at = entries.binary_search_by_key(&name, |entry| entry.name).ok()?;
    entries.get(at)
}

/// Arguments are played as this build knows them: so they must be those.
fn check_signature(of_trace: &Function) -> Result<(), ReplayError> {
    let built_in = Description::built_in().functions();
    let ours = built_in.binary_search_by_key(&&*of_trace.name, |ours| &ours.name).ok();
    let ours = ours.and_then(|at| built_in.get(at));
    let differs = |why: String| ReplayError::Signature { name: of_trace.name.clone(), why };
    let Some(ours) = ours else { return Err(differs("it is not described".to_owned())) };
    if ours.params.len() != of_trace.params.len() || ours.params.len() > ARGS_MAX {
        let (found, known) = (of_trace.params.len(), ours.params.len());
        return Err(differs(format!("{found} of them, not {known}")));
    }
    for (ours, theirs) in ours.params.iter().zip(&of_trace.params) {
        if ours.ty.repr != theirs.ty.repr || ours.observed != theirs.observed {
            return Err(differs(format!("{} is recorded in another way", theirs.name)));
        }
    }
    match ours.result.repr == of_trace.result.repr {
        true => Ok(()),
        false => Err(differs("its result is of another type".to_owned())),
    }
}

/// A replay, as it is handed from thread to thread.
pub(crate) struct Player<'r, 'e, R> {
    commands: Commands<'r, R>,
    pub(crate) parts: Parts,
    table: Vec<Option<Known>>,
    events: &'e mut dyn Events,
    frames: Option<Range<u64>>,
    /// Processes that are behind those frames.
    ended: BTreeSet<u32>,
    stop_after: Option<u64>,
    total: u64,
    done: u64,
    /// The command at hand has not been played.
    is_pending: bool,
    is_over: bool,
    failure: Option<io::Error>,
}

impl<R: Read + Seek> Player<'_, '_, R> {
    /// Plays on `thread`, the one that calls, until it is another's turn.
    pub(crate) fn play(&mut self, thread: u32) -> Turn {
        while !self.is_over {
            if !self.is_pending && !self.advance() {
                self.is_over = true;
                break;
            }
            self.is_pending = true;
            let command = self.commands.command();
            let known = self.table.get(usize::from(command.id)).and_then(Option::as_ref);
            match playable(&command, known) {
                Err(why) => self.parts.skip(&command, &why),
                Ok(_) if command.thread != thread => {
                    match self.parts.threads.admits(command.thread) {
                        true => return Turn::Of(command.thread),
                        false => {
                            let why = Skip::from("the trace has more threads than replay takes");
                            self.parts.skip(&command, &why);
                        }
                    }
                }
                Ok((known, play)) => {
                    play_one(&mut self.parts, &command, known, play);
                    if command.ends_frame
                        && let Some(seq) = command.seq
                    {
                        let (process, frame) = (command.process, command.frame);
                        self.parts.report.frames += 1;
                        self.events.frame(&FrameEnd { process, frame, seq });
                    }
                }
            }
            self.is_over |= self.stop_after.is_some_and(|last| command.seq >= Some(last));
            self.is_pending = false;
        }
        egl::end_thread(&mut self.parts, thread);
        self.parts.threads.end(thread)
    }

    /// Goes on to the next command that is wanted; false where playing ends.
    fn advance(&mut self) -> bool {
        loop {
            if self.done.is_multiple_of(256) {
                self.events.progress(self.done, self.total);
                if self.events.is_cancelled() {
                    self.parts.report.cancelled = true;
                    return false;
                }
            }
            if self.parts.images.is_over() {
                return false;
            }
            self.done += 1;
            match self.commands.advance() {
                Ok(true) if self.is_wanted() => return true,
                Ok(true) if self.ended.len() < self.parts.survey.processes.len() => {}
                Ok(_) => return false,
                Err(error) => {
                    self.failure = Some(error);
                    return false;
                }
            }
        }
    }

    /// Whether the command is of a frame that is played. Processes have frames of their own, and
    /// nothing else in common.
    fn is_wanted(&mut self) -> bool {
        let Some(frames) = &self.frames else { return true };
        let command = self.commands.command();
        let is_wanted = command.frame < frames.end;
        if !is_wanted {
            self.ended.insert(command.process);
        }
        is_wanted
    }

    /// The thread that the first command to be played is on, if there is one.
    pub(crate) fn first_thread(&mut self) -> Option<u32> {
        if !self.advance() {
            return None;
        }
        self.is_pending = true;
        Some(self.commands.command().thread)
    }
}

/// Whether a command is played at all.
fn playable<'k>(
    command: &Command<'_>,
    known: Option<&'k Known>,
) -> Result<(&'k Known, Play), Skip> {
    let Some(known) = known else {
        return Err(Skip::from("the trace does not describe it"));
    };
    if command.in_flight {
        return Err(Skip::from("it had not returned when the recording ended"));
    }
    if command.seq.is_none() {
        return Err(Skip::from("it took no effect, or its record is lost"));
    }
    if command.enter_payload().is_none() {
        return Err(Skip::from("it was entered before the recording began"));
    }
    let play = known.play.ok_or_else(|| Skip::from("this build can't play it"))?;
    Ok((known, play))
}

fn play_one(parts: &mut Parts, command: &Command<'_>, known: &Known, play: Play) {
    parts.memory.reset();
    parts.outputs.reset();
    parts.level_zero.reset();
    let payload = command.enter_payload().unwrap_or_default();
    let mut args = [0; ARGS_MAX];
    for (arg, (ty, offset)) in args.iter_mut().zip(&known.args) {
        *arg = Value::read(*ty, payload, *offset).bits();
    }
    parts.follower.enter(command);
    if let Err(why) = try_play(parts, command, known, play, args) {
        parts.skip(command, &why);
    } else {
        parts.report.played += 1;
    }
    parts.follower.leave(command);
}

fn try_play(
    parts: &mut Parts,
    command: &Command<'_>,
    known: &Known,
    play: Play,
    args: [u64; ARGS_MAX],
) -> Result<(), Skip> {
    if known.is_gl && command.context == 0 {
        // Without a context drivers do nothing.
        return Ok(());
    }
    if known.is_gl && parts.egl.current(command.thread) != Some(command.context) {
        return Err(Skip::from("the context that it was called in is not current on its thread"));
    }
    let has_memory = command.enter_payload().is_some_and(|payload| payload.len() > known.fixed_len);
    if has_memory && !known.is_level_zero {
        let mut pieces: Vec<(u64, Bytes<'_>)> = Vec::new();
        call::read_memory(command, &mut pieces);
        parts.memory.load(&pieces)?;
        if known.is_gl {
            let scopes = parts.names.scopes(command.process, command.context);
            mappings::update(parts, scopes, command);
        }
    }
    let mut call = Call::new(parts, command, args);
    play(&mut call)?;
    verify::after(&mut call);
    if known.is_level_zero {
        level_zero::after(&mut call);
    }
    images::after(&mut call);
    Ok(())
}

const GET_INTEGER: u16 = function("glGetIntegerv");
const GET_STRING: u16 = function("glGetString");

const GL_VERSION: u32 = 0x1F02;
const GL_EXTENSIONS: u32 = 0x1F03;
const GL_PIXEL_PACK_BUFFER_BINDING: u32 = 0x88ED;
const GL_PIXEL_UNPACK_BUFFER_BINDING: u32 = 0x88EF;
const GL_DRAW_INDIRECT_BUFFER_BINDING: u32 = 0x8F43;
const GL_DISPATCH_INDIRECT_BUFFER_BINDING: u32 = 0x90EF;

impl Parts {
    /// A command was not played.
    pub fn skip(&mut self, command: &Command<'_>, why: &Skip) {
        let most = self.limits.listed_skips;
        self.report.skip(most, command.seq, command.name(), why.to_string());
        self.verify.skipped(command, why);
    }

    /// What the driver says of the context that is current, which has these scopes.
    pub fn facts(&mut self, scopes: Scopes) -> Facts {
        if let Some(known) = self.facts.get(&scopes.context) {
            return *known;
        }
        let version = self.driver_text(GL_VERSION).as_deref().and_then(version_of);
        let version = version.unwrap_or((1, 0));
        let extensions = self.driver_text(GL_EXTENSIONS).unwrap_or_default();
        let has = |name: &str| extensions.split(' ').any(|extension| extension == name);
        let has_pixel_buffers = version >= (3, 0) || has("GL_NV_pixel_buffer_object");
        let has_map_buffer = has("GL_OES_mapbuffer");
        let facts = Facts {
            version,
            has_pixel_buffers,
            has_map_buffer,
            has_unpack_subimage: version >= (3, 0) || has("GL_EXT_unpack_subimage"),
            has_pack_subimage: version >= (3, 0) || has("GL_NV_pack_subimage"),
        };
        self.facts.insert(scopes.context, facts);
        facts
    }

    fn driver_text(&self, name: u32) -> Option<String> {
        // SAFETY: the type of glGetString.
        let get = unsafe { self.driver.own::<unsafe extern "C" fn(u32) -> *const u8>(GET_STRING) };
        // SAFETY: takes an enum that every version has, and gives null or a text that stays.
        let text = unsafe { (get.ok()?)(name) };
        if text.is_null() {
            return None;
        }
        // SAFETY: not null, and ends with zero.
        Some(unsafe { CStr::from_ptr(text.cast()) }.to_string_lossy().into_owned())
    }

    /// The driver's name of the buffer that is bound to `binding` in the current context; 0 where its
    /// version has no such binding.
    pub fn bound(&mut self, scopes: Scopes, binding: u32) -> u32 {
        let facts = self.facts(scopes);
        let exists = match binding {
            GL_PIXEL_PACK_BUFFER_BINDING | GL_PIXEL_UNPACK_BUFFER_BINDING => {
                facts.has_pixel_buffers
            }
            GL_DRAW_INDIRECT_BUFFER_BINDING | GL_DISPATCH_INDIRECT_BUFFER_BINDING => {
                facts.version >= (3, 1)
            }
            _ => facts.version >= (1, 1),
        };
        if !exists {
            return 0;
        }
        self.integer(binding)
    }

    /// A number of the current context's state, by a name that its version has.
    pub fn integer(&self, name: u32) -> u32 {
        let mut values = [0i32; 16];
        // SAFETY: the type of glGetIntegerv.
        let get = unsafe { self.driver.own::<unsafe extern "C" fn(u32, *mut i32)>(GET_INTEGER) };
        if let Ok(get) = get {
            // SAFETY: room for more values than any state that is asked for here has.
            unsafe { get(name, values.as_mut_ptr()) };
        }
        values[0] as u32
    }
}

/// Major and minor number of `OpenGL ES 3.2 …` or `OpenGL ES-CM 1.1 …`.
pub(crate) fn version_of(text: &str) -> Option<(u32, u32)> {
    let numbers = text.strip_prefix("OpenGL ES")?.split(' ').nth(1)?;
    let (major, minor) = numbers.split_once('.')?;
    let minor: String = minor.chars().take_while(char::is_ascii_digit).collect();
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_read_from_the_drivers_text() {
        for (text, expected) in [
            ("OpenGL ES 3.2 Mesa 22.3.6", Some((3, 2))),
            ("OpenGL ES-CM 1.1 Mesa", Some((1, 1))),
            ("OpenGL ES 2.0", Some((2, 0))),
            ("4.6.0 NVIDIA", None),
            ("", None),
        ] {
            assert_eq!(version_of(text), expected, "{text}");
        }
    }

    #[test]
    fn every_function_of_this_build_has_the_parameters_that_it_plays() {
        assert!(functions(Description::built_in()).is_ok());
    }
}
