//! Expressions that translate a recorded command's arguments to those that the driver gets: names, handles, locations,
//! offsets, arrays in client memory, memory that the driver reads or writes. `role` decides which of these a parameter
//! is, by its class, the command's attributes and the verb in its name: a `Gen…` or `Create…` command makes the names
//! that it writes, a `Delete…` command removes those that it reads.

use proc_macro2::{Literal, TokenStream, TokenTree};
use quote::{format_ident, quote};

use super::super::output::ident;
use super::needs::{Needs, Pixels};
use crate::ctype::Repr;
use crate::lang::typed::{Command, Direction, ExprKind, Program, StmtKind};
use crate::model::{Function, Param};
use crate::naming::{UNIFORM_BLOCK, UNIFORM_LOCATION};
use crate::parts;

/// A command's arguments.
pub struct Arguments<'a> {
    function: &'a Function,
    command: &'a Command,
    needs: Needs<'a>,
}

/// How an argument is translated.
enum Role {
    /// A number, passed as recorded.
    Number,
    UniformLocation,
    UniformBlock,
    /// A 32-bit name of an object.
    Name(TokenStream),
    /// A 32-bit name; the command creates the object if it does not exist.
    BoundName(TokenStream),
    /// A name that is an address of the driver.
    Handle(TokenStream),
    /// An array of names that the command reads, and whether it deletes the objects.
    Names {
        kind: TokenStream,
        takes: bool,
    },
    /// An array of names that the command creates.
    Made(TokenStream),
    /// An array of strings.
    Texts,
    Input,
    Offset(i64),
    /// An output that is an offset while a buffer is bound.
    OutputOffset(i64),
    /// Pixels, which the driver reads or writes by the pixel store parameters.
    Pixels(Pixels),
    /// The pointer of a vertex array, and the index of its stride parameter.
    Array(usize),
    Output,
}

impl<'a> Arguments<'a> {
    pub fn new(function: &'a Function, command: &'a Command, program: &'a Program) -> Self {
        Self { function, command, needs: Needs { function, command, program } }
    }

