//! `state`: shows the state that a program had set up after one of its commands, by default the last. It is followed from
//! the last checkpoint before that command, if the trace has any, otherwise from the first command. The text form shows only state that differs from its initial value, also of objects; `--all` and the JSON form show all state, and so
//! does a choice of sections or objects for what it chooses. `--sections` lists the sections, and `--since` what commands have
//! changed. A filtered trace, a command number beyond the last, and a choice that nothing fits, are refused with status 1.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use gapii_follow::checkpoint_file::Entry;
use gapii_follow::follow::Follower;
use gapii_follow::value::{Describe, Value};
use gapii_follow::{Context, Group, Process, Thread};
use gapii_trace::Info;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Json, Trace};
use crate::checkpoints::{self, Checkpoints};
use crate::failure::Failure;
use crate::reading_progress::ReadingProgress;
use crate::state_choice::{Scope, StateChoice};
use crate::state_value;
use crate::text;
use crate::trace_file::{self, Reader, unreadable};

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl state x.gapii --frame 5000                    the state at the end of frame 5000
  gapii-ctl state x.gapii --at 4711 --sections            which sections the state has at command 4711
  gapii-ctl state x.gapii --at 4711 --section viewport --section 'context.stencil_*'
  gapii-ctl state x.gapii --at 4711 --object texture:5    texture 5 alone
  gapii-ctl state x.gapii --at 4711 --since 4710          what command 4711 has changed";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct State {
    #[command(flatten)]
    trace: Trace,

    /// Command after which the state is shown, by its number in `dump` [default: the last one]
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,

    /// Frame at whose end the state is shown; of several processes, the first one that ends it
    #[arg(long, value_name = "N", conflicts_with = "at")]
    frame: Option<u64>,

    /// Show only what the commands after command SEQ have changed, up to --at or the end of --frame
    #[arg(long, value_name = "SEQ", conflicts_with_all = ["all", "sections"])]
    since: Option<u64>,

    /// Also show what still has its initial value
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    choice: StateChoice,

    /// List the sections with their numbers of entries, instead of their contents
    #[arg(long)]
    sections: bool,

    #[command(flatten)]
    checkpoints: checkpoints::Choice,

    #[command(flatten)]
    json: Json,
}

