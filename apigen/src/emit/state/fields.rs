//! `fields.rs`: what is kept, as structs.

use super::types::{docs, field, initial, is_copy, rust, table};
use crate::lang::typed::{Enum, Field, Object, Program, Scope};

const TOOLS: &str = "#[cfg(feature = \"tools\")]\n";

pub const PRELUDE: &str = "\
// Defaults are written out, whether or not they could be derived.
#![allow(unused_imports, unused_parens, clippy::all)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::group::Group;
use crate::process::Process;
use crate::{Extensions, Few, NameCache, Objects, Ref, number};
";

pub fn emit(program: &Program) -> Vec<String> {
    let mut items = vec![context(program), caches(program), group(program)];
    items.extend([process(program), thread(program)]);
    items.extend(program.objects.iter().map(|found| object(program, found)));
    items.extend(program.structs.iter().map(|found| {
        let cfg = if found.tracked { "" } else { TOOLS };
        value(program, &found.name, &found.docs, &found.fields, cfg, "Value.")
    }));
    items.extend(program.enums.iter().map(choice));
    items
}

/// A struct with its beginning, of parts that are in all of them and of declared fields.
struct Shell<'a> {
    docs: &'a str,
    name: &'a str,
    derive: &'a str,
    /// Documentation, name and type.
    own: &'a [(&'a str, &'a str, &'a str)],
    /// Documentation and parameters of `new`, and what the own fields begin with.
    new: (&'a str, &'a str, &'a [&'a str]),
}

fn shell(program: &Program, scope: Scope, shell: &Shell<'_>) -> String {
    let own = shell.own.iter().map(|(docs, name, ty)| format!("/// {docs}\npub {name}: {ty},\n"));
    let own: String = own.collect();
    let fields = declared(program, &program[scope].fields);
    let objects = program.objects.iter().filter(|object| object.scope == scope);
    let tables: String = objects
        .clone()
        .map(|object| {
            let cfg = if object.tracked { "" } else { TOOLS };
            let (table, name) = (table(object), &object.name);
            format!("/// Every [`{name}`].\n{cfg}pub {table}: Objects<{name}>,\n")
        })
        .collect();
    let begins = beginnings(program, &program[scope].fields);
    let makes: String = objects
        .map(|object| {
            let cfg = if object.tracked { "" } else { TOOLS };
            let make = match scope {
                Scope::ShareGroup => "Objects::shared(version)",
                _ => "Objects::default()",
            };
            format!("{cfg}{}: {make},\n", table(object))
        })
        .collect();
    let (new_docs, params, first) = shell.new;
    let first: String = first.iter().map(|first| format!("{first},\n")).collect();
    let (docs, name, derive) = (shell.docs, shell.name, shell.derive);
    format!(
        "/// {docs}\n{derive}pub struct {name} {{\n{own}{fields}{tables}}}\n\n\
         impl {name} {{\n/// {new_docs}\npub fn new({params}) -> Self {{\n\
         Self {{\n{first}{begins}{makes}}}\n}}\n}}\n"
    )
}

fn context(program: &Program) -> String {
    let of_context = Shell {
        docs: "What a context has set up.",
        name: "Context",
        derive: "#[derive(Debug)]\n",
        own: &[
            ("The program's `EGLContext`.", "handle", "u64"),
            ("What it shares with other contexts.", "group", "Arc<Group>"),
            ("Client version: major, minor.", "version", "(u8, u8)"),
            ("Those that descriptions ask about.", "extensions", "Extensions"),
            ("Names of the group that this context used last.", "caches", "Caches"),
            (
                "The last capture whose stream has what it has for itself; 0 for none.",
                "described",
                "u64",
            ),
        ],
        new: (
            "A context as it is when it is made.",
            "handle: u64, group: Arc<Group>, version: (u8, u8)",
            &[
                "handle",
                "group",
                "version",
                "extensions: Extensions::default()",
                "caches: Caches::default()",
                "described: 0",
            ],
        ),
    };
    shell(program, Scope::Context, &of_context)
}