    /// Each parameter with its type and value. A value may use earlier parameters; if it uses a later number, it
    /// reads that number from the record itself.
    pub fn ready(&self) -> Vec<TokenStream> {
        let params = &self.function.params;
        let one = |(at, param): (usize, &Param)| {
            let (name, ty) = (ident(&param.ident), &param.value.rust);
            let value = self.value(at, param);
            let later = params.iter().enumerate().skip(at + 1);
            let used = later.filter(|(_, other)| mentions(&value, &other.ident));
            let numbers = used.map(|(at, other)| {
                let (name, value) = (ident(&other.ident), self.value(at, other));
                quote!(let #name = #value;)
            });
            let numbers: TokenStream = numbers.collect();
            match numbers.is_empty() {
                true => quote!(#name: #ty = #value),
                false => quote!(#name: #ty = { #numbers #value }),
            }
        };
        params.iter().enumerate().map(one).collect()
    }

    /// Statements behind the driver's call that note created and deleted names.
    pub fn afterwards(&self) -> TokenStream {
        let params = self.function.params.iter().enumerate();
        let notes = params.filter_map(|(at, param)| {
            let index = Literal::usize_unsuffixed(at);
            let count = self.needs.elements(at).unwrap_or_else(|| quote!(1));
            match self.role(at, param) {
                Role::Made(kind) => Some(quote!(call.made(#kind, #index, #count);)),
                Role::Names { kind, takes: true } => {
                    Some(quote!(call.unmade(#kind, #index, #count);))
                }
                _ => None,
            }
        });
        notes.collect()
    }

    fn value(&self, at: usize, param: &Param) -> TokenStream {
        let index = Literal::usize_unsuffixed(at);
        let need = self.needs.bytes(at);
        let is_nullable = self.command.nullable.contains(&at);
        match self.role(at, param) {
            Role::Number => {
                let read = getter(param);
                quote!(call.#read(#index))
            }
            Role::UniformLocation => match self.program() {
                Some(program) => quote!(call.location_of(#program, #index)),
                None => quote!(call.location(#index)),
            },
            Role::UniformBlock => {
                let program = self.program();
                quote!(call.uniform_block(#program, #index))
            }
            Role::Name(kind) => quote!(call.name(#kind, #index)),
            Role::BoundName(kind) => quote!(call.bound_name(#kind, #index)?),
            Role::Handle(kind) => quote!(call.handle(#kind, #index)),
            Role::Names { kind, .. } => {
                let count = self.needs.elements(at).unwrap_or_else(|| quote!(1));
                quote!(call.names(#kind, #index, #count)?)
            }
            Role::Texts => {
                let count = self.needs.elements(at).unwrap_or_else(|| quote!(1));
                let texts = match is_nullable {
                    true => quote!(call.text_array_or_null(#index, #count)?),
                    false => quote!(call.text_array(#index, #count)?),
                };
                // The oldest declarations do not say that the array is constant.
                match self.command.params.get(at).is_none_or(|param| param.ctype.points_at_const())
                {
                    true => texts,
                    false => quote!(#texts.cast_mut()),
                }
            }
            Role::Offset(binding) => {
                let binding = format!("{binding:#x}").parse::<TokenStream>().unwrap_or_default();
                match need {
                    Some(need) => quote!(call.input_or_offset(#index, #binding, #need)?),
                    None => quote!(call.pointer_or_offset(#index, #binding)?),
                }
            }
            Role::OutputOffset(binding) => {
                let binding = format!("{binding:#x}").parse::<TokenStream>().unwrap_or_default();
                let need = need.unwrap_or_else(|| quote!(0));
                quote!(call.room_or_offset(#index, #binding, #need)?)
            }
            Role::Pixels(pixels) => {
                let method = format_ident!(
                    "{}",
                    match (pixels.is_input, is_nullable) {
                        (true, true) => "upload_or_null",
                        (true, false) => "upload",
                        (false, _) => "download",
                    }
                );
                let need = pixels.need();
                quote!(call.#method(#index, #need)?)
            }
            Role::Array(stride) => {
                let stride = Literal::usize_unsuffixed(stride);
                quote!(array_pointer(call, #index, #stride)?)
            }
            Role::Input => {
                let need = need.unwrap_or_else(|| quote!(0));
                match is_nullable {
                    true => quote!(call.input_or_null(#index, #need)?),
                    false => quote!(call.input(#index, #need)?),
                }
            }
            Role::Output | Role::Made(_) => {
                let need = need.unwrap_or_else(|| quote!(0));
                match is_nullable {
                    true => quote!(call.room_or_null(#index, #need)?),
                    false => quote!(call.room(#index, #need)?),
                }
            }
        }
    }

    fn role(&self, at: usize, param: &Param) -> Role {
        let Some(declared) = self.command.params.get(at) else { return Role::Number };
        let verb = verb(&self.function.name);
        let class = declared.class.as_deref();
        if !param.value.is_pointer {
            if class == Some(UNIFORM_LOCATION) {
                return Role::UniformLocation;
            }
            if class == Some(UNIFORM_BLOCK) {
                return Role::UniformBlock;
            }
            return match (class.and_then(kind), param.value.ty.repr) {
                (Some(kind), Repr::Pointer) => Role::Handle(kind),
                (Some(kind), _) if self.binds(at) => Role::BoundName(kind),
                (Some(kind), _) => Role::Name(kind),
                (None, _) => Role::Number,
            };
        }
        if let Some((_, stride)) = self.command.array.filter(|(pointer, _)| *pointer == at) {
            return Role::Array(stride);
        }
        let is_input = declared.ctype.points_at_const();
        match (class.and_then(kind), &self.command.offset) {
            (Some(kind), _) if is_input => Role::Names { kind, takes: verb == "Delete" },
            (Some(kind), _) if ["Gen", "Create"].contains(&verb) => Role::Made(kind),
            (_, Some((offset, binding))) if *offset == at && is_input => Role::Offset(*binding),
            (_, Some((offset, binding))) if *offset == at => Role::OutputOffset(*binding),
            _ if self.needs.is_texts(at) => Role::Texts,
            _ => match self.needs.pixels(at) {
                Some(pixels) => Role::Pixels(pixels),
                None if is_input => Role::Input,
                None if self.needs.direction(at) == Some(Direction::In) => Role::Input,
                None => Role::Output,
            },
        }
    }

    /// The parameter that names a program.
    fn program(&self) -> Option<Literal> {
        let is_program = |class: &Option<String>| class.as_deref() == Some("program");
        let at = self.command.params.iter().position(|param| is_program(&param.class));
        at.map(Literal::usize_unsuffixed)
    }

    /// Whether the description calls `Kind.bind(name)` with the argument.
    fn binds(&self, at: usize) -> bool {
        let mut found = false;
        for part in [&self.command.enter, &self.command.leave] {
            parts::each(part, &mut |stmt| {
                let mut see = |expr: &crate::lang::typed::Expr| {
                    crate::lang::walk::walk(expr, &mut |inner| {
                        if let ExprKind::Bind(_, name) = &inner.kind {
                            found |= matches!(name.kind, ExprKind::Param(param) if param == at);
                        }
                    });
                };
                match &stmt.kind {
                    StmtKind::Let(_, value) | StmtKind::Assign(_, value) | StmtKind::Act(value) => {
                        see(value);
                    }
                    _ => {}
                }
            });
        }
        found
    }
}

/// Whether `tokens` use the parameter, at any depth. Methods and paths of the same name do not count.
fn mentions(tokens: &TokenStream, name: &str) -> bool {
    let mut is_member = false;
    tokens.clone().into_iter().any(|token| {
        let was_member = is_member;
        is_member =
            matches!(&token, TokenTree::Punct(punct) if ['.', ':'].contains(&punct.as_char()));
        match token {
            TokenTree::Ident(found) => !was_member && found == ident(name),
            TokenTree::Group(group) => mentions(&group.stream(), name),
            _ => false,
        }
    })
}

/// The word behind the API's prefix: `Gen` for `glGenBuffers`.
fn verb(command: &str) -> &str {
    let verb = command.strip_prefix("gl").unwrap_or(command);
    let end = verb.char_indices().skip(1).find(|(_, c)| c.is_ascii_uppercase());
    end.map_or(verb, |(end, _)| &verb[..end])
}

/// The kind of names that a class is.
pub fn kind(class: &str) -> Option<TokenStream> {
    let kind = format_ident!("{}", kind_name(class)?);
    Some(quote!(Kind::#kind))
}

/// The variant of `Kind` in `replay/src/names.rs` that a class is.
pub fn kind_name(class: &str) -> Option<&'static str> {
    Some(match class {
        "assembly_program" => "AssemblyProgram",
        "ati_fragment_shader" => "AtiFragmentShader",
        "buffer" => "Buffer",
        "fence" => "Fence",
        "framebuffer" => "Framebuffer",
        "memory_object" => "MemoryObject",
        "occlusion_query" => "OcclusionQuery",
        // Shaders and programs share one namespace (OpenGL ES 3.2, 7.1).
        "program" | "shader" => "Program",
        "program_pipeline" => "ProgramPipeline",
        "query" => "Query",
        "renderbuffer" => "Renderbuffer",
        "sampler" => "Sampler",
        "semaphore" => "Semaphore",
        "sync" => "Sync",
        "texture" => "Texture",
        "transform_feedback" => "TransformFeedback",
        "vertex_array" => "VertexArray",
        _ => return None,
    })
}

/// The function that reads a number from a record.
fn getter(param: &Param) -> proc_macro2::Ident {
    let rust = param.value.rust.to_string();
    format_ident!("{}", if param.value.ty.repr == Repr::Pointer { "address" } else { &rust })
}