pub fn run(args: &State) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    trace_file::judge_filter(path, &reader, "does not hold all of the program's state")?;
    if let (Some(since), Some(at)) = (args.since, args.at)
        && since >= at
    {
        let (at, since_before) = (at.max(1), at.max(1) - 1);
        return Err(Failure::usage(format!(
            "--since {since} must be a command before that of --at; type `--at {at} --since {since_before}` for what command {at} \
             has changed"
        )));
    }
    if let Some(frame) = args.frame {
        let wanted = frame..frame.saturating_add(1);
        trace_file::judge_wish(path, &mut reader, Some(&wanted), None)?;
    }
    let first = reader.header().kept.map_or(0, |kept| kept.seq);
    if let Some(since) = args.since.filter(|since| *since < first) {
        let name = path.display();
        return Err(Failure::no(format!(
            "{name} has no command {since}; its first one is {first}; type `--since {first}`"
        )));
    }
    let end_block = args.frame.and_then(|frame| end_of_frame(&reader, frame));
    let end = match (args.at, end_block) {
        (Some(at), _) => at.saturating_add(1),
        (None, Some((_, end_seq))) => end_seq,
        (None, None) => {
            let info = Info::of(&mut reader).map_err(|error| unreadable(path, &error))?;
            first.saturating_add(info.calls)
        }
    };
    let mut checkpoints = Checkpoints::open(path, &mut reader, &args.checkpoints);
    let mut commands = reader.commands().map_err(|error| unreadable(path, &error))?;
    let is_before_end = |entry: &Entry| match (args.frame, end_block) {
        (None, _) => args.at.is_none_or(|at| entry.end_seq <= at),
        (Some(_), Some((block, _))) => entry.block <= block,
        (Some(_), None) => true,
    };
    let is_before = |entry: &Entry| {
        is_before_end(entry) && args.since.is_none_or(|since| entry.end_seq <= since)
    };
    let (mut follower, mut at) = match checkpoints.resume(&mut commands, is_before) {
        Some((follower, last)) => (follower, Some(last)),
        None => (Follower::default(), None),
    };
    let begin = at.map_or(first, |last| last.saturating_add(1));
    let mut progress = ReadingProgress::start(end.saturating_sub(begin));
    let mut earlier = None;
    loop {
        if !commands.advance_in_block() {
            checkpoints.pass(&mut commands, &follower, at);
            if !commands.advance().map_err(|error| unreadable(path, &error))? {
                break;
            }
        }
        let command = commands.command();
        follower.follow(&command);
        at = command.seq.max(at);
        if earlier.is_none() && args.since.is_some() && at >= args.since {
            earlier = at.zip(Some(Picture::of(&follower)));
        }
        progress.step();
        let is_wanted = args.at.is_some() && at >= args.at;
        if is_wanted || (command.ends_frame && args.frame == Some(command.frame)) {
            break;
        }
    }
    checkpoints.finish();
    progress.clear();
    let Some(at) = at else {
        return Err(Failure::no(format!(
            "{0} has no command; `gapii-ctl info {0}` says how it ended",
            path.display()
        )));
    };
    if let Some(wanted) = args.at.filter(|wanted| *wanted < first) {
        let name = path.display();
        return Err(Failure::no(format!(
            "{name} has no command {wanted}; its first one is {first}; type `--at {first}`"
        )));
    }
    if let Some(wanted) = args.at.filter(|wanted| *wanted > at) {
        let name = path.display();
        return Err(Failure::no(format!(
            "{name} has no command {wanted}; its last one is {at}; type `--at {at}`"
        )));
    }
    let mut picture = Picture::of(&follower);
    picture.choose(path, &args.choice)?;
    if let Some(since) = args.since {
        let Some((_, mut earlier)) = earlier.filter(|(since, _)| *since < at) else {
            let name = path.display();
            return Err(Failure::no(format!(
                "{name} has no command between {since} and {at}; type `--since {}`",
                at.saturating_sub(1)
            )));
        };
        // What the choice fits may have been made since then.
        _ = earlier.choose(path, &args.choice);
        let changes = Changes { seq: at, since, changes: picture.changes(&earlier) };
        return match args.json.json {
            true => text::print_json(&changes).map(|()| 0),
            false => text::print(|out| changes.write(out)).map(|()| 0),
        };
    }
    let all = args.all || args.choice.is_partial();
    match (args.sections, args.json.json) {
        (true, true) => {
            let (sections, contexts) = (picture.sections(), picture.contexts_of());
            text::print_json(&Sections { seq: at, sections, contexts })?;
        }
        (true, false) => text::print(|out| write_sections(out, &picture.sections()))?,
        (false, true) => text::print_json(&picture.answer(at))?,
        (false, false) => text::print(|out| write!(out, "{}", picture.text(at, all)))?,
    }
    if args.at.is_none() && args.frame.is_none() {
        trace_file::judge_tail(path, commands.tail())?;
    }
    Ok(0)
}

/// Returns the block in which the first process ends a frame, by the index, and the number of the first command behind it.
fn end_of_frame(reader: &Reader, frame: u64) -> Option<(u64, u64)> {
    let index = reader.index()?;
    let end = index.frame_ends.iter().find(|end| end.frame == frame)?;
    let block = index.blocks.get(end.block as usize)?;
    Some((u64::from(end.block), block.first_seq.saturating_add(u64::from(block.seqs))))
}

/// What commands have changed in the state.
#[derive(Serialize, JsonSchema)]
pub struct Changes {
    /// Number of the last of these commands.
    seq: u64,
    /// Number of the command before the first of them.
    since: u64,
    /// The changes, in the order in which the state is shown.
    changes: Vec<Changed>,
}

/// A changed part of the state of a process, a thread, a share group or a context.
#[derive(Serialize, JsonSchema)]
struct Changed {
    /// What it belongs to, such as `process 0` or `context 0x5599d8970750`.
    owner: String,
    /// The names that lead to it, such as `["textures", "Texture 5", "label"]`; none for the whole state of the owner.
    path: Vec<String>,
    /// Its value before; null if it did not exist.
    before: Option<serde_json::Value>,
    /// Its value; null if it does not exist any more.
    after: Option<serde_json::Value>,
}

impl Changes {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "changes from command {} to command {}", self.since, self.seq)?;
        let shown = |value: &Option<serde_json::Value>| match value {
            None => "nothing".to_owned(),
            Some(serde_json::Value::Object(fields)) => format!("{} fields", fields.len()),
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        let mut owner = "";
        for change in &self.changes {
            if change.owner != owner {
                owner = &change.owner;
                writeln!(out, "{owner}")?;
            }
            let path = change.path.join(".");
            writeln!(out, "  {path}: {} -> {}", shown(&change.before), shown(&change.after))?;
        }
        Ok(())
    }
}

