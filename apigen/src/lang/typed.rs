//! The typed IR: descriptions that have been checked, as the code generator consumes them.
//!
//! **Numbers.** The type of an expression that reads something stored (a field, a parameter, memory)
//! is that of the store; every other integer is [`Type::INT`]. Operands are widened to saturating
//! i64 before an operation, and a value is cut to the width of the place that it is assigned to, or
//! of the parameter that it is passed as. [`Type::Address`] is 64 bits and wraps: address ± integer
//! is an address, address − address an integer. Pointer parameters and handles are addresses.
//! Integer constants ([`ExprKind::Int`]) may stand where an address is wanted, and have its type.
//! Dividing by 0 gives 0; shifting by less than 0 or more than 63 gives 0.
//!
//! **Defaults.** Reading a missing key of a map, an element past the end, or a field of an object
//! that is none gives the type's default: 0, false, none, empty, the first variant, and for an
//! object's or struct's field what the field declares. Assigning to a field of none or past the end
//! does nothing; assigning to a missing key, or through it, inserts it.
//!
//! **Parts.** `enter` runs before the driver, `leave` after it. What is unconditional, starts at the
//! pointer and depends on arguments alone is no statement but a [`Slot`]; every [`StmtKind::Observe`]
//! is an observation of the other sort, a range. `return` ends its part.
//!
//! **Tools.** A statement with `tools_only` exists in the tools alone: it touches fields that are
//! not tracked. What is not `tools_only` depends on tracked fields only.
//!
//! **Aliases.** [`Program::commands`] has every command of the registries, with or without a body of
//! its own. A body that is inherited from, or shared with, another command has been checked again for
//! this one: parameters are positions, and types are this command's own.

use std::collections::{BTreeMap, BTreeSet};
use std::ops;

use super::source::Span;
use crate::ctype::{CType, Repr};
use crate::origin::Origin;
use crate::registry;

pub use super::ast::{BinaryOp, UnaryOp};

/// Everything that the descriptions say.
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
    /// Every command of the registries: APIs in their order, sorted by name in each.
    pub commands: Vec<Command>,
    /// Enum groups that parameters, results and fields refer to.
    pub groups: BTreeSet<String>,
    /// Names that stand for their value before others.
    pub prefer: BTreeSet<String>,
    /// By API: the enum group of all its names.
    pub catch_alls: BTreeMap<String, String>,
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

/// Where state and objects live.
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
    /// `egl`, `gles`: the API whose files declare it.
    pub api: String,
    /// Never [`Scope::Thread`].
    pub scope: Scope,
    /// Names are EGL handles, 64 bits; otherwise 32.
    pub by_handle: bool,
    /// Whether the shim keeps objects of this kind: one of its fields is tracked, a tracked field
    /// refers to it, or it says `@tracked`.
    pub tracked: bool,
    pub fields: Vec<Field>,
    pub span: Span,
}

/// A value; all its fields are kept wherever one of it is.
#[derive(Debug)]
pub struct Struct {
    pub name: String,
    pub docs: Vec<String>,
    pub api: String,
    /// Whether a tracked field, or something that runs in the shim, has one.
    pub tracked: bool,
    pub fields: Vec<Field>,
    pub span: Span,
}

#[derive(Debug)]
pub struct Field {
    pub name: String,
    pub docs: Vec<String>,
    /// `egl`, `gles`: the API whose files declare it.
    pub api: String,
    pub ty: Type,
    /// A constant expression; `None` is the type's own default.
    pub default: Option<Expr>,
    /// Whether the shim keeps it; the same for all fields of a struct.
    pub tracked: bool,
    /// The enum group of `@group(…)`, for numbers.
    pub group: Option<String>,
    /// What a snapshot asks the driver for.
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
    /// The value of its first field that selects it in a chain.
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
    /// A number or an address that is only an address.
    Scalar(Type),
    /// So many numbers in the struct itself.
    Array(Type, u64),
    /// So many layouts (1 without brackets) in the struct itself.
    Inline(LayoutId, u64),
    /// Pointer to the next struct of the chain.
    Chain,
    /// Pointer to zero-terminated text.
    Text,
    /// Pointer to so many pointers to zero-terminated texts.
    Strings { count: Expr },
    /// Pointer to so many numbers. Counts are of constants and [`ExprKind::LayoutField`].
    Numbers { element: Type, count: Expr },
    /// Pointer to `count` pointers to `each` numbers.
    Pointers { element: Type, each: Expr, count: Expr },
    /// Pointer to so many layouts, with what they point at.
    Layouts { element: LayoutId, count: Expr },
}

