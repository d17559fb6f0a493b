//! The typed IR: descriptions that have been checked, as the code generator consumes them.
//!
//! **Numbers.** An expression that reads a field, a parameter or memory has the type of that store; every other
//! integer has the type [`Type::INT`]. Operands are widened to saturating i64 before an operation, and a value is cut
//! to the width of the place that it is assigned to, or of the parameter that it is passed as. [`Type::Address`] has
//! 64 bits and wraps: address ± integer is an address, address − address an integer. Pointer parameters and handles
//! are addresses. Integer constants ([`ExprKind::Int`]) are allowed where an address is expected, and then have its
//! type. Division by 0 gives 0; a shift by less than 0 or more than 63 bits gives 0.
//!
//! **Defaults.** Reading a missing key of a map, an element past the end, or a field of an object
//! that is none gives the type's default: 0, false, none, empty, the first variant. For a field of an object or a
//! struct it gives the field's declared default. Assigning to a field of none or past the end
//! does nothing; assigning to a missing key, or through it, inserts it.
//!
//! **Parts.** `enter` runs before the driver, `leave` after it. An observation that is unconditional, starts at the
//! pointer and depends on arguments alone is a [`Slot`]; every other observation is a statement
//! [`StmtKind::Observe`], a range. `return` ends its part.
//!
//! **Tools.** A statement with `tools_only` runs in the tools alone, because it uses untracked fields. All other
//! statements depend on tracked fields only.
//!
//! **Aliases.** [`Program::commands`] has every command of the registries, with or without a body of
//! its own. A body that is inherited from, or shared with, another command has been checked again for
//! this one: parameters are positions, and types are this command's own.

use std::collections::{BTreeMap, BTreeSet};
use std::ops;

use super::ast::Initial;
use super::source::Span;
use crate::ctype::{CType, Repr};
use crate::origin::Origin;
use crate::registry;

pub use super::ast::{BinaryOp, UnaryOp};

/// The checked contents of all descriptions.
#[derive(Debug, Default)]
pub struct Program {
    /// The fields of a scope, in the order of files and declarations; indexed by [`Scope`].
    pub states: [State; 4],
    pub objects: Vec<Object>,
    pub structs: Vec<Struct>,
    pub enums: Vec<Enum>,
    pub layouts: Vec<Layout>,
    pub sizes: Vec<Sizes>,
    pub functions: Vec<Function>,
    pub externs: Vec<Extern>,
    /// Every command of the registries: APIs in the order of the list, commands of an API sorted by name.
    pub commands: Vec<Command>,
    /// Enum groups that parameters, results and fields refer to.
    pub groups: BTreeSet<String>,
    /// Enumerants that are shown for their value in preference to others.
    pub prefer: BTreeSet<String>,
    /// By command: the hand-written function that plays it, a path from the module of the API.
    pub players: BTreeMap<String, Vec<String>>,
    /// Roles of commands, their parameters and fields, in the order of files.
    pub roles: Vec<(Role, Slotted)>,
    /// How much memory commands reach at addresses, in the order of files.
    pub reaches: Vec<Reach>,
    /// What no replay can play, in the order of files.
    pub refusals: Vec<Refusal>,
    /// How answers are compared in a replay. Of the entries that fit an answer the first one holds.
    pub answers: Vec<Answers>,
    /// By API: the enum group of all its names.
    pub catch_alls: BTreeMap<String, String>,
}

impl Program {
    /// Whether a display list has the command while one is compiled. Contexts without lists have no such commands.
    pub fn is_compiled(&self, command: &Command) -> bool {
        let is_desktop = command.desktop_version.is_some()
            || matches!(command.origin, Origin::DesktopExtension | Origin::SharedExtension);
        is_desktop && command.api == "gl" && !self.has_role(command, Role::NeverCompiled)
    }

    /// Whether a command has the role.
    pub fn has_role(&self, command: &Command, role: Role) -> bool {
        let is_of = |(it, of): &(Role, Slotted)| {
            *it == role && matches!(of, Slotted::Command(name) if *name == command.name)
        };
        self.roles.iter().any(is_of)
    }
}

