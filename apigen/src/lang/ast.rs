//! The syntax tree of a description file: names are text, types are unchecked.
//!
//! Every node has the span of its text. Comments are not in the tree; the formatter works on
//! tokens.

use super::source::Span;

/// A file.
#[derive(Clone, PartialEq, Debug)]
pub struct File {
    /// The `//!` lines.
    pub docs: Vec<String>,
    /// The name in `api egl;`; empty if the file has no such line.
    pub api: Name,
    pub items: Vec<Item>,
}

/// A word with its span.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Item {
    /// The `///` lines.
    pub docs: Vec<String>,
    pub attributes: Vec<Attribute>,
    pub kind: ItemKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ItemKind {
    State { scope: Name, fields: Vec<Field> },
    Object { name: Name, scope: Name, by_handle: bool, fields: Vec<Field> },
    Struct { name: Name, fields: Vec<Field> },
    Enum { name: Name, variants: Vec<Name> },
    Layout { name: Name, fields: Vec<LayoutField> },
    Sizes { name: Name, cases: Vec<SizesCase>, default: Option<Number> },
    Function { name: Name, params: Vec<Param>, result: Option<Type>, body: FunctionBody },
    Procedure { name: Name, params: Vec<Param>, body: Block },
    Extern { kind: Name, name: Name, params: Vec<Param>, result: Option<Type> },
    Group { name: Name, targets: Vec<Target> },
    Class { name: Name, targets: Vec<Target> },
    Prefer { names: Vec<Name> },
    Play { function: Vec<Name>, commands: Vec<Name> },
    Role { role: Name, targets: Vec<FactTarget> },
    Reach { size: ReachSize, targets: Vec<FactTarget> },
    Refuse { reason: Text, names: Vec<Glob> },
    Asked { params: Vec<Name> },
    Answers { rule: Name, argument: Option<Name>, targets: Vec<AnswerTarget> },
    Command { names: Vec<Name>, body: Option<Block> },
}

