//! Playing OpenGL ES commands again: a function for each, and their table.
//!
//! A function has the arguments made ready, calls the driver and says what it gave. The words of it
//! are those of `replay/src/call.rs` and `replay/src/gl`; what does not go this way is played by hand.

mod arguments;
mod needs;

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::quote;

use super::output::{file, ident};
use crate::ctype::Repr;
use crate::lang::typed::{self, Program, Replay};
use crate::model::{Api, Function, Model, Value};
use crate::registry::Origin;

use arguments::Arguments;

/// The modules of functions, and what they have.
const MODULES: [(Origin, &str); 5] = [
    (Origin::Es1, "gl_es1"),
    (Origin::Es2, "gl_es2"),
    (Origin::Es3, "gl_es3"),
    (Origin::SharedExtension, "gl_shared_extensions"),
    (Origin::VendorExtension, "gl_vendor_extensions"),
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
        ("table.rs", table(&commands)),
        ("requirements.rs", requirements(&commands)),
    ]);
    for (origin, module) in MODULES {
        let here = commands.iter().filter(|(function, _)| function.origin == origin);
        let plays = here.filter_map(|(function, command)| play(function, command, program));
        let plays: Vec<String> = plays.collect();
        let body = plays.join("\n");
        let imports = [
            ("use core::ffi::c_char;\n", "c_char"),
            ("use core::ffi::c_void;\n", "c_void"),
            ("use gapii_commands::ids;\n\n", "ids ::"),
            ("use crate::gl::array_pointer;\n", "array_pointer"),
            ("use crate::gl::set_client_arrays;\n", "set_client_arrays"),
            ("use crate::call::Call;\n", ""),
            ("use crate::names::Kind;\n", "Kind ::"),
            ("use crate::skip::Outcome;\n", ""),
        ];
        let imports = imports.iter().filter(|(_, word)| body.contains(word));
        let imports: String = imports.map(|(import, _)| *import).collect();
        files.insert(name_of(module), file(&format!("{PRELUDE}\n{imports}"), &plays));
    }
    files
}

fn name_of(module: &str) -> &'static str {
    match module {
        "gl_es1" => "gl_es1.rs",
        "gl_es2" => "gl_es2.rs",
        "gl_es3" => "gl_es3.rs",
        "gl_shared_extensions" => "gl_shared_extensions.rs",
        _ => "gl_vendor_extensions.rs",
    }
}

/// Who plays each command of OpenGL ES.
fn table(commands: &[(&Function, &typed::Command)]) -> String {
    let entries = commands.iter().filter_map(|(function, command)| {
        let (_, module) = MODULES.iter().find(|(origin, _)| *origin == function.origin)?;
        let play = match command.replay {
            Replay::Outside => "gl::outside".to_owned(),
            Replay::ByHand => {
                format!("gl::{}", command.described_by.as_deref().unwrap_or(&command.name))
            }
            Replay::Generated => format!("{module}::{}", function.name),
        };
        Some(format!("Entry {{ name: \"{}\", play: {play}, is_swap: false }},", function.name))
    });
    let entries: Vec<String> = entries.collect();
    let modules: Vec<&str> = MODULES.iter().map(|(_, module)| *module).collect();
    let prelude =
        format!("use super::{{{}}};\nuse crate::call::Entry;\nuse crate::gl;", modules.join(", "));
    let table = format!(
        "/// How commands of OpenGL ES are played, sorted by name.\n\
         pub static COMMANDS: [Entry; {}] = [{}];",
        entries.len(),
        entries.join("\n")
    );
    file(&prelude, &[table])
}

/// What a context must have for a command that is played, where not every context has it.
fn requirements(commands: &[(&Function, &typed::Command)]) -> String {
    let played = commands.iter().filter(|(function, command)| {
        function.api == Api::Gles && command.replay != Replay::Outside
    });
    let entries = played.filter_map(|(function, _)| {
        let version = match function.version {
            Some((major, minor)) if (major, minor) > (2, 0) => format!("Some(({major}, {minor}))"),
            None if !function.extensions.is_empty() && function.origin != Origin::Es1 => {
                "None".to_owned()
            }
            _ => return None,
        };
        let (name, extensions) = (&function.name, &function.extensions);
        Some(format!(
            "Requirement {{ name: {name:?}, version: {version}, extensions: &{extensions:?} }},"
        ))
    });
    let entries: Vec<String> = entries.collect();
    let table = format!(
        "/// Commands that need a version of OpenGL ES beyond 2.0 or an extension, sorted by name.\n\
         pub static REQUIREMENTS: [Requirement; {}] = [{}];",
        entries.len(),
        entries.join("\n")
    );
    file("use crate::survey::Requirement;", &[table])
}

/// The function that plays a command; `None` if it is not generated.
fn play(function: &Function, command: &typed::Command, program: &Program) -> Option<String> {
    if command.replay != Replay::Generated || function.api != Api::Gles {
        return None;
    }
    let (name, id) = (ident(&function.name), ident(&function.constant));
    let arguments = Arguments::new(function, command, program);
    let (ready, afterwards) = (arguments.ready(), arguments.afterwards());
    let types = function.params.iter().map(|param| &param.value.rust);
    let result_type = super::handlers::result_type(function);
    let passed = function.params.iter().map(|param| ident(&param.ident));
    let set_arrays = command.draws.then(|| quote!(set_client_arrays(call)?;));
    let keep = function.result.as_ref().map(|_| quote!(let result =));
    let made = command.result.class.as_deref().and_then(arguments::kind).map(|kind| {
        let bits = function.result.as_ref().map(bits);
        quote!(call.made_result(#kind, #bits);)
    });
    let returned = match &function.result {
        Some(result) => {
            let bits = bits(result);
            quote!(Some(#bits))
        }
        None => quote!(None),
    };
    let text = quote! {
        pub fn #name(call: &mut Call<'_, '_>) -> Outcome {
            #ready
            let driver: unsafe extern "C" fn(#(#types),*) #result_type =
                unsafe { call.driver(ids::#id) }?;
            #set_arrays
            #keep unsafe { driver(#(#passed),*) };
            #afterwards
            #made
            call.returned(#returned);
            Ok(())
        }
    };
    Some(text.to_string() + "\n")
}

/// A result as a record has it: sign-extended where it has a sign.
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
