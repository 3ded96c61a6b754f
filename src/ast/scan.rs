//! A look over the text of a query before tree-sitter gets it.
//!
//! tree-sitter parses a query recursively and without a bound, and its Rust binding
//! evaluates predicates by itself: with regexes of any size, and with `any-` forms
//! that never refuse. So nesting is bounded here, and predicates are given names
//! that the binding leaves to us: `#eq?` becomes `#eq!`, of the same length so that
//! the places of errors stay right.

/// How deep brackets may nest.
const DEEPEST: usize = 100;

/// How many outermost patterns a query may have, and how many parts that may be left
/// out (`*` and `?`), in one pattern and in all. tree-sitter works out how a pattern
/// goes on without them, for seconds if there are hundreds.
pub(super) const MOST_PATTERNS: usize = 256;
const MOST_OPTIONAL: usize = 32;
const MOST_OPTIONAL_IN_ALL: usize = 128;

/// The predicates that are evaluated, without the question mark.
const EVALUATED: &[&str] = &[
    "eq",
    "not-eq",
    "any-eq",
    "any-not-eq",
    "match",
    "not-match",
    "any-match",
    "any-not-match",
    "any-of",
    "not-any-of",
];

/// The capture that marks the outermost node of a match that captures nothing else.
pub(super) const WHOLE: &str = "probity.whole";

/// A query as tree-sitter gets it.
#[derive(Debug)]
pub(super) struct Scanned {
    pub(super) text: String,
    /// The predicates that are to be evaluated here.
    pub(super) predicates: usize,
    /// The ends of the outermost patterns, with their suffixes.
    ends: Vec<usize>,
}

impl Scanned {
    /// The text with [`WHOLE`] captured by each outermost pattern.
    pub(super) fn with_whole(&self) -> String {
        let mut text = String::new();
        let mut from = 0;
        for &end in &self.ends {
            text.push_str(&self.text[from..end]);
            text.push_str(" @");
            text.push_str(WHOLE);
            text.push(' ');
            from = end;
        }
        text.push_str(&self.text[from..]);
        text
    }
}

struct Scanner<'q> {
    query: &'q str,
    at: usize,
    depth: usize,
    /// Whether a field name has just been read, which is a recursion as well.
    field: bool,
    /// The end of the outermost pattern that has been read, while suffixes may follow.
    pending: Option<usize>,
    /// The optional parts of this outermost pattern, and of all.
    optional: usize,
    optional_in_all: usize,
    /// The bytes at which a question mark is replaced.
    renamed: Vec<usize>,
    ends: Vec<usize>,
}

/// Why a query cannot be taken, and where.
pub(super) type Refusal = (usize, String);

