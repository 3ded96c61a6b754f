//! Type inference. Every form has one type, so one walk settles it.

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use crate::diagnostic::{Code, Diagnostic, Span};
use crate::facts::Primitive;
use crate::language::Language;
use crate::syntax::{
    Argument, CompareOp, Expr, ExprKind, Field, Method, Selector, SelectorKind, Sink, clip,
};

use super::typed::{Stream, SubstringOp, TBool, TBoolKind, TInt, TIntKind, TStr, TStrKind};

/// What an expression turned out to be.
#[derive(Clone, Copy)]
enum Value<'a> {
    Bool(TBoolKind<'a>),
    Int(TIntKind<'a>),
    Str(TStrKind<'a>),
    Test(&'a str),
    Run(&'a str),
    /// Reported already; whatever is done with it is no news.
    Broken,
}

impl Value<'_> {
    const fn type_name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "a bool",
            Self::Int(_) => "an int",
            Self::Str(_) => "a string",
            Self::Test(_) => "the record of a test",
            Self::Run(_) => "the record of a run",
            Self::Broken => "nothing",
        }
    }

    /// What a value of its type has after a dot.
    const fn members(&self) -> &'static str {
        match self {
            Self::Test(_) => "a test has `.passed`",
            Self::Run(_) => "a run has `.exit`, `.stdout` and `.stderr`",
            Self::Str(_) => "a string has `.contains(\"…\")` and `.matches(/…/)`",
            Self::Int(_) => "an int has no fields; compare it, as in `>= 1`",
            Self::Bool(_) | Self::Broken => "a bool has no fields; it is a check as it stands",
        }
    }
}

/// The state of a check. The other half of it, `arguments`, looks at literals.
pub(super) struct Checker<'a, 's> {
    pub(super) language: Language,
    pub(super) source: &'a str,
    pub(super) arena: &'a Bump,
    pub(super) sink: &'s mut Sink,
}

impl<'a, 's> Checker<'a, 's> {
    pub(super) fn new(
        language: Language,
        source: &'a str,
        arena: &'a Bump,
        sink: &'s mut Sink,
    ) -> Self {
        Self {
            language,
            source,
            arena,
            sink,
        }
    }

    /// The whole source, which must be a bool; `None` if it was reported.
    pub(super) fn predicate(&mut self, expr: &Expr<'a>) -> Option<TBool<'a>> {
        self.bool(expr)
    }

    pub(super) fn error(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<Box<str>>,
        help: impl Into<Box<str>>,
    ) {
        self.sink
            .push(Diagnostic::error(code, span, message).help(help));
    }

    fn text(&self, span: Span) -> String {
        clip(&self.source[span.range()])
    }

    fn bool(&mut self, expr: &Expr<'a>) -> Option<TBool<'a>> {
        let span = expr.span;
        match self.infer(expr) {
            Value::Bool(kind) => Some(TBool { kind, span }),
            value => {
                self.not_a_bool(value, span);
                None
            }
        }
    }

    fn not_a_bool(&mut self, value: Value<'a>, span: Span) {
        let text = self.text(span);
        let help = match value {
            Value::Bool(_) | Value::Broken => return,
            Value::Int(TIntKind::Exit(_)) => format!("to claim success write `{text} == 0`"),
            Value::Int(TIntKind::Const(_)) => {
                "compare it with a count, as in `grep(/…/, \"path\") >= 1`".to_owned()
            }
            Value::Int(_) => format!("to claim that there is one write `{text} >= 1`"),
            Value::Str(TStrKind::Const(_)) => {
                "name a check, such as `grep(/…/, \"path\") >= 1`".to_owned()
            }
            Value::Str(_) => format!("say what it holds: `{text}.contains(\"…\")`"),
            Value::Test(_) => format!("write `{text}.passed`"),
            Value::Run(_) => format!("to claim success write `{text}.exit == 0`"),
        };
        let message = format!("`{text}` is {}, not a bool", value.type_name());
        self.error(Code::NotABool, span, message, help);
    }

    /// Nested expressions come back here: every form has a function of its own,
    /// which keeps this frame small.
    fn infer(&mut self, expr: &Expr<'a>) -> Value<'a> {
        match expr.kind {
            ExprKind::Or(operands) => self.junction(operands, TBoolKind::Or),
            ExprKind::And(operands) => self.junction(operands, TBoolKind::And),
            ExprKind::Not(count, operand) => self.negation(count, operand),
            ExprKind::Compare(op, left, right) => self.comparison(expr.span, op, left, right),
            ExprKind::Select(base, selectors) => self.selection(base, selectors),
            ExprKind::Call(primitive, arguments) => self.call(primitive, arguments, expr.span),
            ExprKind::Int(value) => Value::Int(TIntKind::Const(value)),
            ExprKind::Str(value) => Value::Str(TStrKind::Const(value)),
            ExprKind::Bool(value) => Value::Bool(TBoolKind::Const(value)),
            ExprKind::Broken => Value::Broken,
        }
    }

    fn negation(&mut self, count: u32, operand: &Expr<'a>) -> Value<'a> {
        match self.bool(operand) {
            None => Value::Broken,
            Some(inner) if count.is_multiple_of(2) => Value::Bool(inner.kind),
            Some(inner) => Value::Bool(TBoolKind::Not(self.arena.alloc(inner))),
        }
    }

    fn comparison(
        &mut self,
        span: Span,
        op: CompareOp,
        left: &Expr<'a>,
        right: &Expr<'a>,
    ) -> Value<'a> {
        let a = self.infer(left);
        let b = self.infer(right);
        self.compare(span, op, (a, left.span), (b, right.span))
    }

    fn selection(&mut self, base: &Expr<'a>, selectors: &[Selector<'a>]) -> Value<'a> {
        let value = self.infer(base);
        self.select(value, base.span, selectors)
    }

    /// Operands of `&&` or `||`. Every one is looked at, for all the errors
    /// there are.
    fn junction(
        &mut self,
        operands: &[Expr<'a>],
        kind: fn(&'a [TBool<'a>]) -> TBoolKind<'a>,
    ) -> Value<'a> {
        let mut typed = BumpVec::with_capacity_in(operands.len(), self.arena);
        for operand in operands {
            if let Some(operand) = self.bool(operand) {
                typed.push(operand);
            }
        }
        if typed.len() == operands.len() {
            Value::Bool(kind(typed.into_bump_slice()))
        } else {
            Value::Broken
        }
    }

