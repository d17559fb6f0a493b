//! Playing OpenGL commands again: a function for each, and their table; and how answers are compared. A `play` item
//! names a command's player; else `@replay(outside)` gives `gl::outside`, `@replay(by_hand)` the function of the
//! describing command's name, and the others a generated function.
//!
//! A line of `play!` (`replay/src/gl/play.rs`) has a command's id, its parameters with their types and values, and
//! the statements before and after the driver's call. It uses the functions of `replay/src/call.rs` and
//! `replay/src/gl`. Hand-written functions play all other commands.

mod answers;
mod arguments;
mod facts;
mod needs;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::quote;

use super::output::file;
use crate::ctype::Repr;
use crate::lang::typed::{self, Program, Replay};
use crate::model::{Function, Model, Value};
use crate::origin::Origin;
use crate::parts::Does;

use arguments::Arguments;

/// The modules of functions, by the origin of their commands.
const MODULES: [(Origin, &str); 7] = [
    (Origin::Es1, "gl_es1"),
    (Origin::Es2, "gl_es2"),
    (Origin::Es3, "gl_es3"),
    (Origin::Desktop, "gl_desktop"),
    (Origin::SharedExtension, "gl_shared_extensions"),
    (Origin::VendorExtension, "gl_vendor_extensions"),
    (Origin::DesktopExtension, "gl_desktop_extensions"),
];

const PRELUDE: &str = "\
// A driver's function has the signature that the registry gives its name, and gets pointers into
// memory of the player alone.
#![allow(
    clippy::multiple_unsafe_ops_per_block,
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks,
    non_snake_case
)]
";

/// The files of `replay/src/generated`, unformatted.
pub fn emit(model: &Model, program: &Program) -> BTreeMap<&'static str, String> {
    let commands: Vec<_> = model.functions.iter().zip(&program.commands).collect();
    let mut files = BTreeMap::from([
        ("answers.rs", answers::emit(model, program)),
        ("facts.rs", facts::emit(model, program)),
        ("table.rs", table(&commands, program)),
        ("requirements.rs", requirements(&commands)),
    ]);
    for (origin, module) in MODULES {
        let here = commands.iter().filter(|(function, _)| function.origin == origin);
        let plays = here.filter_map(|(function, command)| play(function, command, program));
        let plays: Vec<String> = plays.collect();
        let body = plays.concat();
        let imports = [
            ("use core::ffi::c_char;\n", "c_char"),
            ("use core::ffi::c_void;\n", "c_void"),
            ("\nuse crate::gl::Need;\n", "Need::"),
            ("\nuse crate::gl::array_pointer;\n", "array_pointer"),
            ("use crate::gl::play;\n", ""),
            ("use crate::gl::set_client_arrays;\n", "set_client_arrays"),
            ("use crate::names::Kind;\n", "Kind::"),
        ];
        let imports = imports.iter().filter(|(_, word)| body.contains(word));
        let imports: String = imports.map(|(import, _)| *import).collect();
        let plays = format!("play! {{\n    call;\n{body}}}\n");
        files.insert(name_of(module), file(&format!("{PRELUDE}\n{imports}"), &[plays]));
    }
    files
}

fn name_of(module: &str) -> &'static str {
    match module {
        "gl_es1" => "gl_es1.rs",
        "gl_es2" => "gl_es2.rs",
        "gl_es3" => "gl_es3.rs",
        "gl_desktop" => "gl_desktop.rs",
        "gl_desktop_extensions" => "gl_desktop_extensions.rs",
        "gl_shared_extensions" => "gl_shared_extensions.rs",
        _ => "gl_vendor_extensions.rs",
    }
}

/// The function that plays each command, for all commands that have one.
fn table(commands: &[(&Function, &typed::Command)], program: &Program) -> String {
    let entries = commands.iter().filter_map(|(function, command)| {
        let ends_frame = command.frame.is_some() || Does::of(&command.leave).ends_frame;
        let swap = if ends_frame { "(swap)" } else { "" };
        let constant = &function.constant;
        if let Some(path) = program.players.get(&function.name) {
            let (api, path) = (&command.api, path.join("::"));
            return Some(format!("    {constant}{swap} {api}::{path};\n"));
        }
        let (_, module) = MODULES.iter().find(|(origin, _)| *origin == function.origin)?;
        let play = match command.replay {
            Replay::Outside => "gl::outside".to_owned(),
            Replay::ByHand => {
                format!("gl::{}", command.described_by.as_deref().unwrap_or(&command.name))
            }
            Replay::Generated => format!("{module}::{}", function.name),
        };
        Some(format!("    {constant}{swap} {play};\n"))
    });
    let entries: Vec<String> = entries.collect();
    let modules: Vec<&str> = MODULES.iter().map(|(_, module)| *module).collect();
    let played = commands.iter().filter(|(function, command)| {
        function.api.is_played() || program.players.contains_key(&command.name)
    });
    let apis: BTreeSet<&str> = played
        .map(|(function, command)| if function.api.is_played() { "gl" } else { &command.api })
        .collect();
    let apis: String = apis.iter().map(|api| format!("use crate::{api};\n")).collect();
    let prelude = format!("use super::{{{}}};\n{apis}", modules.join(", "));
    let table = format!(
        "crate::call::entries! {{\n    {}, sorted by id.\n    COMMANDS {};\n{}}}\n",
        "/// The functions that play commands",
        entries.len(),
        entries.concat()
    );
    file(&prelude, &[table])
}

