//! Whether an expression depends on the world, by trying every world that
//! could make a difference.
//!
//! A world here gives each distinct number and each distinct question about a
//! string a value of its own, without asking whether the answers agree with
//! each other. There are more such worlds than real ones, so what is constant
//! over them is constant.

use std::collections::BTreeMap;

use super::tree::{Expr, Fact, Method};

/// Above this many worlds nothing is claimed.
const MAX_WORLDS: usize = 100_000;

/// What a leaf of the tree may be worth.
type Domains = BTreeMap<String, Vec<i64>>;

/// The value of an expression that has the same one in every world; `None` if
/// it has not, or if there are too many worlds to try.
pub(crate) fn constant(expr: &Expr) -> Option<bool> {
    let mut literals = vec![0];
    collect_literals(expr, &mut literals);
    let mut domains = Domains::new();
    collect_domains(expr, &literals, &mut domains);

    let mut worlds: usize = 1;
    for domain in domains.values() {
        worlds = worlds.saturating_mul(domain.len());
    }
    if worlds > MAX_WORLDS {
        return None;
    }
    let first = holds(expr, &world(&domains, 0));
    (1..worlds)
        .all(|number| holds(expr, &world(&domains, number)) == first)
        .then_some(first)
}

/// The world of a number: the digits of the number in mixed radix.
fn world(domains: &Domains, mut number: usize) -> BTreeMap<&str, i64> {
    let mut world = BTreeMap::new();
    for (leaf, domain) in domains {
        world.insert(leaf.as_str(), domain[number % domain.len()]);
        number /= domain.len();
    }
    world
}

fn collect_literals(expr: &Expr, literals: &mut Vec<i64>) {
    match expr {
        Expr::Int(value) => literals.push(*value),
        Expr::Not(operand) => collect_literals(operand, literals),
        Expr::And(operands) | Expr::Or(operands) => {
            for operand in operands {
                collect_literals(operand, literals);
            }
        }
        Expr::Compare(_, left, right) => {
            collect_literals(left, literals);
            collect_literals(right, literals);
        }
        _ => {}
    }
}

fn collect_domains(expr: &Expr, literals: &[i64], domains: &mut Domains) {
    match expr {
        Expr::Not(operand) => collect_domains(operand, literals, domains),
        Expr::And(operands) | Expr::Or(operands) => {
            for operand in operands {
                collect_domains(operand, literals, domains);
            }
        }
        Expr::Compare(op, left, right) => {
            if let Some(leaf) = string_question(op, left, right) {
                domains.insert(leaf, vec![0, 1]);
            } else {
                collect_domains(left, literals, domains);
                collect_domains(right, literals, domains);
            }
        }
        _ if is_number(expr) => {
            domains.insert(leaf(expr), numbers(literals, is_exit(expr)));
        }
        Expr::Call(Fact::Exists(_)) | Expr::Field(..) | Expr::Method(..)
            if folded(expr).is_none() =>
        {
            domains.insert(leaf(expr), vec![0, 1]);
        }
        _ => {}
    }
}

/// The literals, their neighbours and the ends of the range: an exit status has
/// 32 bits, and everything else counts something.
fn numbers(literals: &[i64], is_exit: bool) -> Vec<i64> {
    let (least, most) = if is_exit {
        (i64::from(i32::MIN), i64::from(i32::MAX))
    } else {
        (0, i64::MAX)
    };
    let mut numbers = vec![least, most];
    for literal in literals {
        for step in -2..=2 {
            numbers.push(literal.saturating_add(step));
        }
    }
    numbers.retain(|number| (least..=most).contains(number));
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn leaf(expr: &Expr) -> String {
    format!("{expr:?}")
}

fn is_number(expr: &Expr) -> bool {
    match expr {
        Expr::Call(Fact::Grep(..) | Fact::Count(..)) => true,
        Expr::Field(_, name) => name == "exit" || name == "lines",
        _ => false,
    }
}

fn is_exit(expr: &Expr) -> bool {
    matches!(expr, Expr::Field(_, name) if name == "exit")
}

fn is_string(expr: &Expr) -> bool {
    match expr {
        Expr::Str(_) => true,
        Expr::Field(_, name) => name == "stdout" || name == "stderr",
        _ => false,
    }
}

/// The leaf of a comparison of strings, unless both sides are literals or the
/// same output.
fn string_question(op: &str, left: &Expr, right: &Expr) -> Option<String> {
    let literal = |side: &Expr| matches!(side, Expr::Str(_));
    let open = is_string(left) && left != right && !(literal(left) && literal(right));
    let mut sides = [leaf(left), leaf(right)];
    sides.sort();
    (open && (op == "==" || op == "!=")).then(|| sides.join(" == "))
}

/// The value of a string method that needs no world.
fn folded(expr: &Expr) -> Option<bool> {
    let Expr::Method(of, method) = expr else {
        return None;
    };
    match (of.as_ref(), method) {
        (_, Method::Contains(needle) | Method::StartsWith(needle) | Method::EndsWith(needle))
            if needle.is_empty() =>
        {
            Some(true)
        }
        (Expr::Str(text), Method::Contains(needle)) => Some(text.contains(needle)),
        (Expr::Str(text), Method::StartsWith(start)) => Some(text.starts_with(start)),
        (Expr::Str(text), Method::EndsWith(end)) => Some(text.ends_with(end)),
        (Expr::Str(text), Method::Matches(pattern)) => {
            let regex = pattern.compile().ok()?;
            Some(regex.is_match(text.as_bytes()))
        }
        _ => None,
    }
}

fn holds(expr: &Expr, world: &BTreeMap<&str, i64>) -> bool {
    match expr {
        Expr::Bool(value) => *value,
        Expr::Not(operand) => !holds(operand, world),
        Expr::And(operands) => operands.iter().all(|operand| holds(operand, world)),
        Expr::Or(operands) => operands.iter().any(|operand| holds(operand, world)),
        Expr::Compare(op, left, right) => match string_question(op, left, right) {
            Some(leaf) => (world[leaf.as_str()] == 1) == (*op == "=="),
            None => compare(op, left, right, world),
        },
        _ => folded(expr).unwrap_or_else(|| world[leaf(expr).as_str()] == 1),
    }
}

fn compare(op: &str, left: &Expr, right: &Expr, world: &BTreeMap<&str, i64>) -> bool {
    if is_string(left) {
        return (left == right) == (op == "==");
    }
    let number = |side: &Expr| match side {
        Expr::Int(value) => *value,
        side if is_number(side) => world[leaf(side).as_str()],
        side => i64::from(holds(side, world)),
    };
    let (left, right) = (number(left), number(right));
    match op {
        "==" => left == right,
        "!=" => left != right,
        "<" => left < right,
        "<=" => left <= right,
        ">" => left > right,
        _ => left >= right,
    }
}
