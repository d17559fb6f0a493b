//! `fields.rs`: the structs of the state.

use super::expr::initial;
use super::types::{docs, field, is_copy, is_scoped, kept, rust, table};
use crate::lang::typed::{Enum, Field, Object, Program, Scope, Struct};

pub const PRELUDE: &str = "\
// Implementations of `Default` are always written out, even if they could be derived.
#![allow(unused_imports, unused_parens, clippy::all)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::{
    ContextApi, Extensions, Few, FormerAttachments, Group, NameCache, Objects, Process, Ref, Scope, Scoped, Shared, Tracked, Whole,
    number, state, stored_enum,
};
";

/// One macro call with all structs, and the enums.
pub fn emit(program: &Program) -> String {
    let mut structs = vec![context(program), caches(program), group(program)];
    structs.extend([process(program), thread(program)]);
    structs.extend(program.objects.iter().map(|found| object(program, found)));
    structs.extend(program.structs.iter().map(|found| value(program, found)));
    let enums: Vec<String> = program.enums.iter().map(choice).collect();
    format!(
        "state! {{\n{}}}\n\n\
         impl<S: Scope> Default for ProcessState<S> {{\nfn default() -> Self {{\nSelf::new()\n}}\n}}\n\n\
         impl<S: Scope> Shared for GroupState<S> {{\n\
         fn begin(version: &Arc<AtomicU64>) -> Self {{\nSelf::new(version)\n}}\n}}\n\n{}",
        structs.join(""),
        enums.join("\n")
    )
}

/// A struct with built-in fields, which exist for all APIs, and with the fields that descriptions declare.
struct Shell<'a> {
    docs: &'a str,
    name: &'a str,
    /// Documentation, name, type and initial value of each built-in field.
    own: &'a [(&'a str, &'a str, &'a str, &'a str)],
    /// Parameters of `new`.
    params: &'a str,
}

fn shell(program: &Program, scope: Scope, shell: &Shell<'_>) -> String {
    let own = shell.own.iter().map(|(docs, name, ty, first)| {
        format!("        /// {docs}\n        {name}: {ty} = {first},\n")
    });
    let own: String = own.collect();
    let fields = declared(program, &program[scope].fields);
    let objects = program.objects.iter().filter(|object| object.scope == scope);
    let tables: String = objects
        .map(|object| {
            let make = match scope {
                Scope::ShareGroup => "Objects::shared(version)",
                _ => "Objects::default()",
            };
            let ty = format!("Objects<{}>", state_of(object));
            line(&table(object), &ty, make, object.tracked)
        })
        .collect();
    let (docs, name, params) = (shell.docs, shell.name, shell.params);
    format!("    /// {docs}\n    scope {name}<S>({params}) {{\n{own}{fields}{tables}    }}\n")
}

/// A field with its initial value. An untracked field exists in whole state only.
fn line(name: &str, ty: &str, first: &str, tracked: bool) -> String {
    let (ty, first) = kept(ty, first, tracked);
    format!("        {name}: {ty} = {first},\n")
}

/// The type of an object's state.
fn state_of(object: &Object) -> String {
    let scope = if is_scoped(object) { "<S>" } else { "" };
    format!("{}{scope}", object.name)
}

fn context(program: &Program) -> String {
    let of_context = Shell {
        docs: "State of a context.",
        name: "Context",
        own: &[
            ("The program's `EGLContext`.", "handle", "u64", "handle"),
            ("The share group.", "group", "Arc<Group<S>>", "group"),
            ("Version of its API: major, minor.", "version", "(u8, u8)", "version"),
            ("The API that the version is one of.", "api", "ContextApi", "ContextApi::default()"),
            (
                "The extensions that descriptions test with `extension(…)`.",
                "extensions",
                "Extensions",
                "Extensions::default()",
            ),
            (
                "Names of the share group that this context used last.",
                "caches",
                "Caches<S>",
                "Caches::new()",
            ),
            (
                "The last capture whose stream describes the state of this context; 0 for none.",
                "described",
                "u64",
                "0",
            ),
            (
                "Attachments that framebuffers of the context had before.",
                "former_attachments",
                "FormerAttachments",
                "FormerAttachments::default()",
            ),
        ],
        params: "handle: u64, group: Arc<Group<S>>, version: (u8, u8)",
    };
    shell(program, Scope::Context, &of_context)
}