fn group(program: &Program) -> String {
    let of_group = Shell {
        docs: "What the contexts of a share group have set up together.",
        name: "GroupState",
        derive: "#[derive(Debug)]\n",
        own: &[],
        new: ("A group whose names raise `version`.", "version: &Arc<AtomicU64>", &[]),
    };
    shell(program, Scope::ShareGroup, &of_group)
}

fn process(program: &Program) -> String {
    let of_process = Shell {
        docs: "What the threads of a process have set up together.",
        name: "ProcessState",
        derive: "#[derive(Debug)]\n",
        own: &[],
        new: ("A process as it begins.", "", &[]),
    };
    shell(program, Scope::Process, &of_process)
        + "\nimpl Default for ProcessState {\nfn default() -> Self {\nSelf::new()\n}\n}\n"
}

fn thread(program: &Program) -> String {
    let of_thread = Shell {
        docs: "What a thread has set up.",
        name: "Thread",
        derive: "#[derive(Debug)]\n",
        own: &[
            ("What it shares with all others.", "process", "Arc<Process>"),
            ("The context that is current.", "context", "Option<Box<Context>>"),
            ("Tells threads of the process apart.", "id", "u64"),
        ],
        new: (
            "A thread as it begins.",
            "process: Arc<Process>, id: u64",
            &["process", "context: None", "id"],
        ),
    };
    shell(program, Scope::Thread, &of_thread)
}

/// A cache for each kind of object that contexts share.
fn caches(program: &Program) -> String {
    let shared = program.objects.iter().filter(|object| object.scope == Scope::ShareGroup);
    let fields: String = shared
        .map(|object| {
            let cfg = if object.tracked { "" } else { TOOLS };
            format!("{cfg}pub {}: NameCache<{}>,\n", table(object), object.name)
        })
        .collect();
    format!(
        "/// Names of the share group that a context used last, by kind.\n\
         #[derive(Default, Debug)]\npub struct Caches {{\n{fields}}}\n"
    )
}

fn object(program: &Program, object: &Object) -> String {
    let cfg = if object.tracked { "" } else { TOOLS };
    value(program, &object.name, &object.docs, &object.fields, cfg, "An object.")
}

/// A struct of declared fields alone.
fn value(
    program: &Program,
    name: &str,
    lines: &[String],
    fields: &[Field],
    cfg: &str,
    otherwise: &str,
) -> String {
    let about = match lines.is_empty() {
        true => format!("/// {otherwise}\n"),
        false => docs(lines),
    };
    let copy = fields.iter().all(|field| is_copy(program, &field.ty));
    let copy = if copy { "Copy, " } else { "" };
    let declared = declared(program, fields);
    let begins = beginnings(program, fields);
    format!(
        "{about}{cfg}#[derive(Clone, {copy}PartialEq, Debug)]\npub struct {name} {{\n{declared}}}\n\n\
         {cfg}impl Default for {name} {{\nfn default() -> Self {{\nSelf {{\n{begins}}}\n}}\n}}\n"
    )
}

fn declared(program: &Program, fields: &[Field]) -> String {
    fields
        .iter()
        .map(|found| {
            let cfg = if found.tracked { "" } else { TOOLS };
            let (name, ty) = (field(&found.name), rust(program, &found.ty));
            format!("{}{cfg}pub {name}: {ty},\n", docs(&found.docs))
        })
        .collect()
}

fn beginnings(program: &Program, fields: &[Field]) -> String {
    fields
        .iter()
        .map(|found| {
            let cfg = if found.tracked { "" } else { TOOLS };
            format!("{cfg}{}: {},\n", field(&found.name), initial(program, found))
        })
        .collect()
}

fn choice(choice: &Enum) -> String {
    let about = match choice.docs.is_empty() {
        true => "/// One of these.\n".to_owned(),
        false => docs(&choice.docs),
    };
    let mut variants = String::new();
    for (at, variant) in choice.variants.iter().enumerate() {
        variants += if at == 0 { "#[default]\n" } else { "" };
        variants += &format!("{},\n", field(variant));
    }
    format!(
        "{about}#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]\n\
         pub enum {} {{\n{variants}}}\n",
        choice.name
    )
}