/// Number of elements by the value of an enum argument.
#[derive(Debug)]
pub struct Sizes {
    pub name: String,
    pub docs: Vec<String>,
    pub api: String,
    pub default: i64,
    /// In the order of the file.
    pub cases: Vec<SizesCase>,
    pub span: Span,
}

#[derive(Debug)]
pub struct SizesCase {
    pub elements: i64,
    /// Names and values.
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
    /// How many of the locals are parameters.
    pub params: usize,
    /// `let`s in their order.
    pub lets: Vec<(LocalId, Expr)>,
    pub value: Expr,
    /// The declared type, or that of `value`.
    pub result: Type,
    /// Whether it needs fields that only the tools have.
    pub tools_only: bool,
    /// Whether it depends on its arguments alone.
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
    /// For [`ExternKind::Function`] only.
    pub result: Option<Type>,
    /// `@tools`: exists in the tools only.
    pub tools_only: bool,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExternKind {
    /// Observes what the command reads.
    Read,
    /// Observes what it wrote.
    Write,
    /// Computes a value.
    Function,
    /// Changes state.
    Update,
}

/// A command of the registry.
#[derive(Debug)]
pub struct Command {
    pub name: String,
    /// `egl`, `gles`.
    pub api: String,
    /// Whether it does nothing without a current context.
    pub needs_context: bool,
    pub origin: Origin,
    /// The version of OpenGL ES, from 2.0 on, that first has it without an extension.
    pub version: Option<(u8, u8)>,
    /// Extensions of the API that have it, sorted.
    pub extensions: Vec<String>,
    pub docs: Vec<String>,
    /// The command whose description this is: itself, the one it shares a body with, or the one it
    /// is an alias of; `None` if nothing describes it.
    pub described_by: Option<String>,
    pub params: Vec<Param>,
    pub result: CResult,
    pub effect: Effect,
    pub hook: Option<Hook>,
    /// The result with which it ends a frame, where a generated hook counts frames.
    pub frame: Option<i64>,
    /// Whether it may make the driver read buffers.
    pub consumes: bool,
    /// Whether it takes vertices from client arrays.
    pub draws: bool,
    pub replay: Replay,
    /// Pointers of which null means something to the driver.
    pub nullable: Vec<usize>,
    /// The pointer and the stride of a vertex array that it sets.
    pub array: Option<(usize, usize)>,
    /// The pointer that is an offset while a buffer is bound, and the value that asks for the binding.
    pub offset: Option<(usize, i64)>,
    /// Variables of both parts.
    pub locals: Vec<Local>,
    /// Observations that depend on the arguments alone, at most one a parameter.
    pub slots: Vec<Slot>,
    pub enter: Block,
    pub leave: Block,
    /// Of its own description.
    pub span: Option<Span>,
}

#[derive(Debug)]
pub struct Param {
    pub name: String,
    pub ctype: CType,
    /// The type as the body sees it.
    pub ty: Type,
    /// Enum group, of the registry or of a `group` item.
    pub group: Option<String>,
    /// The kind of object that an integer or a handle names, of the registry or of a `class` item;
    /// with `_` for spaces.
    pub class: Option<String>,
    /// The C struct that it points at, or is.
    pub layout: Option<registry::Layout>,
    /// What the description says of the memory behind a pointer.
    pub memory: MemoryUse,
}

/// What is known of a parameter as a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryUse {
    /// It is no pointer, or a handle.
    None,
    /// Only an address by nature, or `ignore`d.
    Address,
    /// An extent of the description.
    Declared,
    /// The registry's `len`.
    Registry,
    /// A pointer, and nobody says anything.
    Unknown,
}

#[derive(Debug)]
pub struct CResult {
    pub ctype: CType,
    /// `None` for void.
    pub ty: Option<Type>,
    pub group: Option<String>,
    /// The kind of object that it names.
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

/// Who plays a command again.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Replay {
    #[default]
    Generated,
    /// A function of `replay/src/gl`.
    ByHand,
    /// Nobody: it needs something that is not the program's own.
    Outside,
}

/// A part in `shim/src/hooks.rs`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Hook {
    pub enter_flags: bool,
    pub leave_flags: bool,
    /// It looks at something before the command is recorded.
    pub before: bool,
}

/// Observation of one parameter that depends on the arguments alone.
#[derive(Clone, Debug)]
pub struct Slot {
    pub param: usize,
    pub direction: Direction,
    /// [`Extent::Elements`], [`Extent::Counted`], texts, strings or attributes, of expressions made
    /// of parameters, constants, tables of sizes and functions [`Function::of_arguments`]; variables
    /// have been replaced by what they stand for.
    pub extent: Extent,
    pub element: Element,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    In,
    Out,
}