    fn compare(
        &mut self,
        span: Span,
        op: CompareOp,
        (a, left): (Value<'a>, Span),
        (b, right): (Value<'a>, Span),
    ) -> Value<'a> {
        let negated = op == CompareOp::Ne;
        let equality = negated || op == CompareOp::Eq;
        Value::Bool(match (a, b) {
            (Value::Broken, _) | (_, Value::Broken) => return Value::Broken,
            (Value::Int(a), Value::Int(b)) => TBoolKind::CompareInt(
                op,
                TInt {
                    kind: a,
                    span: left,
                },
                TInt {
                    kind: b,
                    span: right,
                },
            ),
            (Value::Bool(a), Value::Bool(b)) if equality => TBoolKind::EqualBool {
                negated,
                left: self.arena.alloc(TBool {
                    kind: a,
                    span: left,
                }),
                right: self.arena.alloc(TBool {
                    kind: b,
                    span: right,
                }),
            },
            (Value::Str(a), Value::Str(b)) if equality => TBoolKind::EqualStr {
                negated,
                left: TStr {
                    kind: a,
                    span: left,
                },
                right: TStr {
                    kind: b,
                    span: right,
                },
            },
            (a, b) => {
                self.mismatch(span, op, (a, left), (b, right));
                return Value::Broken;
            }
        })
    }

    fn mismatch(
        &mut self,
        span: Span,
        op: CompareOp,
        (a, left): (Value<'a>, Span),
        (b, right): (Value<'a>, Span),
    ) {
        let symbol = op.symbol();
        let help = match (a, b) {
            (Value::Test(_), _) => format!("write `{}.passed`", self.text(left)),
            (_, Value::Test(_)) => format!("write `{}.passed`", self.text(right)),
            (Value::Run(_), Value::Str(_)) => {
                format!("write `{}.stdout.contains(\"…\")`", self.text(left))
            }
            (Value::Run(_), _) => format!("write `{}.exit {symbol} 0`", self.text(left)),
            (_, Value::Run(_)) => format!("write `0 {symbol} {}.exit`", self.text(right)),
            (Value::Bool(_), Value::Int(_)) => {
                format!("`{}` is a check as it stands", self.text(left))
            }
            (Value::Int(_), Value::Bool(_)) => {
                format!("`{}` is a check as it stands", self.text(right))
            }
            (Value::Int(_), Value::Str(TStrKind::Const(_)))
            | (Value::Str(TStrKind::Const(_)), Value::Int(_)) => {
                "write the number without quotes".to_owned()
            }
            (Value::Str(_), Value::Str(_)) => {
                "strings have no order; use `==`, `.contains` or `.matches`".to_owned()
            }
            (Value::Bool(_), Value::Bool(_)) => "bools have no order; use `==` or `!=`".to_owned(),
            _ => "both sides must be ints, bools or strings".to_owned(),
        };
        let message = format!(
            "`{symbol}` cannot compare {} with {}",
            a.type_name(),
            b.type_name()
        );
        self.error(Code::TypeMismatch, span, message, help);
    }

    fn select(
        &mut self,
        mut value: Value<'a>,
        mut span: Span,
        selectors: &[Selector<'a>],
    ) -> Value<'a> {
        for selector in selectors {
            value = match (value, selector.kind) {
                (Value::Broken, _) | (_, SelectorKind::Broken) => return Value::Broken,
                (value, SelectorKind::Field(field)) => self.field(value, field, selector.span),
                (Value::Str(kind), SelectorKind::Method(method, arguments)) => {
                    self.method(TStr { kind, span }, method, arguments, selector.span)
                }
                (value, SelectorKind::Method(method, _)) => {
                    self.no_method(&value, method, selector.span);
                    Value::Broken
                }
            };
            span.end = selector.span.end;
        }
        value
    }

    fn field(&mut self, value: Value<'a>, field: Field, span: Span) -> Value<'a> {
        match (value, field) {
            (Value::Test(name), Field::Passed) => Value::Bool(TBoolKind::Passed(name)),
            (Value::Run(command), Field::Exit) => Value::Int(TIntKind::Exit(command)),
            (Value::Run(command), Field::Stdout) => {
                Value::Str(TStrKind::Output(command, Stream::Stdout))
            }
            (Value::Run(command), Field::Stderr) => {
                self.sink.push(
                    Diagnostic::warning(
                        Code::StderrField,
                        span,
                        "other implementations of the language may refuse `.stderr`",
                    )
                    .help("to be read everywhere use `.stdout` or `.exit`"),
                );
                Value::Str(TStrKind::Output(command, Stream::Stderr))
            }
            (Value::Str(TStrKind::Output(command, stream)), Field::Lines) => {
                Value::Int(TIntKind::Lines(command, stream))
            }
            _ => {
                let help = match (&value, field) {
                    (Value::Run(_), Field::Passed) => "a run that went well has `.exit == 0`",
                    (Value::Run(_), Field::Lines) => "output has lines: `.stdout.lines`",
                    (Value::Str(_), Field::Lines) => "only output has lines: `.stdout.lines`",
                    _ => value.members(),
                };
                self.no_member(&value, field.name(), span, help);
                Value::Broken
            }
        }
    }

    fn no_method(&mut self, value: &Value<'a>, method: Method, span: Span) {
        let help = match value {
            Value::Run(_) => format!("search its output: `.stdout.{}(…)`", method.name()),
            _ => value.members().to_owned(),
        };
        self.no_member(value, method.name(), span, &help);
    }

    fn no_member(&mut self, value: &Value<'a>, name: &str, span: Span, help: &str) {
        let message = format!("{} has no `.{name}`", value.type_name());
        self.error(Code::NoSuchField, span, message, help);
    }

    fn method(
        &mut self,
        subject: TStr<'a>,
        method: Method,
        arguments: &[Argument<'a>],
        span: Span,
    ) -> Value<'a> {
        let Some([argument]) = self.arity(method.name(), arguments, span) else {
            return Value::Broken;
        };
        let op = match method {
            Method::Contains => SubstringOp::Contains,
            Method::StartsWith => SubstringOp::StartsWith,
            Method::EndsWith => SubstringOp::EndsWith,
            Method::Matches => {
                return self
                    .pattern(argument, "matches")
                    .map_or(Value::Broken, |pattern| {
                        Value::Bool(TBoolKind::Matches(subject, pattern))
                    });
            }
        };
        let Some(needle) = self.string(argument, method.name()) else {
            return Value::Broken;
        };
        if needle.is_empty() {
            self.sink.push(
                Diagnostic::warning(
                    Code::EmptyNeedle,
                    argument.span,
                    "every string has the empty one in it",
                )
                .help("say what text is wanted; that there is no output is `.stdout == \"\"`"),
            );
        }
        Value::Bool(TBoolKind::Substring(op, subject, needle))
    }

    fn call(&mut self, primitive: Primitive, arguments: &[Argument<'a>], span: Span) -> Value<'a> {
        let name = primitive.name();
        match primitive {
            Primitive::Grep | Primitive::Count => {
                let Some([pattern, path]) = self.arity(name, arguments, span) else {
                    return Value::Broken;
                };
                let (Some(pattern), Some(path)) =
                    (self.pattern(pattern, name), self.path(path, name))
                else {
                    return Value::Broken;
                };
                Value::Int(if primitive == Primitive::Grep {
                    TIntKind::Grep(pattern, path)
                } else {
                    TIntKind::Count(pattern, path)
                })
            }
            Primitive::Exists => self
                .arity(name, arguments, span)
                .and_then(|[path]: &[_; 1]| self.path(path, name))
                .map_or(Value::Broken, |path| Value::Bool(TBoolKind::Exists(path))),
            Primitive::Test => self
                .arity(name, arguments, span)
                .and_then(|[test]: &[_; 1]| self.string(test, name))
                .map_or(Value::Broken, Value::Test),
            Primitive::Run => self
                .arity(name, arguments, span)
                .and_then(|[command]: &[_; 1]| self.command(command))
                .map_or(Value::Broken, Value::Run),
        }
    }
}