/// The table of versions and extensions that a context needs for each played command beyond OpenGL ES 2.0 and
/// OpenGL 2.1.
fn requirements(commands: &[(&Function, &typed::Command)]) -> String {
    let played = commands.iter().filter(|(function, command)| {
        function.api.is_played() && command.replay != Replay::Outside
    });
    let entries = played.filter_map(|(function, _)| {
        let Function { constant, version, desktop_version, extensions, origin, .. } = function;
        let is_old = version.is_some_and(|version| version <= (2, 0)) || *origin == Origin::Es1;
        let is_old_desktop = desktop_version.is_some_and(|version| version <= (2, 1));
        let is_of_every_context = match (version, desktop_version) {
            (None, Some(_)) if *origin == Origin::Desktop => is_old_desktop,
            (_, Some(_)) => is_old && is_old_desktop,
            (_, None) => is_old,
        };
        let has_any = version.or(*desktop_version).is_some() || !extensions.is_empty();
        let spelled = |version: &Option<(u8, u8)>| match version {
            Some((major, minor)) => format!("({major}, {minor})"),
            None => "-".to_owned(),
        };
        (has_any && !is_of_every_context).then(|| {
            let (version, desktop) = (spelled(version), spelled(desktop_version));
            format!("    {constant} {version} {desktop} {extensions:?};\n")
        })
    });
    let entries: Vec<String> = entries.collect();
    let table = format!(
        "requirements! {{\n    {}\n    REQUIREMENTS {};\n{}}}\n",
        "/// Commands that need a version of OpenGL ES beyond 2.0, of OpenGL beyond 2.1, or an extension, sorted by id.",
        entries.len(),
        entries.concat()
    );
    file("use crate::survey::requirements;", &[table])
}

/// The function that plays a command; `None` if it is not generated.
fn play(function: &Function, command: &typed::Command, program: &Program) -> Option<String> {
    if command.replay != Replay::Generated || !function.api.is_played() {
        return None;
    }
    let (name, id) = (&function.name, &function.constant);
    let arguments = Arguments::new(function, command, program);
    let before = match command.draws {
        true => " before { set_client_arrays(call)?; }",
        false => "",
    };
    let made = command.result.class.as_deref().and_then(arguments::kind).map(|kind| {
        let bits = function.result.as_ref().map(bits);
        quote!(call.made_result(#kind, #bits);)
    });
    let afterwards = arguments.afterwards();
    let after = match quote!(#afterwards #made) {
        notes if notes.is_empty() => String::new(),
        notes => format!(" after {{ {} }}", compact(&notes)),
    };
    let result = match &function.result {
        Some(result) => {
            format!(" -> result: {} = {}", compact(&result.rust), compact(&bits(result)))
        }
        None => String::new(),
    };
    let arguments: Vec<String> = arguments.ready().iter().map(compact).collect();
    let end = format!("){before}{after}{result};");
    Some(filled(&format!("{name} = {id}("), &arguments, &end))
}

/// Longest line of a command.
const LINE_MAX: usize = 100;

/// A command's invocation, filled into lines of at most [`LINE_MAX`] bytes.
fn filled(begin: &str, arguments: &[String], end: &str) -> String {
    let mut text = String::new();
    let mut line = format!("    {begin}");
    for (at, argument) in arguments.iter().enumerate() {
        let comma = if at + 1 < arguments.len() { "," } else { "" };
        let space = if at == 0 || line.trim().is_empty() { "" } else { " " };
        if line.len() + space.len() + argument.len() + comma.len() > LINE_MAX {
            text += &format!("{}\n", line.trim_end());
            line = format!("        {argument}{comma}");
        } else {
            line += &format!("{space}{argument}{comma}");
        }
    }
    if line.len() + end.len() > LINE_MAX && end.len() > LINE_MAX / 3 {
        text += &format!("{line}\n");
        line = "    ".to_owned();
    }
    text + &format!("{line}{end}\n")
}

/// `tokens` as text with the usual spacing. rustfmt does not format the arguments of a macro with its own syntax.
fn compact(tokens: &TokenStream) -> String {
    let mut text = tokens.to_string();
    for (spaced, written) in [
        (" . ", "."),
        (" :: ", "::"),
        (" , ", ", "),
        (" : ", ": "),
        (" ?", "?"),
        (" ;", ";"),
        ("* const", "*const"),
    ] {
        text = text.replace(spaced, written);
    }
    text = text.replace("* mut", "*mut").replace("( ", "(").replace(" )", ")");
    let mut out = String::new();
    for c in text.chars() {
        let begins_call = c == '(' && out.ends_with(' ');
        let word = out.trim_end().rsplit(|c: char| !c.is_alphanumeric() && c != '_').next();
        if begins_call && word.is_some_and(|word| !word.is_empty() && word != "as") {
            out.pop();
        }
        out.push(c);
    }
    out
}

/// A result as records hold it: signed types are sign-extended.
fn bits(result: &Value) -> TokenStream {
    match result.ty.repr {
        Repr::U64 => quote!(result),
        Repr::U8 | Repr::U16 | Repr::U32 => quote!(u64::from(result)),
        Repr::F32 => quote!(u64::from(result.to_bits())),
        Repr::F64 => quote!(result.to_bits()),
        Repr::I8 | Repr::I16 | Repr::I32 => quote!(i64::from(result) as u64),
        Repr::Void | Repr::I64 | Repr::Pointer => quote!(result as u64),
    }
}
