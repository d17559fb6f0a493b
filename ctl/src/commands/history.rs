//! `history`: lists what was done to an object: the commands that made it, filled it, drew with it or to it, changed it, read
//! it, named it and deleted it. All objects that had the name are listed; with `--at` the one that has it after that command.
//! The whole trace is read. A filtered trace is refused with status 1, and so is a name that no object of the trace has.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::str::FromStr;

use clap::Args;
use gapii_analysis::history::{
    Act, Event, Historian, History as Found, Life, UniformSetter, Wanted,
};
use gapii_follow::value::Kind;
use gapii_trace::Info;
use indicatif::HumanCount;

use crate::args::{Json, Trace, one_or_more};
use crate::failure::Failure;
use crate::reading_progress::ReadingProgress;
use crate::state_choice;
use crate::table::aligned;
use crate::text;
use crate::trace_file::{self, Reader, unreadable};

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl history x.gapii texture:5              what was done to the textures with the name 5
  gapii-ctl history x.gapii texture:5 --at 4711    to the one that has this name after command 4711
  gapii-ctl history x.gapii program:1 --at 4711    also: which commands have set its uniforms";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct History {
    #[command(flatten)]
    trace: Trace,

    /// Kind and name of the object, such as texture:5
    #[arg(value_name = "KIND:NAME", long_help = state_choice::help(
        "Kind and name of the object, such as texture:5; a handle may be hexadecimal"
    ))]
    object: Named,

    /// Only the object that has the name after this command, by its number in `dump`, or the last one that had it before
    ///
    /// If several contexts have such an object, that of the command is meant.
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,

    /// Only the object of this context, or of its share group, by its handle in `dump`, as it is after --at
    #[arg(long, value_name = "HANDLE", value_parser = state_choice::number, requires = "at")]
    context: Option<u64>,

    /// Only objects of this process, by its index in `info`
    #[arg(long, value_name = "N")]
    process: Option<u32>,

    /// Most events of each sort that are listed of an object, the first ones
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = one_or_more::<u64>)]
    most: u64,

    #[command(flatten)]
    json: Json,
}

/// A kind of object, and a name.
#[derive(Clone, Copy, Debug)]
struct Named {
    kind: Kind,
    name: u64,
}

impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Named, String> {
        let Some((kind, name)) = text.split_once(':') else {
            return Err("an object is KIND:NAME, such as texture:5".to_owned());
        };
        let kind = state_choice::kind(kind)?;
        match kind.is_noted {
            true => Ok(Named { kind, name: state_choice::number(name)? }),
            false => {
                Err(format!("objects of the kind {} have no history", kind.name.to_lowercase()))
            }
        }
    }
}

pub fn run(args: &History) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    trace_file::judge_filter(path, &reader, "does not hold all of the program's state")?;
    let Named { kind, name } = args.object;
    let History { at, process, context, most, .. } = *args;
    let wanted = Wanted { kind, name, at, process, context, most };
    let found = find(path, &mut reader, wanted)?;
    if found.objects.is_empty() {
        let (path, kind) = (path.display(), kind.name.to_lowercase());
        let at = args.at.map_or_else(String::new, |at| format!(" --at {at}"));
        return Err(Failure::no(format!(
            "no {kind} of the trace has the name {name}; `gapii-ctl state {path}{at} --object {kind}` lists all"
        )));
    }
    match args.json.json {
        true => text::print_json(&found)?,
        false => text::print(|out| write!(out, "{}", describe(&found)))?,
    }
    trace_file::judge_tail(path, reader.tail())?;
    Ok(0)
}

fn find(path: &Path, reader: &mut Reader, wanted: Wanted) -> Result<Found, Failure> {
    let info = Info::of(reader).map_err(|error| unreadable(path, &error))?;
    let mut historian = Historian::new(wanted);
    let mut commands = reader.commands().map_err(|error| unreadable(path, &error))?;
    let mut progress = ReadingProgress::start(info.calls);
    let mut read = || -> io::Result<()> {
        while let Some(command) = commands.next_command()? {
            historian.look(&command);
            progress.step();
        }
        Ok(())
    };
    let looked = read();
    progress.clear();
    looked.map_err(|error| unreadable(path, &error))?;
    Ok(historian.finish())
}

fn describe(found: &Found) -> String {
    let kind = found.kind.to_lowercase();
    let mut text = String::new();
    // Writing to a string can't fail.
    if found.objects_left_out > 0 {
        let count = HumanCount(found.objects_left_out);
        let _ = writeln!(text, "{count} more objects had this name; `--at SEQ` chooses one\n");
    }
    for (at, life) in found.objects.iter().enumerate() {
        let gap = if at > 0 { "\n" } else { "" };
        let _ = writeln!(text, "{gap}{kind} {}{}", found.name, life_of(life));
        let head = ["SEQ", "FRAME", "TID", "ACT", "FUNCTION"].map(str::to_owned);
        text.push_str(&aligned(std::iter::once(head).chain(life.events.iter().map(row))));
        text.push_str(&more(life));
        text.push_str(&uniforms(life));
    }
    text
}

fn life_of(life: &Life) -> String {
    let context = life.context.map(|context| format!(" in context {context:#x}"));
    let made = life.made.map(|seq| format!(", made by command {seq}"));
    let deleted = life.deleted.map(|seq| format!(", deleted by command {seq}"));
    [made, context, deleted].into_iter().flatten().collect()
}

fn row(event: &Event) -> [String; 5] {
    let setup = if event.is_setup { " (snapshot)" } else { "" };
    [
        event.seq.to_string(),
        event.frame.to_string(),
        event.tid.to_string(),
        word(event.act).to_owned(),
        format!("{}{setup}", event.function),
    ]
}

/// What the list lacks.
fn more(life: &Life) -> String {
    let listed = |act| life.events.iter().filter(|event| event.act == act).count() as u64;
    let left_out = life.counts.iter().filter_map(|(act, count)| {
        let left_out = count.saturating_sub(listed(*act));
        (left_out > 0).then(|| format!("{} more: {}\n", HumanCount(left_out), word(*act)))
    });
    left_out.collect()
}

/// The commands that set a program's uniforms.
fn uniforms(life: &Life) -> String {
    if life.uniforms.is_empty() {
        return String::new();
    }
    let head = ["UNIFORM", "SET BY", "FRAME", "FUNCTION"].map(str::to_owned);
    let rows = life.uniforms.iter().map(|it| {
        let UniformSetter { location, seq, frame, function } = it;
        [location.to_string(), seq.to_string(), frame.to_string(), function.to_string()]
    });
    format!("\n{}", aligned(std::iter::once(head).chain(rows)))
}

fn word(act: Act) -> &'static str {
    match act {
        Act::Makes => "makes it",
        Act::Deletes => "deletes it",
        Act::Fills => "fills it",
        Act::DrawsTo => "draws to it",
        Act::Changes => "changes it",
        Act::DrawsWith => "draws with it",
        Act::Reads => "reads it",
        Act::Names => "names it",
    }
}