macro_rules! id {
    ($(#[$doc:meta])* $id:ident, $list:ident, $item:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $id(pub usize);

        impl ops::Index<$id> for Program {
            type Output = $item;
            fn index(&self, id: $id) -> &$item {
                &self.$list[id.0]
            }
        }
    };
}

id!(/** An object kind of a [`Program`]. */ ObjectId, objects, Object);
id!(/** A struct of a [`Program`]. */ StructId, structs, Struct);
id!(/** An enum of a [`Program`]. */ EnumId, enums, Enum);
id!(/** A layout of a [`Program`]. */ LayoutId, layouts, Layout);
id!(/** A table of sizes of a [`Program`]. */ SizesId, sizes, Sizes);
id!(/** A function of a [`Program`]. */ FunctionId, functions, Function);
id!(/** A hand-written function of a [`Program`]. */ ExternId, externs, Extern);

/// The owner of state and objects.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Scope {
    Context,
    ShareGroup,
    Thread,
    Process,
}

impl ops::Index<Scope> for Program {
    type Output = State;
    fn index(&self, scope: Scope) -> &State {
        &self.states[scope as usize]
    }
}

#[derive(Debug, Default)]
pub struct State {
    pub fields: Vec<Field>,
}

#[derive(Debug)]
pub struct Object {
    pub name: String,
    pub docs: Vec<String>,
    /// `egl`, `gl`: the API whose files declare it.
    pub api: String,
    /// Never [`Scope::Thread`].
    pub scope: Scope,
    /// Whether names are 64-bit handles; otherwise they are 32-bit names.
    pub by_handle: bool,
    /// Whether the shim keeps objects of this kind: one of its fields is tracked, a tracked field
    /// refers to it, or its declaration has `@tracked`.
    pub tracked: bool,
    pub fields: Vec<Field>,
    pub span: Span,
}

/// A struct. A store of this type holds all its fields, tracked or not as a whole.
#[derive(Debug)]
pub struct Struct {
    pub name: String,
    pub docs: Vec<String>,
    pub api: String,
    /// Whether a tracked field or code of the shim uses the struct.
    pub tracked: bool,
    pub fields: Vec<Field>,
    pub span: Span,
}

