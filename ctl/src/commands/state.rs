//! `state`: shows the state that a program had set up after one of its commands, by default the last. The text form
//! shows only state that differs from its initial value; `--all` and the JSON form show all state. A filtered trace,
//! and a command number beyond the last, are refused with status 1.

use std::sync::Arc;

use clap::Args;
use gapii_follow::follow::Follower;
use gapii_follow::value::{Describe, Value};
use gapii_follow::{Context, Group, Process, Thread};
use gapii_trace::Info;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Json, Trace};
use crate::failure::Failure;
use crate::reading_progress::ReadingProgress;
use crate::state_value;
use crate::text;
use crate::trace_file::{self, unreadable};

#[derive(Args, Debug)]
pub struct State {
    #[command(flatten)]
    trace: Trace,

    /// Command after which the state is shown, by its number in `dump` [default: the last one]
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,

    /// Also show state that still has its initial value
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    json: Json,
}

pub fn run(args: &State) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    trace_file::judge_filter(path, &reader, "does not hold all of the program's state")?;
    let count = match args.at {
        Some(at) => at.saturating_add(1),
        None => Info::of(&mut reader).map_err(|error| unreadable(path, &error))?.calls,
    };
    let mut commands = reader.commands().map_err(|error| unreadable(path, &error))?;
    let mut progress = ReadingProgress::start(count);
    let mut follower = Follower::default();
    let mut at = None;
    while let Some(command) = commands.next_command().map_err(|error| unreadable(path, &error))? {
        follower.follow(&command);
        at = command.seq.max(at);
        progress.step();
        if args.at.is_some() && at >= args.at {
            break;
        }
    }
    progress.clear();
    let Some(at) = at else {
        return Err(Failure::no(format!("{} has no command", path.display())));
    };
    if let Some(wanted) = args.at.filter(|wanted| *wanted > at) {
        let name = path.display();
        return Err(Failure::no(format!("{name} has no command {wanted}; its last one is {at}")));
    }
    let picture = Picture::of(&follower);
    match args.json.json {
        true => text::print_json(&picture.answer(at))?,
        false => text::print(|out| write!(out, "{}", picture.text(at, args.all)))?,
    }
    if args.at.is_none() {
        trace_file::judge_tail(path, commands.tail())?;
    }
    Ok(0)
}

/// What `state` answers with `--json`. The parts of `state` have the names of the tracked state; a program must not
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
    /// Objects that contexts share, by the index of the share group.
    share_groups: Vec<serde_json::Value>,
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
    groups: Vec<Value>,
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

    fn answer(&self, at: u64) -> Answer {
        Answer { seq: at, processes: self.processes.iter().map(ProcessPicture::answer).collect() }
    }

    fn text(&self, at: u64, all: bool) -> String {
        let mut text = format!("behind command {at}\n");
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
    let groups = groups.iter().map(|group| group.lock().describe()).collect();
    ProcessPicture { index, state: process.lock().describe(), threads, contexts, groups }
}

fn is_of(thread: &Thread, process: &Process) -> bool {
    std::ptr::eq(thread.process.as_ref(), process)
}

impl ProcessPicture {
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
            share_groups: self.groups.iter().map(state_value::json).collect(),
        }
    }

    fn write_text(&self, text: &mut String, all: bool) {
        let fresh = Fresh::new();
        let before = |fresh: &Value| if all { Value::None } else { fresh.clone() };
        *text += &format!("process {}\n", self.index);
        state_value::write_tree(&self.state, &before(&fresh.process), 1, text);
        for thread in &self.threads {
            *text += &format!("  thread {}\n", thread.index);
            state_value::write_tree(&thread.state, &before(&fresh.thread), 2, text);
        }
        for (index, group) in self.groups.iter().enumerate() {
            *text += &format!("  share group {index}\n");
            state_value::write_tree(group, &before(&fresh.group), 2, text);
        }
        for context in &self.contexts {
            let ContextPicture { handle, version: (major, minor), group, .. } = context;
            let current = match context.thread {
                Some(thread) => format!("current in thread {thread}"),
                None => "not current".to_owned(),
            };
            *text += &format!(
                "  context {handle:#x}: ES {major}.{minor}, share group {group}, {current}\n"
            );
            state_value::write_tree(&context.state, &before(&fresh.context), 2, text);
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
}