/// What a pointer points at, for [`Extent::Elements`] and its like.
#[derive(Clone, PartialEq, Debug)]
pub struct Element {
    /// `U8` behind `void *`.
    pub repr: Repr,
    /// As an expression that indexes the pointer sees it.
    pub ty: Type,
    /// In bytes.
    pub size: u64,
}

/// Ranges of the program's memory.
#[derive(Clone, PartialEq, Debug)]
pub enum Extent {
    /// So many elements from the pointer on; none if it is null or the number is not positive.
    Elements(Expr),
    /// Elements from..to.
    Slice(Expr, Expr),
    /// As many elements as the output `*count` says, at most so many; all if `count` is null.
    Counted { count: usize, most: Expr },
    /// Up to the zero byte, in a buffer of so many bytes if it says.
    Text { within: Option<Expr> },
    /// So many bytes, or zero-terminated where the length says so.
    TextOf { length: Expr, terminated: Terminated },
    /// So many texts, with the parameter that points at their lengths.
    Strings { count: Expr, lengths: Option<usize> },
    /// Pairs of attribute and value up to and with `EGL_NONE`.
    Attributes,
    /// Address and number of bytes; no parameter.
    Memory { address: Expr, bytes: Expr },
    /// A hand-written function observes the parameter.
    By { function: ExternId, arguments: Vec<Expr> },
    /// A hand-written function observes what it finds; no parameter.
    Call { function: ExternId, arguments: Vec<Expr> },
    /// So many structs, what they point at, and their chains of extensions.
    Chain { layout: LayoutId, count: Expr },
    /// Any struct that is known by its first field, with all that.
    AnyChain,
}

/// Which lengths mean that a text is zero-terminated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Terminated {
    IfNegative,
    IfZero,
}

/// Statements of a part, or inside of one.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Block {
    pub statements: Vec<Stmt>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    /// Exists in the tools only; for compound statements: all of it.
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
    /// `None` without a parameter.
    pub element: Option<Element>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Arm<T> {
    pub patterns: Vec<Pattern>,
    pub body: T,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Pattern {
    /// With the name it is written as.
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

/// What can be assigned to.
#[derive(Clone, PartialEq, Debug)]
pub struct Place {
    pub root: Root,
    pub steps: Vec<Step>,
    /// Of what is assigned.
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
    /// With the enumerant it is written as.
    Int(i64, Option<String>),
    Float(f64),
    Text(String),
    /// No object, or an optional value that is not there.
    None,
    Variant(EnumId, usize),
    Param(usize),
    Result,
    Local(LocalId),
    /// A sibling field of a layout; in the counts of layouts only.
    LayoutField(usize),
    State(Scope, usize),
    ObjectField(ObjectId, Box<Expr>, usize),
    StructField(StructId, Box<Expr>, usize),
    /// An object's name; 0 of none.
    NameOf(ObjectId, Box<Expr>),
    /// An element of an array or a list.
    Index(Box<Expr>, Box<Expr>),
    /// A value of a map.
    Lookup(Box<Expr>, Box<Expr>),
    /// An element of the memory behind a parameter; 0 where it can't be read.
    Memory {
        param: usize,
        element: Element,
        index: Box<Expr>,
    },
    /// The text behind a parameter; the extent is one of the texts, or strings (one after another).
    MemoryText {
        param: usize,
        extent: Box<Extent>,
    },
    /// So many bytes from the pointer on.
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
    },
    /// The context's client version is at least.
    Version(u32, u32),
    /// The context has an extension.
    HasExtension(String),
    IsNull(Box<Expr>),
    Call(FunctionId, Vec<Expr>),
    /// `extern fn`; or `extern update`, as an action.
    CallExtern(ExternId, Vec<Expr>),
    Sizes(SizesId, Box<Expr>),
    Unary(UnaryOp, Box<Expr>),
    /// Operands have the same class of type: integers, floats, addresses (± an integer), bools,
    /// refs, texts, enums; one of them may be [`ExprKind::None`] where the other is a ref or optional.
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
    /// The value of an optional, or this one.
    OrElse(Box<Expr>, Box<Expr>),
    Min(Box<Expr>, Box<Expr>),
    Max(Box<Expr>, Box<Expr>),
    /// `Kind.create(name)`, `Kind.bind(name)`: the ref; also as actions.
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
    /// Whether evaluating changes state.
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
    /// Of `none` and of actions without a value.
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
    /// By a name of its API's enumerants, if its field or parameter names no group.
    Enum,
    /// As bits of its group.
    Bitfield,
}

impl Type {
    /// What expressions compute.
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