#[derive(Debug)]
pub struct Field {
    pub name: String,
    pub docs: Vec<String>,
    /// `egl`, `gl`: the API whose files declare it.
    pub api: String,
    pub ty: Type,
    /// Constant expressions; `None` for the type's own default.
    pub default: Option<Initial<Expr>>,
    /// Whether the shim keeps the field; the same for all fields of a struct.
    pub tracked: bool,
    /// The enum group of `@group(…)`, for numbers.
    pub group: Option<String>,
    /// The query with which a snapshot reads the field from the driver.
    pub ask: Option<Ask>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Ask {
    pub command: String,
    /// Names and values of the enumerants.
    pub enumerants: Vec<(String, i64)>,
}

#[derive(Debug)]
pub struct Enum {
    pub name: String,
    pub docs: Vec<String>,
    pub api: String,
    /// The first is the default.
    pub variants: Vec<String>,
    pub span: Span,
}

/// A C struct in the program's memory.
#[derive(Debug)]
pub struct Layout {
    pub name: String,
    pub docs: Vec<String>,
    pub api: String,
    /// In bytes, a multiple of `align`.
    pub size: u64,
    pub align: u64,
    /// The value of the first field by which a chain identifies the struct.
    pub stype: Option<i64>,
    pub fields: Vec<LayoutField>,
    pub span: Span,
}

#[derive(Debug)]
pub struct LayoutField {
    pub name: String,
    pub docs: Vec<String>,
    /// In bytes.
    pub offset: u64,
    pub kind: LayoutFieldKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum LayoutFieldKind {
    /// A number, or an address that is not followed.
    Scalar(Type),
    /// An inline array: the type and the number of its elements.
    Array(Type, u64),
    /// An inline array of layouts; the number is 1 for a single layout.
    Inline(LayoutId, u64),
    /// Pointer to the next struct of the chain.
    Chain,
    /// Pointer to a NUL-terminated string.
    Text,
    /// Pointer to `count` pointers to NUL-terminated strings.
    Strings { count: Expr },
    /// Pointer to `count` numbers. Counts consist of constants and [`ExprKind::LayoutField`].
    Numbers { element: Type, count: Expr },
    /// Pointer to `count` pointers to `each` numbers.
    Pointers { element: Type, each: Expr, count: Expr },
    /// Pointer to `count` layouts, which are followed.
    Layouts { element: LayoutId, count: Expr },
}

/// Number of elements by the value of an enum argument.
#[derive(Debug)]
pub struct Sizes {
    pub name: String,
    pub docs: Vec<String>,
    pub api: String,
    pub default: i64,
    /// Cases in the order of the file.
    pub cases: Vec<SizesCase>,
    pub span: Span,
}

#[derive(Debug)]
pub struct SizesCase {
    pub elements: i64,
    /// Names and values of the enumerants.
    pub enumerants: Vec<(String, i64)>,
}

/// A pure function.
#[derive(Debug)]
pub struct Function {
    pub name: String,
    pub docs: Vec<String>,
    pub api: String,
    /// The parameters, then the `let`s.
    pub locals: Vec<Local>,
    /// Number of parameters; they are the first locals.
    pub params: usize,
    /// `let`s in source order.
    pub lets: Vec<(LocalId, Expr)>,
    pub value: Expr,
    /// The declared type, or that of `value`.
    pub result: Type,
    /// Whether the function uses fields that only the tools have.
    pub tools_only: bool,
    /// Whether the function depends on its arguments alone.
    pub of_arguments: bool,
    pub span: Span,
}

/// A hand-written function: `crate::<api>::<name>`.
#[derive(Debug)]
pub struct Extern {
    pub name: String,
    pub docs: Vec<String>,
    pub api: String,
    pub kind: ExternKind,
    pub params: Vec<(String, Type)>,
    /// The type of the result; [`ExternKind::Function`] only.
    pub result: Option<Type>,
    /// `@tools`: exists in the tools only.
    pub tools_only: bool,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExternKind {
    /// Observes memory that the command reads.
    Read,
    /// Observes memory that the command wrote.
    Write,
    /// Computes a value.
    Function,
    /// Changes state.
    Update,
}

/// A part that a command, a parameter or a field has in a replay or in statistics: the words of `role`
/// items.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Role {
    /// The command gives work to a device.
    Submits,
    /// Longest time that the command waits, in nanoseconds.
    TimeoutNs,
    /// Handle of an object that the command destroys.
    Destroyed,
    /// Address of memory that the command frees.
    Freed,
    /// Pointer to the address of memory that the command allocates, and that the host sees.
    HostMemory,
    /// The same for memory that only devices see.
    DeviceMemory,
    /// Number of bytes that the command allocates, or a pointer to it.
    MemoryBytes,
    /// Address of memory that devices write when the command is executed.
    DeviceWrites,
    /// Pointer to a value whose type only a kernel knows.
    KernelArgument,
    /// Pointer to the handle of a queue that the command creates.
    NewQueue,
    /// Pointer to the handle of a list that the command creates, and that executes its commands itself.
    NewImmediateList,
    /// Pointer to the handle of an event that the command creates.
    NewEvent,
    /// Pointer to the handle of a fence that the command creates.
    NewFence,
    /// Pointer to the handle of an image that the command creates.
    NewImage,
    /// The command opens the API: a snapshot begins with its first success.
    Opens,
    /// Pointer to handles of objects that the program did not create, or to the address of memory in such an object.
    Found,
    /// Pointer to the handle of an object that the command creates, or to the address of memory that it allocates.
    Made,
    /// Handle of an object, or address of an allocation, of which the command sets a property.
    Set,
    /// Number that tells apart several properties which the same command sets.
    SetKey,
    /// Several threads may set properties of one object with this command at once.
    SetShared,
    /// Handle of the object that keeps the command, or pointer to the first one: a list executes it later.
    Appended,
    /// Handle of an object whose properties are those at the append when a list executes the command later, or pointer
    /// to several.
    Uses,
    /// Pointer to the lists that the command executes.
    Executed,
    /// Handle of the object that forgets the commands appended to it.
    Emptied,
    /// Handle of the context that the new object or memory belongs to.
    InContext,
    /// Handle of the device that the new object or memory belongs to.
    OnDevice,
    /// A snapshot cannot describe what the command did.
    Unkept,
    /// The command takes an EGL sync: a program that calls it has created one.
    TakesSync,
    /// The command takes an EGL image.
    TakesImage,
    /// The command draws.
    Draw,
    /// The command starts compute shaders.
    Dispatch,
    /// The command passes contents of buffers or textures to the driver, or is a command about textures.
    Upload,
    /// The command does more than set state of the context.
    Act,
    /// The command gives names or handles of new objects.
    Creates,
    /// The result of the command is the name of a new program.
    CreatesProgram,
    /// The result of the command is the name of a new shader.
    CreatesShader,
    /// The command ends the objects that its last parameter names.
    Deletes,
    /// The command gives a program other locations and indices.
    Links,
    /// The names that the command calls `id` are those of queries.
    AboutQuery,
    /// The index that the command takes is that of a vertex attribute.
    AboutAttribute,
    /// The command makes a program pipeline the current one.
    BindsPipeline,
    /// The command makes a program the active one of a program pipeline.
    ActivatesProgram,
    /// The command returns the error flag of a context or a thread.
    AsksError,
    /// The command says whether a context was reset.
    AsksReset,
    /// The command says whether a framebuffer is complete.
    AsksFramebuffer,
    /// The command says whether a shader was compiled, or a program linked.
    AsksBuilt,
    /// The command reads messages of the driver from the debug log.
    ReadsMessages,
    /// The command reads the log of the last compilation or link.
    ReadsLog,
    /// The command has failed if its result is 0.
    FailsWithZero,
    /// The result of the command is a code that says whether the command has failed.
    ReturnsResult,
    /// The command compiles shaders or kernels.
    Compiles,
    /// The command reads pixels into the program's memory, or into a buffer.
    ReadsPixels,
    /// The command returns when the device has executed all commands before it.
    Finishes,
    /// The command gives an object a label.
    Labels,
    /// With the command the program says what it does here.
    Marks,
    /// The command begins a group of commands, to which the program gives a name.
    BeginsGroup,
    /// The command ends the group that began last.
    EndsGroup,
    /// The GPU executes the command, for as long as `--gpu-timing` measures.
    WorksOnGpu,
    /// The parameter is an array of events that the device waits for before it executes the command; the parameter before it
    /// is their number.
    Awaits,
    /// The result of the command is a display.
    GivesDisplay,
    /// The result of the command is a new context.
    GivesContext,
    /// The result of the command is a new surface.
    GivesSurface,
    /// The result of the command is a new image.
    GivesImage,
    /// The result of the command is a new sync object.
    GivesSync,
    /// The result of the command is a new stream.
    GivesStream,
    /// The command answers a question, and changes nothing.
    Asks,
    /// The command gives a buffer contents or a store.
    FillsBuffer,
    /// The command gives a texture or a renderbuffer contents or a store.
    Fills,
    /// The command writes to the framebuffer for drawing, and is no draw.
    Clears,
    /// The command reads the framebuffer for reading.
    ReadsFramebuffer,
    /// The command is executed at once while a display list is compiled, and never compiled into it.
    NeverCompiled,
    /// The command takes pixels from the pixel unpack buffer when a display list is compiled.
    Unpacks,
    /// Pointer to integers that are no contents of the program.
    Structure,
    /// Integer that is contents of the program.
    Content,
}

impl Role {
    /// The roles that a replay needs.
    pub const OF_REPLAY: [Self; 13] = [
        Self::Submits,
        Self::TimeoutNs,
        Self::Destroyed,
        Self::Freed,
        Self::HostMemory,
        Self::DeviceMemory,
        Self::MemoryBytes,
        Self::DeviceWrites,
        Self::KernelArgument,
        Self::NewQueue,
        Self::NewImmediateList,
        Self::TakesSync,
        Self::TakesImage,
    ];

