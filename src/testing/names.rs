//! Which tests a name means.

/// Most names that are suggested.
const SUGGESTED: usize = 3;

/// Whether a name is the full name of a test, or its last segments.
pub(super) fn means(name: &str, full: &str, separators: &[&str]) -> bool {
    if name.is_empty() {
        return false;
    }
    let Some(before) = full.strip_suffix(name) else {
        return false;
    };
    before.is_empty()
        || separators
            .iter()
            .any(|separator| before.ends_with(separator))
}

/// The names most like one that was not found.
pub(super) fn nearest<'a>(name: &str, all: &'a [String], separators: &[&str]) -> Vec<&'a str> {
    let last = |full: &str| {
        let starts = separators
            .iter()
            .filter_map(|separator| full.rfind(separator).map(|at| at + separator.len()));
        starts.max().unwrap_or(0)
    };
    let mut scored: Vec<(f64, &str)> = all
        .iter()
        .map(|full| {
            let whole = strsim::jaro_winkler(name, full);
            let short = strsim::jaro_winkler(&name[last(name)..], &full[last(full)..]);
            (whole.max(short), full.as_str())
        })
        .filter(|(score, _)| *score > 0.75)
        .collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
    scored.dedup();
    scored
        .into_iter()
        .take(SUGGESTED)
        .map(|(_, full)| full)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_whole_segments() {
        let rust = &["::"];
        assert!(means("safe_truncate", "tests::safe_truncate", rust));
        assert!(means("tests::safe_truncate", "tests::safe_truncate", rust));
        assert!(!means("truncate", "tests::safe_truncate", rust));
        assert!(!means("", "tests::safe_truncate", rust));
        assert!(!means("tests", "tests::safe_truncate", rust));
        assert!(!means("--help", "tests::help", rust));
    }

    #[test]
    fn what_is_like_a_name_is_suggested() {
        let all = ["a::safe_truncate", "b::parse_log", "b::parse_logs"].map(String::from);
        assert_eq!(
            nearest("safe_trunkate", &all, &["::"]),
            ["a::safe_truncate"]
        );
        assert!(nearest("zzz", &all, &["::"]).is_empty());
    }
}
