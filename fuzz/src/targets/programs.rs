//! Programs that are made from the bytes come to the same in the machine and in the
//! reference.

use std::fmt::Write as _;

use super::machine::by_machine;
use crate::reference::harn::{self, Limits};

/// Makes programs from choices: the same from the same.
struct Maker<'d> {
    /// Choices that are made already.
    choices: std::slice::Iter<'d, u8>,
    /// Where those behind them come from.
    state: u64,
    /// Names that can be read, and whether each can be assigned.
    names: Vec<(String, bool)>,
    made: usize,
    /// Whether expressions may assign variables.
    assigns: bool,
}

impl Maker<'_> {
    fn below(&mut self, bound: u64) -> u64 {
        if let Some(choice) = self.choices.next() {
            return u64::from(*choice) % bound;
        }
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound
    }

    fn pick<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[usize::try_from(self.below(of.len() as u64)).unwrap_or(0)]
    }

    fn name(&mut self, assignable: bool) -> Option<String> {
        let names: Vec<String> = self
            .names
            .iter()
            .filter(|(_, mutable)| *mutable || !assignable)
            .map(|(name, _)| name.clone())
            .collect();
        if names.is_empty() {
            return None;
        }
        let at = usize::try_from(self.below(names.len() as u64)).unwrap_or(0);
        Some(names[at].clone())
    }

    fn fresh(&mut self) -> String {
        self.made += 1;
        format!("v{}", self.made)
    }

    fn atom(&mut self) -> String {
        match self.below(10) {
            0 => "nil".into(),
            1 => self.pick(&["true", "false"]).into(),
            2 => self
                .pick(&["0", "1", "2", "-3", "7", "9223372036854775807"])
                .into(),
            3 => self.pick(&["0.0", "1.5", "2.0", "0.1"]).into(),
            4 => self
                .pick(&["\"\"", "\"a\"", "\"ab,c\"", "\"é🎉\"", "\"b\\nc\""])
                .into(),
            5 => self
                .pick(&["[]", "[1, 2, 3]", "[\"a\", nil]", "[[1], [2]]"])
                .into(),
            6 => self.pick(&["{}", "{a: 1, b: [2]}", "{b: {a: 1}}"]).into(),
            _ => self.name(false).unwrap_or_else(|| "5".into()),
        }
    }

    fn expr(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.atom();
        }
        let d = depth - 1;
        match self.below(27) {
            0..=3 => {
                let op = self.pick(&[
                    "+", "-", "*", "/", "%", "**", "==", "!=", "<", "<=", ">", ">=",
                ]);
                format!("({} {op} {})", self.expr(d), self.expr(d))
            }
            4 => {
                let op = self.pick(&["&&", "||", "??"]);
                format!("({} {op} {})", self.expr(d), self.expr(d))
            }
            5 => format!("({} in {})", self.expr(d), self.expr(d)),
            6 => format!("(!{})", self.expr(d)),
            7 => format!("(-{})", self.expr(d)),
            8 => format!("({} ? {} : {})", self.expr(d), self.expr(d), self.expr(d)),
            9 => format!("[{}, {}]", self.expr(d), self.expr(d)),
            10 => format!("{{a: {}, b: {}}}", self.expr(d), self.expr(d)),
            11 => format!("({})[{}]", self.expr(d), self.expr(d)),
            12 => format!("({})[{}:{}]", self.expr(d), self.atom(), self.atom()),
            13 => {
                let name = self.pick(&["a", "b", "count", "first", "empty"]);
                let dot = self.pick(&[".", "?."]);
                format!("({}){dot}{name}", self.expr(d))
            }
            14 => format!("\"<${{{}}}>\"", self.plain(d)),
            15 => {
                let method =
                    self.pick(&["map", "filter", "any", "all", "find", "flat_map", "none"]);
                let name = self.fresh();
                self.names.push((name.clone(), false));
                let body = self.expr(d);
                self.names.pop();
                format!("({}).{method}({{ {name} -> {body} }})", self.atom())
            }
            16 => {
                let method = self.pick(&[
                    "len()",
                    "reversed()",
                    "first()",
                    "last()",
                    "keys()",
                    "values()",
                    "upper()",
                    "lines()",
                    "trim()",
                    "chars()",
                    "split(\",\")",
                    "contains(\"a\")",
                    "sorted()",
                    "push(1)",
                    "get(\"a\", 3)",
                    "unique()",
                    "sum()",
                    "join(\"-\")",
                    "slice(1)",
                    "index_of(\"b\")",
                    "replace(\"a\", \"xy\")",
                    "starts_with(\"a\")",
                    "flatten()",
                ]);
                format!("({}).{method}", self.expr(d))
            }
            17 => {
                let function =
                    self.pick(&["len", "to_string", "type_of", "to_int", "json_stringify"]);
                format!("{function}({})", self.expr(d))
            }
            18 => {
                let pattern =
                    self.pick(&["\"a\"", "\"[0-9]+\"", "\"^b\"", "\"\"", "\"(\"", "\"é|c\""]);
                let compared = self.pick(&["", " == nil", " != nil"]);
                format!("(regex_match({pattern}, {}){compared})", self.expr(d))
            }
            19 => format!(
                "(if {} {{ {} }} else {{ {} }})",
                self.expr(d),
                self.expr(d),
                self.expr(d)
            ),
            20 => format!(
                "(match {} {{ 1 -> {{ {} }} [x, ...r] -> {{ r }} {{a: y}} -> {{ y }} _ -> {{ {} }} }})",
                self.expr(d),
                self.expr(d),
                self.expr(d)
            ),
            21 => format!(
                "(try {{ {} }} catch (e) {{ {} }})",
                self.expr(d),
                self.pick(&["1", "type_of(e)", "nil"])
            ),
            // Messages are not compared.
            22 => format!(
                "(try {{ throw {} }} catch (e) {{ (type_of(e) == \"string\") ? 1 : e }})",
                self.expr(d)
            ),
            23 => {
                let name = self.fresh();
                self.names.push((name.clone(), false));
                let body = self.expr(d);
                self.names.pop();
                format!("({{ {name}, q = 2 -> {body} }})({})", self.expr(d))
            }
            24 => format!("[...({}), {}]", self.expr(d), self.atom()),
            25 => match self.name(true).filter(|_| self.assigns) {
                Some(name) => format!(
                    "(if {} {{\n{name} = {}\n{} }} else {{ {} }})",
                    self.expr(d),
                    self.expr(d),
                    self.expr(d),
                    self.expr(d)
                ),
                None => self.atom(),
            },
            _ => self.atom(),
        }
    }

    /// An expression whose statements may assign variables.
    fn assigning(&mut self, depth: usize) -> String {
        self.assigns = true;
        let text = self.expr(depth);
        self.assigns = false;
        text
    }

    /// An expression without strings and braces, which a hole would need care for.
    fn plain(&mut self, depth: usize) -> String {
        let text = self.expr(depth);
        if text.contains(['"', '{', '\\']) {
            return self.name(false).unwrap_or_else(|| "1".into());
        }
        text
    }

    fn block(&mut self, depth: usize, out: &mut String) {
        let known = self.names.len();
        for _ in 0..=self.below(2) {
            self.stmt(depth, out);
        }
        self.names.truncate(known);
    }

    fn stmt(&mut self, depth: usize, out: &mut String) {
        let d = depth.saturating_sub(1);
        match self.below(if depth == 0 { 7 } else { 13 }) {
            0..=2 => {
                let (word, mutable) = [("let", true), ("const", false)][self.below(2) as usize];
                let value = self.assigning(2);
                let name = self.fresh();
                let _ = writeln!(out, "{word} {name} = {value}");
                self.names.push((name, mutable));
            }
            3 | 4 => {
                let op = self.pick(&["=", "+=", "-=", "*="]);
                // When a compound assignment reads its variable is left open.
                let value = match op {
                    "=" => self.assigning(2),
                    _ => self.expr(2),
                };
                if let Some(name) = self.name(true) {
                    let _ = writeln!(out, "{name} {op} {value}");
                }
            }
            5 => {
                let value = self.expr(1);
                if let Some(name) = self.name(true) {
                    let place = self.pick(&["", ".a", "[0]", "[\"b\"]", ".a.b", "[1][0]"]);
                    let _ = match self.below(3) {
                        0 => writeln!(out, "{name}{place}.push({value})"),
                        1 => writeln!(out, "{name} = {name}.push({value})"),
                        _ => writeln!(out, "{name}{place} = {value}"),
                    };
                }
            }
            6 => {
                let value = self.expr(1);
                let (one, two) = (self.fresh(), self.fresh());
                let _ = match self.below(2) {
                    0 => writeln!(out, "const [{one}, {two} = 4] = {value}"),
                    _ => writeln!(out, "let {{a: {one}, b: {two} = 3}} = {value}"),
                };
                self.names.push((one, false));
                self.names.push((two, false));
            }
            7 | 8 => {
                let _ = writeln!(out, "if {} {{", self.expr(1));
                self.block(d, out);
                out.push_str("} else {\n");
                self.block(d, out);
                out.push_str("}\n");
            }
            9 | 10 => {
                let source = self.pick(&["[1, 2, 3]", "0..4", "{b: 1, a: 2}"]);
                let source = match self.below(4) {
                    0 => self.expr(1),
                    _ => source.to_owned(),
                };
                let name = self.fresh();
                let _ = writeln!(out, "for {name} in {source} {{");
                self.names.push((name, true));
                self.block(d, out);
                if self.below(3) == 0 {
                    let word = self.pick(&["break", "continue"]);
                    let _ = writeln!(out, "if {} {{ {word} }}", self.expr(1));
                }
                out.push_str("}\n");
                self.names.pop();
            }
            11 => {
                out.push_str("try {\n");
                self.block(d, out);
                out.push_str("} catch (e) {\n");
                self.block(d, out);
                out.push_str("} finally {\n");
                self.block(d, out);
                out.push_str("}\n");
            }
            _ => {
                // A closure that changes what is around it.
                if let Some(name) = self.name(true) {
                    let value = self.expr(1);
                    let closure = self.fresh();
                    let _ = writeln!(
                        out,
                        "const {closure} = {{ -> {name} = {value} }}\n{closure}()"
                    );
                }
            }
        }
    }
}