    /// The roles that a snapshot needs beside those of a replay.
    pub const OF_SNAPSHOT: [Self; 16] = [
        Self::NewEvent,
        Self::NewFence,
        Self::NewImage,
        Self::Opens,
        Self::Found,
        Self::Made,
        Self::Set,
        Self::SetKey,
        Self::SetShared,
        Self::Appended,
        Self::Uses,
        Self::Executed,
        Self::Emptied,
        Self::InContext,
        Self::OnDevice,
        Self::Unkept,
    ];

    /// The roles of commands with which a program marks a place: the shim writes when they were called.
    pub const OF_MARKS: [Self; 3] = [Self::Marks, Self::BeginsGroup, Self::EndsGroup];

    /// The roles of parameters that a trace without contents needs.
    pub const OF_CONTENTS: [Self; 2] = [Self::Structure, Self::Content];

    /// The roles that statistics, differences and problems of traces need. Each is a role of commands.
    pub const OF_ANALYSIS: [Self; 39] = [
        Self::Draw,
        Self::Dispatch,
        Self::Upload,
        Self::Act,
        Self::Creates,
        Self::CreatesProgram,
        Self::CreatesShader,
        Self::Deletes,
        Self::Links,
        Self::AboutQuery,
        Self::AboutAttribute,
        Self::BindsPipeline,
        Self::ActivatesProgram,
        Self::AsksError,
        Self::AsksReset,
        Self::AsksFramebuffer,
        Self::AsksBuilt,
        Self::ReadsMessages,
        Self::ReadsLog,
        Self::FailsWithZero,
        Self::ReturnsResult,
        Self::Compiles,
        Self::ReadsPixels,
        Self::Finishes,
        Self::Labels,
        Self::Marks,
        Self::BeginsGroup,
        Self::EndsGroup,
        Self::GivesDisplay,
        Self::GivesContext,
        Self::GivesSurface,
        Self::GivesImage,
        Self::GivesSync,
        Self::GivesStream,
        Self::Asks,
        Self::FillsBuffer,
        Self::Fills,
        Self::Clears,
        Self::ReadsFramebuffer,
    ];
}

/// A command, a parameter of it, or a field of a layout.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Slotted {
    Command(String),
    Param(String, usize),
    Field(LayoutId, usize),
}

/// How much memory a command reaches at the address that a parameter is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reach {
    pub command: String,
    pub param: usize,
    pub size: ReachSize,
}

