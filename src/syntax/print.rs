//! The canonical text of a tree: one space around operators, no redundant
//! parentheses, literals with the fewest escapes. Parsing it as
//! `elench-predicate-v2` gives the same tree.

use super::ast::{Argument, ArgumentKind, Expr, ExprKind, SelectorKind};
use super::quoting::{quote, slash};

/// How tightly a form binds, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Not,
    Comparison,
    Term,
}

/// Writes a tree as a source. A broken place becomes `?`, which no language
/// reads.
#[must_use]
pub fn print(expr: &Expr<'_>) -> String {
    let mut out = String::new();
    write_expr(&mut out, expr, Level::Or);
    out
}

const fn level(kind: &ExprKind<'_>) -> Level {
    match kind {
        ExprKind::Or(_) => Level::Or,
        ExprKind::And(_) => Level::And,
        ExprKind::Not(..) => Level::Not,
        ExprKind::Compare(..) => Level::Comparison,
        _ => Level::Term,
    }
}

/// Writes an expression where one of at least that level is wanted.
fn write_expr(out: &mut String, expr: &Expr<'_>, wanted: Level) {
    let grouped = level(&expr.kind) < wanted;
    if grouped {
        out.push('(');
    }
    match &expr.kind {
        ExprKind::Or(operands) => write_operands(out, operands, " || ", Level::And),
        ExprKind::And(operands) => write_operands(out, operands, " && ", Level::Not),
        ExprKind::Not(count, operand) => {
            (0..*count).for_each(|_| out.push('!'));
            write_expr(out, operand, Level::Comparison);
        }
        ExprKind::Compare(op, left, right) => {
            write_expr(out, left, Level::Term);
            out.push(' ');
            out.push_str(op.symbol());
            out.push(' ');
            write_expr(out, right, Level::Term);
        }
        ExprKind::Select(base, selectors) => {
            // Selectors of a group are a form of their own: `((a).b).c`.
            write_head(out, base);
            for selector in *selectors {
                out.push('.');
                match selector.kind {
                    SelectorKind::Field(field) => out.push_str(field.name()),
                    SelectorKind::Method(method, arguments) => {
                        out.push_str(method.name());
                        write_arguments(out, arguments);
                    }
                    SelectorKind::Broken => out.push('?'),
                }
            }
        }
        ExprKind::Call(primitive, arguments) => {
            out.push_str(primitive.name());
            write_arguments(out, arguments);
        }
        ExprKind::Int(value) => out.push_str(&value.to_string()),
        ExprKind::Str(value) => out.push_str(&quote(value)),
        ExprKind::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        ExprKind::Broken => out.push('?'),
    }
    if grouped {
        out.push(')');
    }
}

fn write_head(out: &mut String, base: &Expr<'_>) {
    if matches!(base.kind, ExprKind::Select(..)) {
        out.push('(');
        write_expr(out, base, Level::Or);
        out.push(')');
    } else {
        write_expr(out, base, Level::Term);
    }
}