/// Sections of the state after a command.
#[derive(Serialize, JsonSchema)]
pub struct Sections {
    /// Number of the command after which they are listed.
    seq: u64,
    /// The sections, in the order in which the state is shown.
    sections: Vec<Section>,
    /// The contexts, with their share groups.
    contexts: Vec<ContextOf>,
}

/// A context, and what it belongs to.
#[derive(Serialize, JsonSchema)]
struct ContextOf {
    /// Index of the process in the trace.
    process: u32,
    /// Handle.
    context: u64,
    /// Index of the context's share group in the process.
    share_group: usize,
}

/// A field of the state of a process, a thread, a share group or a context.
#[derive(Serialize, JsonSchema)]
struct Section {
    /// Name for `--section`, such as `context.viewport`.
    name: String,
    /// What it belongs to, such as `process 0` or `context 0x5599d8970750`.
    owner: String,
    /// Entries of a list, map or group of fields; null if the section is a single value.
    entries: Option<usize>,
    /// True if it still has its initial value.
    is_initial: bool,
}

fn write_sections(out: &mut dyn Write, sections: &[Section]) -> io::Result<()> {
    let mut owner = "";
    for section in sections {
        if section.owner != owner {
            owner = &section.owner;
            writeln!(out, "{owner}")?;
        }
        let entries = section.entries.map(|count| match count {
            1 => "1 entry".to_owned(),
            count => format!("{count} entries"),
        });
        let initial = section.is_initial.then(|| "initial".to_owned());
        let remarks: Vec<_> = entries.into_iter().chain(initial).collect();
        match remarks.is_empty() {
            true => writeln!(out, "  {}", section.name)?,
            false => writeln!(out, "  {}: {}", section.name, remarks.join(", "))?,
        }
    }
    Ok(())
}

/// The state after a command. The parts of each `state` have the names of the tracked state; a program must not
/// expect any of them.
#[derive(Serialize, JsonSchema)]
pub struct Answer {
    /// Number of the command after which the state is shown.
    seq: u64,
    /// The processes.
    processes: Vec<ProcessAnswer>,
}

/// The state of a process.
#[derive(Serialize, JsonSchema)]
struct ProcessAnswer {
    /// Index of the process in the trace.
    process: u32,
    /// State of the process: displays, configurations, surfaces.
    state: serde_json::Value,
    /// Threads that have recorded commands.
    threads: Vec<ThreadAnswer>,
    /// Contexts.
    contexts: Vec<ContextAnswer>,
    /// Share groups.
    share_groups: Vec<GroupAnswer>,
}

/// Objects that contexts share.
#[derive(Serialize, JsonSchema)]
struct GroupAnswer {
    /// Index of the share group.
    share_group: usize,
    /// State of the share group.
    state: serde_json::Value,
}

/// The state of a thread.
#[derive(Serialize, JsonSchema)]
struct ThreadAnswer {
    /// Index of the thread in the trace.
    thread: u32,
    /// Handle of its current context; null without one.
    context: Option<u64>,
    /// State of the thread.
    state: serde_json::Value,
}

/// The state of a context.
#[derive(Serialize, JsonSchema)]
struct ContextAnswer {
    /// Handle.
    context: u64,
    /// Index of the thread on which the context is current; null if on none.
    thread: Option<u32>,
    /// Version of OpenGL ES, such as `3.2`.
    version: String,
    /// Index of the context's share group.
    share_group: usize,
    /// State of the context.
    state: serde_json::Value,
}

/// The state after one command, in the order of the output.
struct Picture {
    processes: Vec<ProcessPicture>,
}

struct ProcessPicture {
    index: u32,
    state: Value,
    threads: Vec<ThreadPicture>,
    contexts: Vec<ContextPicture>,
    /// By index.
    groups: Vec<(usize, Value)>,
}

struct ThreadPicture {
    index: u32,
    context: Option<u64>,
    state: Value,
}

struct ContextPicture {
    handle: u64,
    /// Index of the thread on which the context is current, if any.
    thread: Option<u32>,
    version: (u8, u8),
    /// Index of its share group.
    group: usize,
    state: Value,
}

impl Picture {
    fn of(follower: &Follower) -> Picture {
        let processes = follower.processes();
        Picture { processes: processes.map(|found| process(follower, found)).collect() }
    }