/// Numbers are indices of parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReachSize {
    Bytes(u64),
    Param(usize),
    /// A region; the bytes from row to row; those from slice to slice.
    Region(usize, usize, usize),
    Unknown,
}

/// A command or a layout that no replay can play.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    pub subject: Refused,
    pub reason: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refused {
    Command(String),
    Layout(LayoutId),
}

/// How some answers are compared in a replay: one target of an `answers` item.
#[derive(Debug)]
pub struct Answers {
    /// The target as it is written, without spaces.
    pub target: String,
    pub part: AnswerPart,
    /// Names of the commands, sorted. With them the index of the parameter that [`AnswerPart`] speaks of;
    /// 0 if it speaks of none.
    pub commands: Vec<(String, usize)>,
    pub rule: AnswerRule,
    pub span: Span,
}

/// The answers of a command that [`Answers`] are about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AnswerPart {
    All,
    Result,
    /// What the command writes at the parameter.
    Output,
    /// Fields of this name in the structs that the command writes at the parameter.
    Field(String),
    /// All answers if the parameter, which is an enum, has one of these values, which are sorted.
    Values(Vec<u64>),
}

/// How an answer is compared: the words of `answers` items, and of `Rule` in `replay/src/verify`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AnswerRule {
    Exact,
    Presence,
    Locations,
    Driver,
    DriverIdentity,
    QueryResult,
    Waited,
    Polled,
    /// Names of objects of this class.
    Names(String),
    Varies(AnswerVaries),
}

/// Why an answer may be another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswerVaries {
    Time,
    OwnForm,
    Counter,
    WindowFormat,
    Callback,
}