fn write_operands(out: &mut String, operands: &[Expr<'_>], separator: &str, wanted: Level) {
    for (index, operand) in operands.iter().enumerate() {
        if index > 0 {
            out.push_str(separator);
        }
        write_expr(out, operand, wanted);
    }
}

fn write_arguments(out: &mut String, arguments: &[Argument<'_>]) {
    out.push('(');
    for (index, argument) in arguments.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        match argument.kind {
            ArgumentKind::Str(value) => out.push_str(&quote(value)),
            ArgumentKind::Regex(text, flags) => {
                out.push('/');
                out.push_str(&slash(text));
                out.push('/');
                out.push_str(&flags.to_string());
            }
            ArgumentKind::Int(value) => out.push_str(&value.to_string()),
            ArgumentKind::Bool(value) => out.push_str(if value { "true" } else { "false" }),
            ArgumentKind::Broken => out.push('?'),
        }
    }
    out.push(')');
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;
    use proptest::prelude::*;

    use super::*;
    use crate::Language;
    use crate::facts::{Primitive, RegexFlags};
    use crate::syntax::ast::{CompareOp, Field, Method, Selector};
    use crate::syntax::parse;

    /// A tree that owns its parts, for generation.
    #[derive(Clone, Debug)]
    enum Tree {
        Or(Vec<Self>),
        And(Vec<Self>),
        Not(u32, Box<Self>),
        Compare(CompareOp, Box<Self>, Box<Self>),
        Select(Box<Self>, Vec<Field>, Option<(Method, Literal)>),
        Call(Primitive, Vec<Literal>),
        Int(i64),
        Str(String),
        Bool(bool),
    }

    #[derive(Clone, Debug)]
    enum Literal {
        Str(String),
        Regex(String, u8),
        Int(i64),
        Bool(bool),
    }

    fn literal() -> impl Strategy<Value = Literal> {
        prop_oneof![
            ".{0,6}".prop_map(Literal::Str),
            (regex_text(), 0..8_u8).prop_map(|(text, flags)| Literal::Regex(text, flags)),
            any::<i64>().prop_map(Literal::Int),
            any::<bool>().prop_map(Literal::Bool),
        ]
    }

    /// What can stand between slashes once `\/` is `/`.
    fn regex_text() -> impl Strategy<Value = String> {
        r"([^\\\n\r]|\\[^/\n\r]){1,6}"
    }

    fn tree() -> impl Strategy<Value = Tree> {
        let op = prop::sample::select(vec![
            CompareOp::Eq,
            CompareOp::Ne,
            CompareOp::Lt,
            CompareOp::Le,
            CompareOp::Gt,
            CompareOp::Ge,
        ]);
        let field = prop::sample::select(vec![
            Field::Passed,
            Field::Exit,
            Field::Stdout,
            Field::Stderr,
            Field::Lines,
        ]);
        let method = prop::sample::select(vec![
            Method::Contains,
            Method::StartsWith,
            Method::EndsWith,
            Method::Matches,
        ]);
        let primitive = prop::sample::select(vec![
            Primitive::Exists,
            Primitive::Grep,
            Primitive::Count,
            Primitive::Test,
            Primitive::Run,
        ]);
        let leaf = prop_oneof![
            (primitive, prop::collection::vec(literal(), 0..3))
                .prop_map(|(primitive, list)| Tree::Call(primitive, list)),
            any::<i64>().prop_map(Tree::Int),
            ".{0,6}".prop_map(Tree::Str),
            any::<bool>().prop_map(Tree::Bool),
        ];
        leaf.prop_recursive(4, 24, 3, move |inner| {
            let list = prop::collection::vec(inner.clone(), 2..4);
            let call = prop::option::of((method.clone(), literal()));
            prop_oneof![
                list.clone().prop_map(Tree::Or),
                list.prop_map(Tree::And),
                (1..4_u32, inner.clone()).prop_map(|(n, tree)| Tree::Not(n, Box::new(tree))),
                (op.clone(), inner.clone(), inner.clone()).prop_map(|(op, a, b)| Tree::Compare(
                    op,
                    Box::new(a),
                    Box::new(b)
                )),
                (inner, prop::collection::vec(field.clone(), 1..3), call)
                    .prop_map(|(base, fields, call)| Tree::Select(Box::new(base), fields, call)),
            ]
        })
    }

    fn build<'a>(tree: &'a Tree, arena: &'a Bump) -> Expr<'a> {
        let list = |trees: &'a [Tree]| -> &'a [Expr<'a>] {
            arena.alloc_slice_fill_iter(trees.iter().map(|tree| build(tree, arena)))
        };
        let one = |tree: &'a Tree| -> &'a Expr<'a> { arena.alloc(build(tree, arena)) };
        let kind = match tree {
            Tree::Or(trees) => ExprKind::Or(list(trees)),
            Tree::And(trees) => ExprKind::And(list(trees)),
            Tree::Not(count, inner) => ExprKind::Not(*count, one(inner)),
            Tree::Compare(op, left, right) => ExprKind::Compare(*op, one(left), one(right)),
            Tree::Select(base, fields, call) => {
                let mut selectors: Vec<_> =
                    fields.iter().copied().map(SelectorKind::Field).collect();
                if let Some((method, literal)) = call {
                    let arguments = arena.alloc_slice_copy(&[argument(literal)]);
                    selectors.push(SelectorKind::Method(*method, arguments));
                }
                let selectors = selectors.into_iter().map(|kind| Selector {
                    kind,
                    span: Default::default(),
                });
                let selectors: Vec<_> = selectors.collect();
                ExprKind::Select(one(base), arena.alloc_slice_copy(&selectors))
            }
            Tree::Call(primitive, literals) => ExprKind::Call(
                *primitive,
                arena.alloc_slice_fill_iter(literals.iter().map(argument)),
            ),
            Tree::Int(value) => ExprKind::Int(*value),
            Tree::Str(value) => ExprKind::Str(value),
            Tree::Bool(value) => ExprKind::Bool(*value),
        };
        Expr {
            kind,
            span: Default::default(),
        }
    }

    fn argument(literal: &Literal) -> Argument<'_> {
        Argument {
            kind: match literal {
                Literal::Str(value) => ArgumentKind::Str(value),
                Literal::Regex(text, flags) => {
                    ArgumentKind::Regex(text, RegexFlags::from_bits(*flags).unwrap())
                }
                Literal::Int(value) => ArgumentKind::Int(*value),
                Literal::Bool(value) => ArgumentKind::Bool(*value),
            },
            span: Default::default(),
        }
    }

    /// The tree without its places, in full.
    fn shape(expr: &Expr<'_>) -> String {
        let text = format!("{expr:?}");
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once("span: Span {") {
            out.push_str(before);
            rest = after.split_once('}').map_or("", |(_, behind)| behind);
        }
        out + rest
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn printing_and_parsing_give_the_same_tree(tree in tree()) {
            let arena = Bump::new();
            let expr = build(&tree, &arena);
            let text = print(&expr);
            let source = arena.alloc_str(&text);
            let parsed = parse(Language::ElenchV2, source, &arena);
            prop_assert!(parsed.diagnostics.is_empty(), "{}: {:?}", text, parsed.diagnostics);
            let again = parsed.expr.unwrap();
            prop_assert_eq!(shape(&again), shape(&expr), "{}", &text);
            prop_assert_eq!(print(&again), text);
        }

        #[test]
        fn no_text_makes_the_parser_panic(
            text in r#"(grep|run|exists|test|count|\(|\)|"|'|/|\\|!|&&|\|\||==|=|<|,|\.|stdout|contains|matches|lines|foo|and|1|-|é|\n|#|[ -~]| |\PC){0,40}"#
        ) {
            for language in Language::ALL {
                let arena = Bump::new();
                let parsed = parse(language, &text, &arena);
                if parsed.diagnostics.is_empty() {
                    prop_assert!(parsed.expr.is_some());
                }
                for diagnostic in &parsed.diagnostics {
                    prop_assert!(text.get(diagnostic.span.range()).is_some());
                    prop_assert!(diagnostic.help.is_some());
                }
            }
        }
    }
}
