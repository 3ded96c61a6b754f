//! Calls: of functions by name, of builtins, of methods and of values.

use crate::code::Op;
use crate::diagnostic::Span;
use crate::harn::builtins::{Builtin, constant_fact, removed};
use crate::harn::problem::HarnCode;
use crate::harn::syntax::ast::{Arg, Expr, ExprKind, Name};

use super::function::Reg;
use super::names::Found;
use super::top::Global;
use super::unit::Compiler;

/// Calls with more arguments go through a list.
const MOST_PLAIN: usize = 100;

impl<'a> Compiler<'a, '_> {
    /// `callee(args)`, its result in `dst`.
    pub(super) fn call(&mut self, callee: &'a Expr<'a>, args: &'a [Arg<'a>], span: Span, dst: Reg) {
        let mark = self.top().mark();
        // The register of the result, if it is the last, is that of the callee.
        let base = if usize::from(dst) + 1 == mark {
            dst
        } else {
            self.top().alloc()
        };
        let is_plain = args.len() <= MOST_PLAIN && args.iter().all(|arg| !arg.is_spread);
        match &callee.kind {
            ExprKind::Property {
                object,
                name,
                optional,
            } => self.method(object, *name, *optional, args, is_plain, span, base),
            ExprKind::Name(name) => match self.find(name) {
                Some(Found::Builtin(builtin)) if is_plain => {
                    self.builtin(builtin, args, span, base);
                }
                Some(Found::Global(Global::Builtin(number))) if is_plain => {
                    self.builtin(Builtin(number), args, span, base);
                }
                Some(found) => {
                    self.check_arity(name, &found, args, is_plain, span);
                    self.load(name, callee.span, base);
                    self.arguments(args, is_plain, span, base);
                }
                None => {
                    self.unknown(name, callee.span, HarnCode::UnknownFunction);
                }
            },
            _ => {
                self.expr(callee, base);
                self.arguments(args, is_plain, span, base);
            }
        }
        if base != dst {
            self.top().abc(Op::Take, dst, base, 0);
        }
        self.top().release(mark);
    }

    /// Evaluates arguments into the registers after `base` and calls what is in it.
    fn arguments(&mut self, args: &'a [Arg<'a>], is_plain: bool, span: Span, base: Reg) {
        if is_plain {
            let count = self.plain_arguments(args);
            self.top().span = span;
            self.top().abc(Op::Call, base, count, 0);
        } else {
            let list = self.top().alloc();
            self.gather(args, list);
            self.top().span = span;
            self.top().abc(Op::CallSpread, base, 0, 0);
        }
    }

    fn plain_arguments(&mut self, args: &'a [Arg<'a>]) -> u8 {
        for arg in args {
            let register = self.top().alloc();
            self.expr(&arg.value, register);
        }
        self.small(args.len())
    }

    fn check_arity(
        &mut self,
        name: &str,
        found: &Found<'a>,
        args: &[Arg<'a>],
        is_plain: bool,
        span: Span,
    ) {
        let Found::Global(Global::Function(_, Some(function))) = found else {
            return;
        };
        let least = function
            .params
            .iter()
            .filter(|param| param.default.is_none() && !param.is_rest)
            .count();
        if is_plain && args.len() < least {
            let message = format!("`{name}` wants {least} arguments and gets {}", args.len());
            self.error(HarnCode::Arity, span, message, "");
        }
    }

    fn builtin(&mut self, builtin: Builtin, args: &'a [Arg<'a>], span: Span, base: Reg) {
        let signature = builtin.signature();
        let (least, most) = (usize::from(signature.least), usize::from(signature.most));
        if !(least..=most).contains(&args.len()) {
            let message = format!(
                "`{}` takes {least} to {most} arguments and gets {}",
                signature.name,
                args.len()
            );
            self.error(HarnCode::Arity, span, message, "");
        }
        if let Some((pattern, text)) = constant_args(self, signature.name, args) {
            self.expr(text, base);
            self.top().span = span;
            let pattern = self.top().pattern(pattern);
            self.top().abc(Op::RegexAll, base, base, pattern);
            return;
        }
        self.note_fact(signature.name, args, span);
        self.note_pattern(signature.name, args);
        // The first argument takes the place of the callee.
        let mut args = args.iter();
        let mut count = 0;
        if let Some(first) = args.next() {
            self.expr(&first.value, base);
            count = 1;
        }
        for arg in args {
            let register = self.top().alloc();
            self.expr(&arg.value, register);
            count += 1;
        }
        let count = self.small(count);
        self.top().span = span;
        self.top().abc(Op::CallBuiltin, base, count, builtin.0);
    }

    /// Puts down what a call asks of the workspace, if that is known.
    fn note_fact(&mut self, name: &str, args: &'a [Arg<'a>], span: Span) {
        if !matches!(name, "grep" | "exists") {
            return;
        }
        let texts = args.iter().map(|arg| self.known_text(&arg.value));
        let Some(texts) = texts.collect::<Option<Vec<_>>>() else {
            return;
        };
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        if let Some(fact) = constant_fact(name, &texts) {
            let span = self.own(span);
            self.facts.entry(fact).or_insert(span);
        }
    }

    /// The pattern and the text of a call of `regex_match` with a constant pattern.
    pub(super) fn constant_match(&mut self, expr: &'a Expr<'a>) -> Option<(u32, &'a Expr<'a>)> {
        let ExprKind::Call(callee, args) = expr.kind else {
            return None;
        };
        let ExprKind::Name(name) = callee.kind else {
            return None;
        };
        if !matches!(self.find(name), Some(Found::Builtin(_))) {
            return None;
        }
        constant_args(self, name, args)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one expression")]
    fn method(
        &mut self,
        object: &'a Expr<'a>,
        name: Name<'a>,
        optional: bool,
        args: &'a [Arg<'a>],
        is_plain: bool,
        span: Span,
        base: Reg,
    ) {
        if let Some(hint) = removed(name.text) {
            let message = format!("there is no method `{}`", name.text);
            self.error(HarnCode::RemovedMethod, name.span, message, hint);
        }
        self.expr(object, base);
        let count = if is_plain {
            self.plain_arguments(args)
        } else {
            let list = self.top().alloc();
            self.gather(args, list);
            0
        };
        let number = self.top().name(name.text);
        self.top().span = span;
        // The arguments are evaluated in any case.
        let skip = optional.then(|| self.top().jump(Op::IfNil, base));
        if is_plain {
            self.top().abc(Op::CallMethod, base, count, number);
        } else {
            self.top().abc(Op::SpreadMethod, base, 0, number);
        }
        if let Some(skip) = skip {
            self.top().land(skip);
        }
    }

    /// `return callee(args)`, which takes the place of the function. False if it is no
    /// such call.
    pub(super) fn tail_call(
        &mut self,
        callee: &'a Expr<'a>,
        args: &'a [Arg<'a>],
        span: Span,
    ) -> bool {
        let ExprKind::Name(name) = callee.kind else {
            return false;
        };
        let is_plain = args.len() <= MOST_PLAIN && args.iter().all(|arg| !arg.is_spread);
        let Some(found) = self.find(name) else {
            return false;
        };
        let is_function = matches!(
            found,
            Found::Local(_) | Found::Captured(..) | Found::Global(Global::Function(..))
        );
        if !is_plain || !is_function || self.stack.len() < 2 {
            return false;
        }
        self.check_arity(name, &found, args, is_plain, span);
        let base = self.top().alloc();
        self.load(name, callee.span, base);
        let count = self.plain_arguments(args);
        self.top().span = span;
        self.top().abc(Op::CallTail, base, count, 0);
        true
    }
}

/// A call of `regex_match` of which pattern and flags are known.
fn constant_args<'a>(
    compiler: &mut Compiler<'a, '_>,
    name: &str,
    args: &'a [Arg<'a>],
) -> Option<(u32, &'a Expr<'a>)> {
    if name != "regex_match" || args.iter().any(|arg| arg.is_spread) {
        return None;
    }
    let (pattern, text, flags) = match args {
        [pattern, text] => (pattern, text, None),
        [pattern, text, flags] => (pattern, text, Some(flags)),
        _ => return None,
    };
    let known = compiler.known_text(&pattern.value)?;
    let flags = compiler.known_flags(flags)?;
    let number = compiler.intern_pattern(&known, &flags, pattern.value.span);
    Some((number, &text.value))
}