/// A command of the registry.
#[derive(Debug)]
pub struct Command {
    pub name: String,
    /// `egl`, `gl`.
    pub api: String,
    /// Whether the command does nothing without a current context.
    pub needs_context: bool,
    pub origin: Origin,
    /// The first version of OpenGL ES, from 2.0 on, whose core has the command.
    pub version: Option<(u8, u8)>,
    /// The first version of desktop OpenGL that has it without an extension.
    pub desktop_version: Option<(u8, u8)>,
    /// Extensions of the API that have the command, sorted.
    pub extensions: Vec<String>,
    pub docs: Vec<String>,
    /// The command whose description holds: this one, one that shares its body, or one that it is an alias of; `None`
    /// if no description holds.
    pub described_by: Option<String>,
    pub params: Vec<Param>,
    pub result: CResult,
    pub effect: Effect,
    pub hook: Option<Hook>,
    /// For a command with `@frame`: the result with which it ends a frame.
    pub frame: Option<i64>,
    /// Whether the driver may read buffers when it runs the command.
    pub consumes: bool,
    /// Whether the command may read vertices from client arrays.
    pub draws: bool,
    pub replay: Replay,
    /// Indices of pointer parameters for which null is a meaningful value.
    pub nullable: Vec<usize>,
    /// Indices of the pointer and of the stride of the vertex array that the command sets.
    pub array: Option<(usize, usize)>,
    /// Index of the pointer that is an offset while a buffer is bound, and the enumerant that queries the binding.
    pub offset: Option<(usize, i64)>,
    /// Variables of both parts.
    pub locals: Vec<Local>,
    /// Observations that depend on arguments alone, at most one per parameter.
    pub slots: Vec<Slot>,
    pub enter: Block,
    pub leave: Block,
    /// Span of the command's own description.
    pub span: Option<Span>,
}

#[derive(Debug)]
pub struct Param {
    pub name: String,
    pub ctype: CType,
    /// The parameter's type in the body.
    pub ty: Type,
    /// Enum group, from the registry or from a `group` item.
    pub group: Option<String>,
    /// The kind of object that an integer or a handle names, from the registry or from a `class` item,
    /// with `_` for spaces.
    pub class: Option<String>,
    /// The C struct that the parameter points at or that it passes by value.
    pub layout: Option<registry::Layout>,
    /// How the memory behind a pointer is described.
    pub memory: MemoryUse,
}

/// How the memory behind a parameter is described.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryUse {
    /// The parameter is not a pointer, or is a handle.
    None,
    /// Only the address matters, or the description has `ignore`.
    Address,
    /// By an extent of the description.
    Declared,
    /// By the registry's `len`.
    Registry,
    /// Not at all.
    Unknown,
}

#[derive(Debug)]
pub struct CResult {
    pub ctype: CType,
    /// `None` for void.
    pub ty: Option<Type>,
    pub group: Option<String>,
    /// The kind of object that the result names.
    pub class: Option<String>,
}

/// When a command takes effect.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Effect {
    #[default]
    Enter,
    Leave,
    Recorded,
}

/// How `replay` plays a command.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Replay {
    #[default]
    Generated,
    /// By a hand-written function in `replay/src/gl`.
    ByHand,
    /// Not at all: the command needs something that a trace cannot contain, such as a semaphore of another process.
    Outside,
}

/// The functions that a command has in `shim/src/hooks.rs`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Hook {
    pub enter_flags: bool,
    pub leave_flags: bool,
    /// The hook also runs a function before the command is recorded.
    pub before: bool,
}

/// Observation of one parameter that depends on the arguments alone.
#[derive(Clone, Debug)]
pub struct Slot {
    pub param: usize,
    pub direction: Direction,
    /// [`Extent::Elements`], [`Extent::Counted`], texts, strings or attributes. Their expressions consist of
    /// parameters, constants, size tables and functions with [`Function::of_arguments`]; variables have been replaced
    /// by their values.
    pub extent: Extent,
    pub element: Element,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    In,
    Out,
}

/// The type behind a pointer, for extents with elements such as [`Extent::Elements`].
#[derive(Clone, PartialEq, Debug)]
pub struct Element {
    /// `U8` behind `void *`.
    pub repr: Repr,
    /// The type of an expression that indexes the pointer.
    pub ty: Type,
    /// In bytes.
    pub size: u64,
}

