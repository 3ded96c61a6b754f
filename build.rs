//! Generates the parser from `grammar/claims.lalrpop` and the instruction
//! tables from `grammar/ops.in`; nothing else.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, process};

fn main() {
    println!("cargo::rerun-if-changed=grammar");
    println!("cargo::rerun-if-changed=build.rs");

    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    // The grammars land directly in OUT_DIR: `$OUT_DIR/claims.rs`.
    if let Err(error) = lalrpop::Configuration::new()
        .set_in_dir("grammar")
        .set_out_dir(&out)
        .process()
    {
        eprintln!("grammar/: {error}");
        process::exit(1);
    }

    let table = fs::read_to_string("grammar/ops.in").expect("grammar/ops.in is readable");
    fs::write(Path::new(&out).join("ops.rs"), instructions(&table))
        .expect("OUT_DIR is writable");
}

struct Row<'a> {
    name: &'a str,
    variant: String,
    operands: Vec<&'a str>,
    cost: u32,
    doc: &'a str,
}

/// Turns the rows of `ops.in` into one enum with its tables, so that the
/// encoder, the decoder, the verifier, the listing and the docs cannot drift.
fn instructions(table: &str) -> String {
    let rows: Vec<Row<'_>> = table
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|(number, line)| parse_row(number + 1, line))
        .collect();
    assert!(rows.len() < 256, "an opcode is one byte");

    let mut out = String::new();
    out.push_str("/// One instruction of the register machine.\n");
    out.push_str("#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n#[repr(u8)]\npub enum Op {\n");
    for (code, row) in rows.iter().enumerate() {
        let _ = writeln!(out, "    #[doc = {:?}]\n    {} = {code},", row.doc, row.variant);
    }
    out.push_str("}\n\n");
    out.push_str("/// Every opcode with its name, operands, cost and meaning, in code order.\n");
    let _ = writeln!(out, "pub const TABLE: [OpInfo; {}] = [", rows.len());
    for row in &rows {
        let operands: Vec<String> = row.operands.iter().map(|o| operand(o)).collect();
        let _ = writeln!(
            out,
            "    OpInfo {{ op: Op::{}, name: {:?}, operands: &[{}], cost: {}, doc: {:?} }},",
            row.variant,
            row.name,
            operands.join(", "),
            row.cost,
            row.doc
        );
    }
    out.push_str("];\n");
    out
}

fn parse_row(number: usize, line: &str) -> Row<'_> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let [name, operands, cost, doc] = cells[..] else {
        panic!("ops.in:{number}: expected `name | operands | cost | doc`");
    };
    let variant = name
        .split('.')
        .map(|part| part[..1].to_uppercase() + &part[1..])
        .collect();
    Row {
        name,
        variant,
        operands: operands.split_whitespace().collect(),
        cost: cost.parse().unwrap_or_else(|_| panic!("ops.in:{number}: cost is not a number")),
        doc,
    }
}

fn operand(text: &str) -> String {
    let (slot, kind) = text.split_once(':').unwrap_or_else(|| panic!("operand `{text}`: expected `slot:kind`"));
    let slot = match slot {
        "a" => "A",
        "b" => "B",
        "c" => "C",
        "bc" => "Bc",
        other => panic!("operand slot `{other}`"),
    };
    let mut kind_name = String::new();
    for part in kind.split('.') {
        kind_name.push_str(&part[..1].to_uppercase());
        kind_name.push_str(&part[1..]);
    }
    format!("Operand {{ slot: Slot::{slot}, kind: Kind::{kind_name} }}")
}