fn group(program: &Program) -> String {
    let of_group = Shell {
        docs: "State that the contexts of a share group have in common.",
        name: "GroupState",
        own: &[],
        params: "version: &Arc<AtomicU64>",
    };
    shell(program, Scope::ShareGroup, &of_group)
}

fn process(program: &Program) -> String {
    let of_process = Shell {
        docs: "State that the threads of a process have in common.",
        name: "ProcessState",
        own: &[],
        params: "",
    };
    shell(program, Scope::Process, &of_process)
}

fn thread(program: &Program) -> String {
    let of_thread = Shell {
        docs: "State of a thread.",
        name: "Thread",
        own: &[
            ("The process.", "process", "Arc<Process<S>>", "process"),
            ("The context that is current.", "context", "Option<Box<Context<S>>>", "None"),
            ("Distinguishes the threads of the process.", "id", "u64", "id"),
        ],
        params: "process: Arc<Process<S>>, id: u64",
    };
    shell(program, Scope::Thread, &of_thread)
}

/// The struct with a cache for each kind of object in share groups.
fn caches(program: &Program) -> String {
    let shared = program.objects.iter().filter(|object| object.scope == Scope::ShareGroup);
    let fields: String = shared
        .map(|object| {
            let ty = format!("NameCache<{}>", object.name);
            line(&table(object), &ty, "NameCache::default()", object.tracked)
        })
        .collect();
    format!(
        "    /// Names of the share group that a context used last, by kind.\n    \
         scope Caches<S>() {{\n{fields}    }}\n"
    )
}

fn object(program: &Program, object: &Object) -> String {
    // An untracked object exists in whole state only, with all its fields.
    let fields = match object.tracked {
        true => declared(program, &object.fields),
        false => kept_whole(program, &object.fields),
    };
    let (docs, state) = (about(&object.docs, "An object."), state_of(object));
    format!("{docs}    object {state} {{\n{fields}    }}\n")
}

fn value(program: &Program, found: &Struct) -> String {
    let docs = about(&found.docs, "A value.");
    let copy = found.fields.iter().all(|field| is_copy(program, &field.ty));
    let copy = if copy { "    #[derive(Copy)]\n" } else { "" };
    let fields = kept_whole(program, &found.fields);
    format!("{docs}{copy}    value {} {{\n{fields}    }}\n", found.name)
}

fn about(lines: &[String], otherwise: &str) -> String {
    if lines.is_empty() {
        return format!("    /// {otherwise}\n");
    }
    docs(lines).lines().map(|line| format!("    {line}\n")).collect()
}

fn declared(program: &Program, fields: &[Field]) -> String {
    fields.iter().map(|found| declaration(program, found, found.tracked)).collect()
}

/// The fields of a type that the shim keeps either completely or not at all.
fn kept_whole(program: &Program, fields: &[Field]) -> String {
    fields.iter().map(|found| declaration(program, found, true)).collect()
}

fn declaration(program: &Program, found: &Field, tracked: bool) -> String {
    let docs: String = docs(&found.docs).lines().map(|line| format!("        {line}\n")).collect();
    let first = initial(program, found);
    let (ty, first) = (rust(program, &found.ty), super::expr::bare(&first));
    docs + &line(&field(&found.name), &ty, first, tracked)
}

fn choice(choice: &Enum) -> String {
    let about = match choice.docs.is_empty() {
        true => format!("/// The variants of `{}`.\n", choice.name),
        false => docs(&choice.docs),
    };
    let mut variants = String::new();
    let mut names = Vec::new();
    for (at, variant) in choice.variants.iter().enumerate() {
        variants += if at == 0 { "#[default]\n" } else { "" };
        variants += &format!("{},\n", field(variant));
        names.push(field(variant));
    }
    format!(
        "{about}#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]\n\
         pub enum {name} {{\n{variants}}}\n\n\
         stored_enum! {{ {name} {{ {names} }} }}\n",
        name = choice.name,
        names = names.join(", "),
    )
}