/// Looks a query over.
pub(super) fn scan(query: &str) -> Result<Scanned, Refusal> {
    if let Some(at) = query.find('\0') {
        return Err((at, "a NUL byte".into()));
    }
    let mut scanner = Scanner {
        query,
        at: 0,
        depth: 0,
        field: false,
        pending: None,
        optional: 0,
        optional_in_all: 0,
        renamed: Vec::new(),
        ends: Vec::new(),
    };
    scanner.run()?;
    if let Some(&at) = scanner.ends.get(MOST_PATTERNS) {
        return Err((at, format!("more than {MOST_PATTERNS} patterns")));
    }
    let mut text = String::with_capacity(query.len());
    let mut from = 0;
    for &at in &scanner.renamed {
        text.push_str(&query[from..at]);
        text.push('!');
        from = at + 1;
    }
    text.push_str(&query[from..]);
    Ok(Scanned {
        text,
        predicates: scanner.renamed.len(),
        ends: scanner.ends,
    })
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

impl<'q> Scanner<'q> {
    fn rest(&self) -> &'q str {
        &self.query[self.at..]
    }

    fn next(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn run(&mut self) -> Result<(), Refusal> {
        loop {
            self.skip_space();
            let Some(c) = self.next() else {
                break;
            };
            match c {
                '(' | '[' => self.open(c)?,
                ')' | ']' => {
                    self.at += 1;
                    self.depth = self.depth.saturating_sub(1);
                    self.item();
                }
                '"' => {
                    self.string()?;
                    self.item();
                }
                '@' => {
                    self.at += 1;
                    self.name();
                    self.suffix();
                }
                '*' | '+' | '?' => {
                    if c != '+' {
                        self.count_optional()?;
                    }
                    self.at += 1;
                    self.suffix();
                }
                ':' => {
                    if self.field {
                        return Err((self.at, "a field of a field".into()));
                    }
                    self.field = true;
                    self.at += 1;
                }
                '_' if self.depth == 0 => {
                    self.at += 1;
                    self.item();
                }
                _ if is_name(c) => {
                    self.flush();
                    if c == '_' {
                        self.field = false;
                    }
                    self.name();
                }
                _ => {
                    self.field = false;
                    self.at += c.len_utf8();
                }
            }
        }
        self.flush();
        Ok(())
    }

    /// White space and comments.
    fn skip_space(&mut self) {
        while let Some(c) = self.next() {
            if c.is_whitespace() {
                self.at += c.len_utf8();
            } else if c == ';' {
                let rest = self.rest();
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else {
                break;
            }
        }
    }

    fn name(&mut self) -> &'q str {
        let rest = self.rest();
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn string(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        let mut escaped = false;
        for (offset, c) in self.rest().char_indices().skip(1) {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == '"' {
                self.at += offset + 1;
                return Ok(());
            } else if c == '\n' {
                break;
            }
        }
        Err((start, "a string without an end".into()))
    }

    fn open(&mut self, bracket: char) -> Result<(), Refusal> {
        let start = self.at;
        self.at += 1;
        if bracket == '(' {
            self.skip_space();
            if matches!(self.next(), Some('#' | '.')) {
                self.at += 1;
                return self.predicate();
            }
        }
        if self.depth == 0 {
            self.flush();
        }
        self.field = false;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err((start, format!("nested deeper than {DEEPEST}")));
        }
        Ok(())
    }

    /// The rest of a predicate. Its end is no end of a pattern.
    fn predicate(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        let name = self.name();
        match self.next() {
            Some('?') if EVALUATED.contains(&name) => self.renamed.push(self.at),
            Some('!') if name == "set" => {}
            Some(mark @ ('?' | '!')) => {
                return Err((start, format!("the predicate #{name}{mark} is unknown")));
            }
            _ => return Err((start, "a predicate ends in `?` or `!`".into())),
        }
        self.at += 1;
        loop {
            self.skip_space();
            match self.next() {
                Some(')') => {
                    self.at += 1;
                    return Ok(());
                }
                Some('"') => self.string()?,
                Some('@') => self.at += 1,
                Some(c) if is_name(c) => {
                    self.name();
                }
                _ => return Err((self.at, "not an argument of a predicate".into())),
            }
        }
    }

    fn count_optional(&mut self) -> Result<(), Refusal> {
        self.optional += 1;
        self.optional_in_all += 1;
        let refuse = |most: usize, of: &str| {
            Err((self.at, format!("more than {most} optional parts in {of}")))
        };
        if self.optional > MOST_OPTIONAL {
            return refuse(MOST_OPTIONAL, "a pattern");
        }
        if self.optional_in_all > MOST_OPTIONAL_IN_ALL {
            return refuse(MOST_OPTIONAL_IN_ALL, "all");
        }
        Ok(())
    }

    /// A pattern has just ended.
    fn item(&mut self) {
        self.field = false;
        if self.depth == 0 {
            self.flush();
            self.pending = Some(self.at);
        }
    }

    fn suffix(&mut self) {
        self.field = false;
        if self.depth == 0 && self.pending.is_some() {
            self.pending = Some(self.at);
        }
    }

    fn flush(&mut self) {
        if let Some(end) = self.pending.take() {
            self.ends.push(end);
            self.optional = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicates_are_renamed_in_place() {
        let query = "((a) @b ; (#eq? @b \"c\")\n (#eq? @b \"?(#eq? \\\" \") (.not-match? @b x))";
        let scanned = scan(query).unwrap();
        assert_eq!(scanned.predicates, 2);
        assert_eq!(
            scanned.text,
            "((a) @b ; (#eq? @b \"c\")\n (#eq! @b \"?(#eq? \\\" \") (.not-match! @b x))"
        );
    }

    #[test]
    fn outermost_patterns_are_marked_behind_their_suffixes() {
        let marked = |query: &str| scan(query).unwrap().with_whole().replace(WHOLE, "w");
        assert_eq!(marked("(a)"), "(a) @w ");
        assert_eq!(
            marked("(a (b)) @x + ; (c)\n\"if\""),
            "(a (b)) @x + @w  ; (c)\n\"if\" @w "
        );
        assert_eq!(
            marked("[(a) (b)]* name: (c) _"),
            "[(a) (b)]* @w  name: (c) @w  _ @w "
        );
        assert_eq!(
            marked("((a) (#eq? @x \"\")) (#set! a b)"),
            "((a) (#eq! @x \"\")) @w  (#set! a b)"
        );
    }

    #[test]
    fn what_tree_sitter_would_choke_on_is_refused() {
        let deep = "(".repeat(DEEPEST + 1);
        let refused = |query: &str| scan(query).unwrap_err().1;
        assert_eq!(refused(&deep), "nested deeper than 100");
        assert_eq!(refused(&"[".repeat(DEEPEST + 1)), "nested deeper than 100");
        assert_eq!(refused("(a name: name: (b))"), "a field of a field");
        assert_eq!(refused("(a) \"x"), "a string without an end");
        assert_eq!(refused("a\0"), "a NUL byte");
        assert_eq!(refused(&"(a) ".repeat(257)), "more than 256 patterns");
        assert_eq!(
            refused(&format!("(a {})", "_* ".repeat(33))),
            "more than 32 optional parts in a pattern"
        );
        assert_eq!(
            refused(&"(a _? _*) ".repeat(65)),
            "more than 128 optional parts in all"
        );
        assert!(scan(&"(a _? _* _+) ".repeat(64)).is_ok());
        assert_eq!(
            refused("((a) @b (#lua-match? @b \"\"))"),
            "the predicate #lua-match? is unknown"
        );
        assert_eq!(
            refused("((a) @b (#eq! @b \"\"))"),
            "the predicate #eq! is unknown"
        );
        assert_eq!(
            refused("((a) @b (#is? local))"),
            "the predicate #is? is unknown"
        );
        assert!(scan("(a name: (b) name: _ name: _)").is_ok());
    }
}
