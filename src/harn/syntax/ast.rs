//! The tree of a predicate file, in an arena.
//!
//! Every node knows how deep the tree below it is, so that what is too deep is refused
//! before anything walks it.

use crate::diagnostic::Span;

/// A name where it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    /// Its text.
    pub text: &'a str,
    /// Its place.
    pub span: Span,
}

/// A file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Module<'a> {
    /// What it declares, in order.
    pub items: &'a [Item<'a>],
}

/// A declaration at the top of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item<'a> {
    /// What it is.
    pub kind: ItemKind<'a>,
    /// From the first attribute to the end.
    pub span: Span,
}

/// What stands at the top of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ItemKind<'a> {
    /// `import { a, b } from "path"`; without names everything.
    Import {
        /// The names that are wanted.
        names: &'a [Name<'a>],
        /// The word between, which has to be `from`.
        from: Option<Name<'a>>,
        /// Where from.
        path: Name<'a>,
    },
    /// A function with attributes.
    Attributed {
        /// The attributes, at least one.
        attributes: &'a [Attribute<'a>],
        /// What they are of: a function or a type.
        target: Stmt<'a>,
    },
    /// A statement, a function among them.
    Stmt(Stmt<'a>),
}

/// `@name(arguments)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attribute<'a> {
    /// Its name.
    pub name: Name<'a>,
    /// Its arguments.
    pub arguments: &'a [AttributeArgument<'a>],
    /// From the `@`.
    pub span: Span,
}

/// An argument of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttributeArgument<'a> {
    /// `key:`, if there is one.
    pub key: Option<Name<'a>>,
    /// The value.
    pub value: AttributeValue<'a>,
    /// Its place.
    pub span: Span,
}

/// A value in an attribute. Nothing is evaluated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttributeValue<'a> {
    /// A string.
    Str(&'a str),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// `nil`.
    Nil,
    /// A name, or names with dots between, as text.
    Symbol(&'a str),
    /// `name(values)`.
    Call(&'a str, &'a [AttributeValue<'a>]),
    /// `[values]`.
    List(&'a [AttributeValue<'a>]),
    /// `{key: value}`.
    Dict(&'a [(&'a str, AttributeValue<'a>)]),
}

/// A function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Function<'a> {
    /// Its parameters.
    pub params: &'a [Param<'a>],
    /// The type of its result.
    pub result: Option<Type<'a>>,
    /// Its body.
    pub body: Block<'a>,
    /// Whether the value of the last statement is the result.
    pub yields_last: bool,
}

/// A parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param<'a> {
    /// Its name.
    pub name: Name<'a>,
    /// Whether it takes what is left.
    pub is_rest: bool,
    /// Its type.
    pub ty: Option<Type<'a>>,
    /// What it is without an argument.
    pub default: Option<Expr<'a>>,
}

/// A type as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Type<'a> {
    /// What it is.
    pub kind: TypeKind<'a>,
    /// Its place.
    pub span: Span,
    /// How deep it is.
    pub depth: u16,
}

/// A form of type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TypeKind<'a> {
    /// A name with arguments, which may be none. `nil` is one.
    Named(&'a str, &'a [Type<'a>]),
    /// `T?`.
    Optional(&'a Type<'a>),
    /// `A | B`.
    Union(&'a [Type<'a>]),
    /// `[T]`.
    List(&'a Type<'a>),
    /// `fn(A) -> B`.
    Function(&'a [Type<'a>], &'a Type<'a>),
    /// `{f: T, g?: T}`: name, whether it may be missing, type.
    Shape(&'a [(&'a str, bool, Type<'a>)]),
    /// A literal string.
    Str(&'a str),
    /// A literal int.
    Int(i64),
}

/// Statements in braces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block<'a> {
    /// The statements.
    pub stmts: &'a [Stmt<'a>],
    /// With the braces.
    pub span: Span,
    /// How deep it is.
    pub depth: u16,
}

/// A statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stmt<'a> {
    /// What it is.
    pub kind: StmtKind<'a>,
    /// Its place.
    pub span: Span,
    /// How deep it is.
    pub depth: u16,
}

/// A form of statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StmtKind<'a> {
    /// `const p = e` or `let p = e`.
    Bind {
        /// Whether it may be assigned to: `let`.
        mutable: bool,
        /// What is bound.
        pattern: Pattern<'a>,
        /// Its type.
        ty: Option<Type<'a>>,
        /// The value.
        value: Expr<'a>,
    },
    /// `place = e`, `place += e`.
    Assign {
        /// A name, property or index path.
        place: Expr<'a>,
        /// The operator of `+=` and its like.
        op: Option<BinaryOp>,
        /// The value.
        value: Expr<'a>,
    },
    /// `fn name(…) {…}`.
    Function {
        /// Whether it is `pub`.
        public: bool,
        /// Its name.
        name: Name<'a>,
        /// The rest.
        function: Function<'a>,
    },
    /// `type N = T`.
    Type {
        /// Its name.
        name: Name<'a>,
        /// What it stands for.
        ty: Type<'a>,
    },
    /// `while e {…}`.
    While(Expr<'a>, Block<'a>),
    /// `for p in e {…}`.
    For(Pattern<'a>, Expr<'a>, Block<'a>),
    /// `return e`.
    Return(Option<Expr<'a>>),
    /// `throw e`.
    Throw(Expr<'a>),
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `guard e else {…}`.
    Guard(Expr<'a>, Block<'a>),
    /// An expression.
    Expr(Expr<'a>),
    /// What was reported already.
    Broken,
}

/// What a binding takes apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pattern<'a> {
    /// What it is.
    pub kind: PatternKind<'a>,
    /// Its place.
    pub span: Span,
}

/// A form of pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PatternKind<'a> {
    /// A name; `_` binds nothing.
    Name(Name<'a>),
    /// `[a, b = d, ...rest]`.
    List(&'a [Part<'a>]),
    /// `{k, k2: alias, k3 = d, ...rest}`.
    Dict(&'a [Part<'a>]),
}

