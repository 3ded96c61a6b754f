//! The listing: a program for people, and the table of all instructions.

use std::fmt::Write as _;

use crate::code::{Const, Insn, Kind, Program, TABLE};

/// Prints a program: head, facts, constants, then each instruction with its
/// number, its words and the source it came from.
#[must_use]
pub fn listing(program: &Program) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "; {} {}", program.language(), program.digest());
    let _ = writeln!(
        out,
        "; {} instructions, {} registers, {} code bytes",
        program.insns().len(),
        program.registers(),
        program.code_bytes()
    );
    for (number, fact) in program.facts().iter().enumerate() {
        let limit = match fact.limit {
            Some(limit) => format!("  ; up to {limit}"),
            None => String::new(),
        };
        let _ = writeln!(out, "fact  f{number} = {}{limit}", fact.key);
    }
    for (number, value) in program.consts().iter().enumerate() {
        let _ = writeln!(out, "const k{number} = {}", constant(value));
    }
    for (number, insn) in program.insns().enumerate() {
        let text = instruction(insn);
        let source = program
            .spans()
            .get(number)
            .and_then(|span| program.source().get(span.range()))
            .unwrap_or_default();
        let _ = writeln!(out, "{number:>4}  {text:<32}; {}", one_line(source));
    }
    out
}

/// The rows of `grammar/ops.in` as a Markdown table, for the documentation.
#[must_use]
pub fn instruction_table() -> String {
    let mut out =
        String::from("| opcode | name | operands | fuel | meaning |\n|---|---|---|---|---|\n");
    for info in &TABLE {
        let operands: Vec<String> = info
            .operands
            .iter()
            .map(|operand| format!("{:?}: {:?}", operand.slot, operand.kind).to_lowercase())
            .collect();
        let _ = writeln!(
            out,
            "| {} | `{}` | {} | {} | {} |",
            info.op as u8,
            info.name,
            operands.join(", "),
            info.cost,
            info.doc.replace('|', "\\|")
        );
    }
    out
}

/// An instruction with its operands.
pub(crate) fn instruction(insn: Insn) -> String {
    let Some(op) = insn.op() else {
        return format!(".word {:#010x}", insn.0);
    };
    let mut text = format!("{:<16}", op.info().name);
    for (position, operand) in op.info().operands.iter().enumerate() {
        let separator = if position == 0 { "" } else { ", " };
        let number = insn.operand(operand.slot);
        let _ = match operand.kind {
            Kind::Tri
            | Kind::Int
            | Kind::Str
            | Kind::DstTri
            | Kind::DstInt
            | Kind::DstStr
            | Kind::Reg
            | Kind::Dst => write!(text, "{separator}r{number}"),
            Kind::FactBool | Kind::FactCount | Kind::FactRun => {
                write!(text, "{separator}f{number}")
            }
            Kind::ConstInt | Kind::ConstStr | Kind::ConstRegex => {
                write!(text, "{separator}k{number}")
            }
            Kind::Value => write!(text, "{separator}k{number}"),
            Kind::Fn | Kind::Builtin => write!(text, "{separator}fn{number}"),
            Kind::Name => write!(text, "{separator}n{number}"),
            Kind::Global => write!(text, "{separator}g{number}"),
            Kind::Capture => write!(text, "{separator}c{number}"),
            Kind::Type => write!(text, "{separator}t{number}"),
            Kind::Pattern => write!(text, "{separator}p{number}"),
            Kind::Imm | Kind::Size | Kind::Slot => write!(text, "{separator}{number}"),
            Kind::ImmWide => write!(text, "{separator}{}", number.cast_signed()),
            Kind::Flag => write!(text, "{separator}{}", number == 1),
            Kind::Jump | Kind::Target => write!(text, "{separator}@{number}"),
        };
    }
    text.truncate(text.trim_end().len());
    text
}

fn constant(value: &Const) -> String {
    match value {
        Const::Int(value) => value.to_string(),
        Const::Str(needle) => format!("{needle:?}"),
        Const::Regex(regex) => format!("{regex:?}"),
    }
}

/// Line ends of the source would break the listing's columns.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
