//! Finds where a JSON value ends without parsing it.

/// Levels whose kind of bracket is kept. JSON nested deeper is refused by the
/// parser anyway, so there only the depth counts.
const KEPT: u64 = 128;

/// A string-aware bracket counter that can be fed in pieces.
///
/// It must find the end of malformed values too, so that one bad record does not
/// take its neighbours along: a line end closes a string (JSON has no raw line
/// ends in strings), and a closing bracket closes whatever was left open inside
/// its pair.
#[derive(Default)]
pub(super) struct Brackets {
    depth: u64,
    /// One bit for each of the outermost levels, set for `[`.
    squares: u128,
    in_string: bool,
    escaped: bool,
}

/// Where a scan ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The closing bracket at this index ended the value.
    Closed(usize),
    /// This index holds a `,` or closing bracket that does not belong to the
    /// value but to what is around it.
    Outside(usize),
}

impl Brackets {
    /// Scans the next piece; `None` if the value does not end in it.
    pub(super) fn scan(&mut self, bytes: &[u8]) -> Option<Stop> {
        let mut at = 0;
        while at < bytes.len() {
            if self.in_string {
                at = self.scan_string(bytes, at);
                continue;
            }
            match bytes[at] {
                b'"' => self.in_string = true,
                b'{' => self.open(false),
                b'[' => self.open(true),
                b',' if self.depth == 0 => return Some(Stop::Outside(at)),
                byte @ (b'}' | b']') => {
                    if !self.close(byte == b']') {
                        return Some(Stop::Outside(at));
                    }
                    if self.depth == 0 {
                        return Some(Stop::Closed(at));
                    }
                }
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Goes on inside a string; gives the index after what it used up.
    fn scan_string(&mut self, bytes: &[u8], mut at: usize) -> usize {
        if self.escaped {
            self.escaped = false;
            if bytes[at] != b'\n' {
                at += 1;
            }
        }
        match memchr::memchr3(b'"', b'\\', b'\n', &bytes[at..]) {
            None => bytes.len(),
            Some(found) => {
                at += found;
                if bytes[at] == b'\\' {
                    self.escaped = true;
                } else {
                    self.in_string = false;
                }
                at + 1
            }
        }
    }

    fn open(&mut self, square: bool) {
        if self.depth < KEPT {
            let bit = 1 << self.depth;
            self.squares = if square {
                self.squares | bit
            } else {
                self.squares & !bit
            };
        }
        self.depth += 1;
    }

    /// Closes the innermost bracket of the kind and all inside it; false, and
    /// nothing changed, if there is none.
    fn close(&mut self, square: bool) -> bool {
        if self.depth > KEPT {
            self.depth -= 1;
            return true;
        }
        let open = u128::MAX
            .checked_shr((KEPT - self.depth) as u32)
            .unwrap_or(0);
        let kind = if square { self.squares } else { !self.squares } & open;
        if kind == 0 {
            return false;
        }
        self.depth = KEPT - 1 - u64::from(kind.leading_zeros());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Option<Stop> {
        let whole = Brackets::default().scan(text.as_bytes());
        let mut pieces = Brackets::default();
        let piecewise = text.bytes().enumerate().find_map(|(at, byte)| {
            pieces.scan(&[byte]).map(|stop| match stop {
                Stop::Closed(_) => Stop::Closed(at),
                Stop::Outside(_) => Stop::Outside(at),
            })
        });
        assert_eq!(whole, piecewise, "{text}");
        whole
    }

    #[test]
    fn well_formed_values_end_at_their_bracket() {
        assert_eq!(scan("{}"), Some(Stop::Closed(1)));
        assert_eq!(
            scan(r#"{"a": [1, {"b": "}]\"\\"}]} x"#),
            Some(Stop::Closed(26))
        );
        assert_eq!(scan("[[], {}],"), Some(Stop::Closed(7)));
        assert_eq!(scan("12 ,"), Some(Stop::Outside(3)));
        assert_eq!(scan("]"), Some(Stop::Outside(0)));
        assert_eq!(scan(r#"{"a": "}"#), None);
    }

    #[test]
    fn malformed_values_end_where_their_neighbours_are_safe() {
        // A bracket left open inside.
        assert_eq!(scan("{\"a\": [1, 2}, {}]"), Some(Stop::Closed(11)));
        // The end of the array around it.
        assert_eq!(scan("{\"a\": {}, 1]"), Some(Stop::Outside(11)));
        // A string left open.
        assert_eq!(scan("{\"a\": \"x\n}"), Some(Stop::Closed(9)));
        assert_eq!(scan("{\"a\": \"x\\\n}"), Some(Stop::Closed(10)));
    }

    #[test]
    fn depth_beyond_the_kept_levels_only_counts() {
        for depth in [1, 127, 128, 129, 5000] {
            let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            assert_eq!(scan(&text), Some(Stop::Closed(2 * depth - 1)), "{depth}");
        }
    }
}