    /// Removes what is not chosen.
    fn choose(&mut self, path: &Path, choice: &StateChoice) -> Result<(), Failure> {
        let name = path.display();
        if let Some(handle) = choice.context {
            let handles: Vec<_> = self.contexts().map(|it| format!("{:#x}", it.handle)).collect();
            self.processes.iter_mut().for_each(|process| process.keep_context(handle));
            if self.contexts().next().is_none() {
                let others = match handles.is_empty() {
                    true => "no context exists after that command".to_owned(),
                    false => format!("the contexts after that command are {}", handles.join(", ")),
                };
                return Err(Failure::no(format!(
                    "{name} has no context {handle:#x}; {others}; `gapii-ctl state {name}` shows the last ones"
                )));
            }
        }
        for process in &mut self.processes {
            for (scope, state) in process.states_mut() {
                choice.apply(scope, state);
            }
        }
        if choice.is_partial() && self.sections().is_empty() {
            return Err(Failure::no(format!(
                "the state in {name} has no {choice}; `gapii-ctl state {name} {}",
                choice.list_hint()
            )));
        }
        Ok(())
    }

    fn contexts(&self) -> impl Iterator<Item = &ContextPicture> {
        self.processes.iter().flat_map(|process| &process.contexts)
    }

    fn contexts_of(&self) -> Vec<ContextOf> {
        let of = self.processes.iter().flat_map(|process| {
            process.contexts.iter().map(|context| ContextOf {
                process: process.index,
                context: context.handle,
                share_group: context.group,
            })
        });
        of.collect()
    }

    fn sections(&self) -> Vec<Section> {
        let fresh = Fresh::new();
        let states = self.processes.iter().flat_map(ProcessPicture::states);
        states
            .flat_map(|(scope, owner, state)| {
                let initial = fresh.of(scope);
                state_value::parts(state).map(move |(name, part)| Section {
                    name: format!("{scope}.{name}"),
                    owner: owner.clone(),
                    entries: state_value::entries(part),
                    is_initial: state_value::part_of(initial, &name) == Some(part),
                })
            })
            .collect()
    }

    /// Returns all states, each with a name of what it belongs to that no other has.
    fn owners(&self) -> Vec<(String, &Value)> {
        let states = self.processes.iter().flat_map(|process| {
            let prefix = format!("process {}", process.index);
            process.states().into_iter().map(move |(scope, owner, state)| match scope {
                Scope::Process => (owner, state),
                _ => (format!("{prefix}, {owner}"), state),
            })
        });
        states.collect()
    }

    /// Returns what is different from an earlier picture of the same trace.
    fn changes(&self, earlier: &Picture) -> Vec<Changed> {
        let mut changes = Vec::new();
        let (before, after) = (earlier.owners(), self.owners());
        let find = |all: &[(String, &'_ Value)], owner: &str| {
            all.iter().position(|(known, _)| known == owner)
        };
        let gone = before.iter().filter(|(owner, _)| find(&after, owner).is_none());
        for (owner, _) in after.iter().chain(gone) {
            let old = find(&before, owner).map(|at| before[at].1);
            let new = find(&after, owner).map(|at| after[at].1);
            state_value::compare(old, new, &mut Vec::new(), &mut |path, parts| {
                let [before, after] = parts.map(|part| part.map(state_value::json));
                let owner = owner.clone();
                changes.push(Changed { owner, path: path.to_vec(), before, after });
            });
        }
        changes
    }

    fn answer(&self, at: u64) -> Answer {
        Answer { seq: at, processes: self.processes.iter().map(ProcessPicture::answer).collect() }
    }

    fn text(&self, at: u64, all: bool) -> String {
        let mut text = format!("after command {at}\n");
        for process in &self.processes {
            process.write_text(&mut text, all);
        }
        text
    }
}

fn process(follower: &Follower, (index, process): (u32, &Process)) -> ProcessPicture {
    let mut groups: Vec<Arc<Group>> = Vec::new();
    let mut contexts = Vec::new();
    let mut threads = Vec::new();
    let mut show = |context: &Context, thread: Option<u32>| {
        let group = groups.iter().position(|known| Arc::ptr_eq(known, &context.group));
        let group = group.unwrap_or_else(|| {
            groups.push(context.group.clone());
            groups.len() - 1
        });
        let Context { handle, version, .. } = *context;
        contexts.push(ContextPicture { handle, thread, version, group, state: context.describe() });
    };
    for (thread, state) in follower.threads().filter(|(_, thread)| is_of(thread, process)) {
        let context = state.context.as_deref();
        if let Some(context) = context {
            show(context, Some(thread));
        }
        let context = context.map(|context| context.handle);
        threads.push(ThreadPicture { index: thread, context, state: state.describe() });
    }
    process.contexts().idle().for_each(|context| show(context, None));
    contexts.sort_by_key(|context| context.handle);
    let groups = groups.iter().map(|group| group.lock().describe()).enumerate().collect();
    ProcessPicture { index, state: process.lock().describe(), threads, contexts, groups }
}

fn is_of(thread: &Thread, process: &Process) -> bool {
    std::ptr::eq(thread.process.as_ref(), process)
}

impl ProcessPicture {
    /// The states with what they belong to, in the order of the output.
    fn states(&self) -> Vec<(Scope, String, &Value)> {
        let process = (Scope::Process, format!("process {}", self.index), &self.state);
        let threads = self.threads.iter();
        let threads = threads
            .map(|thread| (Scope::Thread, format!("thread {}", thread.index), &thread.state));
        let groups = self.groups.iter();
        let groups =
            groups.map(|(index, group)| (Scope::ShareGroup, format!("share group {index}"), group));
        let contexts = self.contexts.iter();
        let contexts = contexts.map(|context| {
            (Scope::Context, format!("context {:#x}", context.handle), &context.state)
        });
        std::iter::once(process).chain(threads).chain(groups).chain(contexts).collect()
    }