/// Ranges of the program's memory.
#[derive(Clone, PartialEq, Debug)]
pub enum Extent {
    /// This many elements at the pointer; none if the pointer is null or the number is not positive.
    Elements(Expr),
    /// Elements from..to.
    Slice(Expr, Expr),
    /// `*count` elements, but at most `most`; `most` elements if `count` is null.
    Counted { count: usize, most: Expr },
    /// A NUL-terminated string, in a buffer of `within` bytes if given.
    Text { within: Option<Expr> },
    /// A string of `length` bytes, or a NUL-terminated string for certain lengths.
    TextOf { length: Expr, terminated: Terminated },
    /// `count` strings, with the parameter that points at their lengths.
    Strings { count: Expr, lengths: Option<usize> },
    /// Pairs of attribute and value up to and including the attribute of this number, which has no value.
    Attributes { end: Expr },
    /// Any address and number of bytes; belongs to no parameter.
    Memory { address: Expr, bytes: Expr },
    /// The memory that a hand-written function finds behind the parameter.
    By { function: ExternId, arguments: Vec<Expr> },
    /// The memory that a hand-written function finds; belongs to no parameter.
    Call { function: ExternId, arguments: Vec<Expr> },
    /// `count` structs with the memory behind their pointers and their chains of extensions.
    Chain { layout: LayoutId, count: Expr },
    /// A struct whose first field identifies its layout, with the memory behind its pointers and its chain.
    AnyChain,
}

/// The lengths that mean that a string is NUL-terminated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Terminated {
    IfNegative,
    IfZero,
}

/// The statements of a part or of a compound statement.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Block {
    pub statements: Vec<Stmt>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    /// The statement, with all statements inside it, exists in the tools only.
    pub tools_only: bool,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    Let(LocalId, Expr),
    Assign(Place, Expr),
    /// An expression with an effect: [`ExprKind::is_action`] says which.
    Act(Expr),
    If {
        condition: Expr,
        then: Block,
        otherwise: Block,
    },
    Match {
        value: Expr,
        arms: Vec<Arm<Block>>,
        otherwise: Block,
    },
    For {
        variable: LocalId,
        from: Expr,
        to: Expr,
        body: Block,
    },
    Observe(Observation),
    Frame,
    /// Ends the part.
    Return,
}