fn program(data: &[u8]) -> String {
    let mix = |state: u64, byte: &u8| (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let mut maker = Maker {
        choices: data.iter(),
        state: data.iter().fold(0xcbf2_9ce4_8422_2325, mix) | 1,
        names: Vec::new(),
        made: 0,
        assigns: false,
    };
    let mut out = String::from("pub fn main() {\nreturn (fn() {\n");
    for _ in 0..3 + maker.below(4) {
        maker.stmt(2, &mut out);
    }
    let names: Vec<String> = maker.names.iter().map(|(name, _)| name.clone()).collect();
    let _ = writeln!(out, "[{}]\n}})()\n}}", names.join(", "));
    out
}

pub(crate) fn run(data: &[u8]) {
    let source = program(data);
    let machine = by_machine(&source, None);
    let limits = Limits::default();
    let reference = harn::on_large_stack(|| {
        let value = harn::run(&source, "main", Vec::new(), limits, None);
        value
            .map(|value| harn::canonical(&value))
            .map_err(|failure| failure.class.name())
    });
    match (&machine, &reference) {
        // The two have different limits.
        (Err(codes), _) if codes.iter().any(|code| code == "limit") => {}
        (_, Err("limit")) => {}
        (Ok(value), Ok(wanted)) => assert_eq!(value, wanted, "{data:?}\n{source}"),
        (Err(codes), Err(class)) => {
            // A place that is not there may be found while it is read or when it is set.
            let places = ["type", "bounds"];
            let alike =
                places.contains(class) && codes.iter().all(|code| places.contains(&code.as_str()));
            assert!(
                alike || codes.iter().any(|code| code == class),
                "{data:?}: {codes:?}, not {class}\n{source}"
            );
        }
        _ => panic!("{data:?}: {machine:?}, not {reference:?}\n{source}"),
    }
}