/// A part of a pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part<'a> {
    /// The key, in a dict.
    pub key: Option<Name<'a>>,
    /// What is bound.
    pub name: Name<'a>,
    /// What it is if there is nothing, or nil.
    pub default: Option<Expr<'a>>,
    /// Whether it takes what is left.
    pub is_rest: bool,
}

/// An expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expr<'a> {
    /// What it is.
    pub kind: ExprKind<'a>,
    /// Its place.
    pub span: Span,
    /// How deep it is.
    pub depth: u16,
}

/// An operator between two operands that are both evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `**`
    Pow,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `in`
    In,
    /// `not in`
    NotIn,
    /// `..`
    Range,
    /// `..=`
    RangeThrough,
}

impl BinaryOp {
    /// As it is written.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
            Self::Pow => "**",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::In => "in",
            Self::NotIn => "not in",
            Self::Range => "..",
            Self::RangeThrough => "..=",
        }
    }
}

/// An operator that may leave its right operand alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogicOp {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `??`
    Coalesce,
}

/// A form of expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExprKind<'a> {
    /// `nil`
    Nil,
    /// `true`, `false`
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A string without holes.
    Str(&'a str),
    /// A string with holes: texts are `Str`.
    Interpolated(&'a [Expr<'a>]),
    /// A name.
    Name(&'a str),
    /// `[…]`
    List(&'a [Arg<'a>]),
    /// `{…}`
    Dict(&'a [Entry<'a>]),
    /// `{ x -> … }` or `fn(x) {…}`
    Closure(&'a Function<'a>),
    /// `!x`
    Not(&'a Expr<'a>),
    /// `-x`
    Negate(&'a Expr<'a>),
    /// Two operands.
    Binary(BinaryOp, &'a Expr<'a>, &'a Expr<'a>),
    /// Two operands of which the second may stay.
    Logic(LogicOp, &'a Expr<'a>, &'a Expr<'a>),
    /// `c ? a : b`
    Ternary(&'a Expr<'a>, &'a Expr<'a>, &'a Expr<'a>),
    /// `x |> f`
    Pipe(&'a Expr<'a>, &'a Expr<'a>),
    /// `x.name`, `x?.name`
    Property {
        /// Of what.
        object: &'a Expr<'a>,
        /// Which.
        name: Name<'a>,
        /// Whether nil stays nil.
        optional: bool,
    },
    /// `x[i]`, `x?.[i]`
    Index {
        /// Of what.
        object: &'a Expr<'a>,
        /// Which.
        index: &'a Expr<'a>,
        /// Whether nil stays nil.
        optional: bool,
    },
    /// `x[a:b]`
    Slice {
        /// Of what.
        object: &'a Expr<'a>,
        /// The first.
        from: Option<&'a Expr<'a>>,
        /// One past the last.
        to: Option<&'a Expr<'a>>,
    },
    /// `f(…)`; of a property it is a method call.
    Call(&'a Expr<'a>, &'a [Arg<'a>]),
    /// `if … {…} else …`
    If {
        /// The condition.
        condition: &'a Expr<'a>,
        /// If it holds.
        then: &'a Block<'a>,
        /// Otherwise.
        otherwise: Option<Else<'a>>,
    },
    /// `match v {…}`
    Match(&'a Expr<'a>, &'a [Arm<'a>]),
    /// `try {…} catch (e) {…} finally {…}`
    Try {
        /// What may fail.
        body: &'a Block<'a>,
        /// What then happens.
        catch: Option<Catch<'a>>,
        /// What happens in any case.
        finally: Option<&'a Block<'a>>,
    },
    /// What was reported already.
    Broken,
}

/// The other branch of an `if`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Else<'a> {
    /// `else if`: an `If`.
    If(&'a Expr<'a>),
    /// `else {…}`
    Block(&'a Block<'a>),
}

/// `catch (name: T) {…}`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Catch<'a> {
    /// What is bound.
    pub name: Option<Name<'a>>,
    /// A type, which only an enum of the full language can match.
    pub ty: Option<Type<'a>>,
    /// What happens.
    pub body: &'a Block<'a>,
}

/// An argument or an item of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arg<'a> {
    /// The value.
    pub value: Expr<'a>,
    /// `...`: its items.
    pub is_spread: bool,
}

/// An entry of a dict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entry<'a> {
    /// `key: value`
    Named(Name<'a>, Expr<'a>),
    /// `[key]: value`
    Computed(Expr<'a>, Expr<'a>),
    /// `...dict`
    Spread(Expr<'a>),
}

/// An arm of a `match`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arm<'a> {
    /// What it matches, as expressions.
    pub patterns: &'a [Expr<'a>],
    /// What has to hold as well.
    pub guard: Option<Expr<'a>>,
    /// What it comes to.
    pub body: Block<'a>,
}