/// A range.
#[derive(Clone, PartialEq, Debug)]
pub struct Observation {
    pub direction: Direction,
    /// `None` for [`Extent::Memory`] and [`Extent::Call`].
    pub param: Option<usize>,
    pub extent: Extent,
    /// `None` if `param` is `None`.
    pub element: Option<Element>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Arm<T> {
    pub patterns: Vec<Pattern>,
    pub body: T,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Pattern {
    /// A number, and the enumerant that the source uses for it.
    Int(i64, Option<String>),
    Bool(bool),
    Variant(EnumId, usize),
}

/// A variable: a `let`, a `for`, or a parameter of a function.
#[derive(Clone, PartialEq, Debug)]
pub struct Local {
    pub name: String,
    pub ty: Type,
    pub tools_only: bool,
}

/// A variable of a [`Command`] or [`Function`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocalId(pub usize);

/// The target of an assignment.
#[derive(Clone, PartialEq, Debug)]
pub struct Place {
    pub root: Root,
    pub steps: Vec<Step>,
    /// Type of the stored value.
    pub ty: Type,
    pub tracked: bool,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Root {
    State(Scope, usize),
    /// A field of the object that the expression refers to.
    Object(ObjectId, Box<Expr>, usize),
}

#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// A field of a struct.
    Field(StructId, usize),
    /// An element of an array or a list.
    Index(Expr),
    /// A value of a map.
    Key(Expr),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Type,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    Bool(bool),
    /// A number, and the enumerant that the source uses for it.
    Int(i64, Option<String>),
    Float(f64),
    Text(String),
    /// No object, or an absent optional value.
    None,
    Variant(EnumId, usize),
    Param(usize),
    Result,
    Local(LocalId),
    /// Another field of the same layout; occurs in counts of layouts only.
    LayoutField(usize),
    State(Scope, usize),
    ObjectField(ObjectId, Box<Expr>, usize),
    StructField(StructId, Box<Expr>, usize),
    /// An object's name; 0 for `none`.
    NameOf(ObjectId, Box<Expr>),
    /// An element of an array or a list.
    Index(Box<Expr>, Box<Expr>),
    /// A value of a map.
    Lookup(Box<Expr>, Box<Expr>),
    /// An element of the memory behind a parameter; 0 if the memory can't be read.
    Memory {
        param: usize,
        element: Element,
        index: Box<Expr>,
    },
    /// The string behind a parameter. For [`Extent::Strings`], the concatenated strings.
    MemoryText {
        param: usize,
        extent: Box<Extent>,
    },
    /// A number of bytes at the pointer.
    MemoryBytes {
        param: usize,
        count: Box<Expr>,
    },
    /// The value of a key in an attribute list.
    Attribute {
        param: usize,
        element: Element,
        key: Box<Expr>,
        default: Box<Expr>,
        /// The attribute that ends the list.
        end: Box<Expr>,
    },
    /// Whether the context is one of OpenGL ES with at least this version.
    Version(u32, u32),
    /// Whether the context is one of desktop OpenGL with at least this version.
    Desktop(u32, u32),
    /// Whether the context draws without a program.
    FixedFunction,
    /// Whether a command that is compiled into a display list is also executed, if a list is being compiled; true if none is.
    /// No description has it: the compiler puts it around the changes of such commands.
    Executes,
    /// Whether the context has the extension.
    HasExtension(String),
    IsNull(Box<Expr>),
    Call(FunctionId, Vec<Expr>),
    /// `extern fn`; or `extern update`, as an action.
    CallExtern(ExternId, Vec<Expr>),
    Sizes(SizesId, Box<Expr>),
    Unary(UnaryOp, Box<Expr>),
    /// Both operands are integers, floats, addresses (± an integer), bools, refs, texts or enums. One of them may be
    /// [`ExprKind::None`] if the other is a ref or optional.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Match {
        value: Box<Expr>,
        arms: Vec<Arm<Expr>>,
        otherwise: Box<Expr>,
    },
    /// A conversion to `ty`: integer to float or address, float (towards 0) or address to integer, a
    /// value to an optional.
    Convert(Box<Expr>),
    /// Number of elements, keys or bytes.
    Len(Box<Expr>),
    Contains {
        map: Box<Expr>,
        key: Box<Expr>,
    },
    /// The value of an optional, or the default if it is absent.
    OrElse(Box<Expr>, Box<Expr>),
    Min(Box<Expr>, Box<Expr>),
    Max(Box<Expr>, Box<Expr>),
    /// `Kind.create(name)`, `Kind.bind(name)`: return the ref, and have an effect.
    Create(ObjectId, Box<Expr>),
    Bind(ObjectId, Box<Expr>),
    Find(ObjectId, Box<Expr>),
    /// Actions without a value.
    Delete(ObjectId, Box<Expr>),
    Push(Place, Box<Expr>),
    Remove(Place, Box<Expr>),
    Clear(Place),
}

impl ExprKind {
    /// Whether evaluating the expression changes state.
    pub fn is_action(&self, program: &Program) -> bool {
        match self {
            ExprKind::Create(..)
            | ExprKind::Bind(..)
            | ExprKind::Delete(..)
            | ExprKind::Push(..)
            | ExprKind::Remove(..)
            | ExprKind::Clear(_) => true,
            ExprKind::CallExtern(id, _) => program[*id].kind == ExternKind::Update,
            _ => false,
        }
    }
}

/// The type of a store or of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    Bool,
    Number(Number),
    Address,
    Text,
    Bytes,
    Array(Box<Type>, u64),
    List(Box<Type>),
    Map(Box<Type>, Box<Type>),
    Optional(Box<Type>),
    Ref(ObjectId),
    Struct(StructId),
    Enum(EnumId),
    /// The type of `none` and of actions without a value.
    None,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number {
    /// Never `Void` or `Pointer`.
    pub repr: Repr,
    pub shown: Shown,
}

/// How a number is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    Number,
    /// As an enumerant: of its group, else of its API.
    Enum,
    /// As bits of its group.
    Bitfield,
}

impl Type {
    /// The type of integers in computations.
    pub const INT: Type = Type::number(Repr::I64);
    pub const FLOAT: Type = Type::number(Repr::F64);

    pub const fn number(repr: Repr) -> Type {
        Type::Number(Number { repr, shown: Shown::Number })
    }

    pub fn is_integer(&self) -> bool {
        matches!(self, Type::Number(number) if !matches!(number.repr, Repr::F32 | Repr::F64))
    }

    pub fn is_float(&self) -> bool {
        matches!(self, Type::Number(number) if matches!(number.repr, Repr::F32 | Repr::F64))
    }
}