    fn states_mut(&mut self) -> impl Iterator<Item = (Scope, &mut Value)> {
        let threads = self.threads.iter_mut().map(|thread| (Scope::Thread, &mut thread.state));
        let groups = self.groups.iter_mut().map(|(_, group)| (Scope::ShareGroup, group));
        let contexts = self.contexts.iter_mut().map(|it| (Scope::Context, &mut it.state));
        let process = std::iter::once((Scope::Process, &mut self.state));
        process.chain(threads).chain(groups).chain(contexts)
    }

    /// Keeps one context, its share group and the thread on which it is current.
    fn keep_context(&mut self, handle: u64) {
        self.contexts.retain(|context| context.handle == handle);
        let contexts = &self.contexts;
        self.groups.retain(|(index, _)| contexts.iter().any(|context| context.group == *index));
        self.threads
            .retain(|thread| contexts.iter().any(|context| context.thread == Some(thread.index)));
    }

    fn answer(&self) -> ProcessAnswer {
        let threads = self.threads.iter().map(|thread| ThreadAnswer {
            thread: thread.index,
            context: thread.context,
            state: state_value::json(&thread.state),
        });
        let contexts = self.contexts.iter().map(|context| ContextAnswer {
            context: context.handle,
            thread: context.thread,
            version: format!("{}.{}", context.version.0, context.version.1),
            share_group: context.group,
            state: state_value::json(&context.state),
        });
        ProcessAnswer {
            process: self.index,
            state: state_value::json(&self.state),
            threads: threads.collect(),
            contexts: contexts.collect(),
            share_groups: self
                .groups
                .iter()
                .map(|(index, group)| GroupAnswer {
                    share_group: *index,
                    state: state_value::json(group),
                })
                .collect(),
        }
    }

    /// Writes what has a section left.
    fn write_text(&self, text: &mut String, all: bool) {
        let fresh = Fresh::new();
        *text += &format!("process {}\n", self.index);
        let mut write = |scope, state: &Value, title: String| {
            if state_value::parts(state).next().is_none() {
                return;
            }
            let before = (!all).then(|| fresh.of(scope));
            *text += &title;
            let depth = if scope == Scope::Process { 1 } else { 2 };
            state_value::write_tree(state, before, depth, text);
        };
        write(Scope::Process, &self.state, String::new());
        for thread in &self.threads {
            write(Scope::Thread, &thread.state, format!("  thread {}\n", thread.index));
        }
        for (index, group) in &self.groups {
            write(Scope::ShareGroup, group, format!("  share group {index}\n"));
        }
        for context in &self.contexts {
            let ContextPicture { handle, version: (major, minor), group, .. } = context;
            let current = match context.thread {
                Some(thread) => format!("current in thread {thread}"),
                None => "not current".to_owned(),
            };
            let title = format!(
                "  context {handle:#x}: ES {major}.{minor}, share group {group}, {current}\n"
            );
            write(Scope::Context, &context.state, title);
        }
    }
}

/// The initial state, before the first command.
struct Fresh {
    process: Value,
    thread: Value,
    group: Value,
    context: Value,
}

impl Fresh {
    fn new() -> Fresh {
        let process = Arc::<Process>::default();
        let group = Arc::<Group>::default();
        let context = Context::new(0, group.clone(), (0, 0));
        Fresh {
            process: process.lock().describe(),
            thread: Thread::new(process.clone(), 0).describe(),
            group: group.lock().describe(),
            context: context.describe(),
        }
    }

    fn of(&self, scope: Scope) -> &Value {
        match scope {
            Scope::Process => &self.process,
            Scope::Thread => &self.thread,
            Scope::ShareGroup => &self.group,
            Scope::Context => &self.context,
        }
    }
}