/// `@name(argument, …)`; arguments are words.
#[derive(Clone, PartialEq, Debug)]
pub struct Attribute {
    pub name: Name,
    pub arguments: Vec<Name>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Field {
    pub docs: Vec<String>,
    pub attributes: Vec<Attribute>,
    pub name: Name,
    pub ty: Type,
    pub default: Option<Initial<Expr>>,
    pub span: Span,
}

/// The initial value of a field.
#[derive(Clone, PartialEq, Debug)]
pub enum Initial<E> {
    Value(E),
    /// The elements of an array.
    Elements(Vec<E>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct LayoutField {
    pub docs: Vec<String>,
    pub name: Name,
    pub ty: LayoutType,
    /// The value that selects the layout in a chain.
    pub value: Option<Expr>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum LayoutType {
    /// A number, an `address`, an inline array, or a layout inside the layout.
    Inline(Type),
    /// The pointer to the next struct.
    Chain,
    /// A pointer to a NUL-terminated string.
    Text,
    /// `strings[count]`: a pointer to `count` pointers to NUL-terminated strings.
    Strings(Expr),
    /// `read Item[count]`: a pointer to `count` numbers or layouts.
    Read { element: Type, count: Expr },
    /// `read Item[each][count]`: a pointer to `count` pointers, each to `each` numbers.
    ReadEach { element: Type, each: Expr, count: Expr },
}

#[derive(Clone, PartialEq, Debug)]
pub struct SizesCase {
    pub enumerants: Vec<Name>,
    pub elements: Number,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Number {
    pub value: i64,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    pub name: Name,
    pub ty: Type,
}

/// `command.parameter`, `command.result`, or `prefix*.parameter`.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    pub command: Name,
    /// Whether the command's name ends with `*`.
    pub is_pattern: bool,
    pub slot: Name,
    pub span: Span,
}

/// `pattern`, `pattern.output`, `pattern.output.field` or `pattern(VALUE | VALUE)`.
#[derive(Clone, PartialEq, Debug)]
pub struct AnswerTarget {
    pub commands: Glob,
    pub part: AnswerPart,
    pub span: Span,
}

/// The answers of a command that a target means.
#[derive(Clone, PartialEq, Debug)]
pub enum AnswerPart {
    All,
    /// An output parameter or `result`; or a field of the structs that a parameter points at.
    Output {
        slot: Glob,
        field: Option<Name>,
    },
    /// Answers to these questions.
    Values(Vec<Glob>),
}

/// `pattern` or `pattern.slot`: commands, their parameters, or fields of layouts.
#[derive(Clone, PartialEq, Debug)]
pub struct FactTarget {
    pub subjects: Glob,
    pub slot: Option<Name>,
    pub span: Span,
}

/// How much memory a command reaches at an address.
#[derive(Clone, PartialEq, Debug)]
pub enum ReachSize {
    Bytes(Number),
    /// As many bytes as a parameter says.
    Param(Name),
    /// A region; the bytes from row to row; those from slice to slice.
    Region([Name; 3]),
    Unknown,
}

/// The contents of quotes, with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    pub text: String,
    pub span: Span,
}

/// A name in which each `*` stands for any letters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Glob {
    pub text: String,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Type {
    pub kind: TypeKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum TypeKind {
    Named(String),
    Array(Box<Type>, Number),
    List(Box<Type>),
    Map(Box<Type>, Box<Type>),
    Optional(Box<Type>),
    Ref(Name),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    pub statements: Vec<Stmt>,
    pub span: Span,
}

/// `let`s, then the expression of the result.
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionBody {
    pub lets: Vec<(Name, Expr)>,
    pub result: Expr,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    Fence,
    Frame,
    Return,
    Let { name: Name, value: Expr },
    Assign { place: Expr, value: Expr },
    Expr(Expr),
    If { condition: Expr, then: Block, otherwise: Option<Block> },
    Match { value: Expr, arms: Vec<Arm<Block>> },
    For { variable: Name, from: Expr, to: Expr, body: Block },
    Read(Extent),
    Write(Extent),
    Ignore(Vec<Name>),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Arm<T> {
    pub patterns: Vec<Pattern>,
    pub body: T,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Pattern {
    /// `_`.
    Rest(Span),
    Value(Expr),
}

#[derive(Clone, PartialEq, Debug)]
pub struct Extent {
    pub kind: ExtentKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ExtentKind {
    /// `P`: one element.
    One(Name),
    /// `P[n]`.
    Elements(Name, Expr),
    /// `P[a..b]`.
    Slice(Name, Expr, Expr),
    /// `P[counted(COUNT, most)]`.
    Counted { param: Name, count: Name, most: Expr },
    /// `text(P)`, `text(P, size)`.
    Text { param: Name, within: Option<Expr> },
    /// `text_of(P, length, if_negative)`.
    TextOf { param: Name, length: Expr, rule: Name },
    /// `strings(P, n)`, `strings(P, n, LENGTHS)`.
    Strings { param: Name, count: Expr, lengths: Option<Name> },
    /// `attributes(P)`, `attributes(P, end)`.
    Attributes { param: Name, end: Option<Expr> },
    /// `memory(address, bytes)`.
    Memory(Expr, Expr),
    /// `P by function(…)`.
    By { param: Name, function: Name, arguments: Vec<Expr> },
    /// `function(…)`.
    Call { function: Name, arguments: Vec<Expr> },
    /// `chain(P)`, `chain(P, Layout)`, `chain(P, Layout, n)`.
    Chain { param: Name, layout: Option<Name>, count: Option<Expr> },
}

#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
    /// Depth of the tree below. The parser limits it, so that recursive code does not overflow the stack.
    pub depth: u32,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    Int(i64),
    Float(f64),
    Bool(bool),
    None,
    Text(String),
    /// A parameter, a variable, an enumerant, a state, an object kind, an enum, `result`.
    Name(String),
    Member(Box<Expr>, Name),
    Index(Box<Expr>, Box<Expr>),
    /// A function or a builtin; or a method, when `function` is a [`ExprKind::Member`].
    Call {
        function: Box<Expr>,
        arguments: Vec<Expr>,
    },
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    If {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    Match {
        value: Box<Expr>,
        arms: Vec<Arm<Expr>>,
    },
    /// Text that could not be parsed. The mistake has been reported.
    Error,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    Negate,
    Not,
    Complement,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    BitAnd,
    BitXor,
    BitOr,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
}

impl ExprKind {
    /// The depth of an expression of this kind.
    pub fn depth(&self) -> u32 {
        let deepest = |all: &[Expr]| all.iter().map(|inner| inner.depth).max().unwrap_or(0);
        let below = match self {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::None
            | ExprKind::Text(_)
            | ExprKind::Name(_)
            | ExprKind::Error => 0,
            ExprKind::Member(inner, _) | ExprKind::Unary(_, inner) => inner.depth,
            ExprKind::Index(left, right) | ExprKind::Binary(_, left, right) => {
                left.depth.max(right.depth)
            }
            ExprKind::Call { function, arguments } => function.depth.max(deepest(arguments)),
            ExprKind::If { condition, then, otherwise } => {
                condition.depth.max(then.depth).max(otherwise.depth)
            }
            ExprKind::Match { value, arms } => {
                arms.iter().map(|arm| arm.body.depth).max().unwrap_or(0).max(value.depth)
            }
        };
        below + 1
    }
}

impl Glob {
    /// Whether a name has the letters around each `*`, in this order and without overlap.
    pub fn matches(&self, name: &str) -> bool {
        let Some((begin, rest)) = self.text.split_once('*') else { return self.text == name };
        let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
        let inner = name.strip_prefix(begin).and_then(|inner| inner.strip_suffix(end));
        let Some(mut inner) = inner else { return false };
        middle.split('*').all(|part| {
            let found = inner.find(part).map(|at| &inner[at + part.len()..]);
            inner = found.unwrap_or_default();
            found.is_some()
        })
    }
}

impl BinaryOp {
    /// Whether the operator compares its operands.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        matches!(self, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_stands_for_any_letters() {
        let check = |glob: &str, name: &str, fits: bool| {
            let found = Glob { text: glob.to_owned(), span: Span::default() }.matches(name);
            assert_eq!(found, fits, "{glob} {name}");
        };
        check("a", "a", true);
        check("a", "ab", false);
        check("a*", "ab", true);
        check("*b", "ab", true);
        check("a*b", "ab", true);
        check("ab*bc", "abc", false);
        check("*b*", "abc", true);
        check("*b*", "b", true);
        check("*b*", "ac", false);
        check("a*b*c*d", "a1b2c3d", true);
        check("a*b*c*d", "a1c2b3d", false);
        check("a*bc*cd", "abcd", false);
    }
}
