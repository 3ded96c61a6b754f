//! Generated predicate files and slices, in the proportions of real packs: 340
//! predicates in 34 files, three quarters deterministic, most with one regex over each
//! file of the slice that its language concerns.

use std::fmt::Write as _;

use crate::common::{Random, WORDS};

/// Files of the whole pack, and predicates of each.
pub(crate) const FILES: u64 = 34;
pub(crate) const PREDICATES: u64 = 10;

const EXTENSIONS: &[&str] = &[
    ".rs", ".py", ".go", ".js", ".ts", ".java", ".rb", ".sql", ".tf", ".yaml",
];

const PATTERNS: &[&str] = &[
    r"\bunwrap_{n}\(\)",
    r"(?m)^\s*print_{n}\(",
    r"(?i)todo_{n}|fixme_{n}",
    r"unsafe_{n}\s*\{",
    r"exec_{n}\([^)]*\)",
    r"(?s)begin_{n}.{0,200}end_{n}",
    r"password_{n}\s*=\s*['\x22][^'\x22]+",
    r"\b(?:eval|exec)_{n}\b",
    r"except_{n}\s*:",
    r"SELECT_{n}\s+\*",
];

/// One predicate file.
pub(crate) fn pack(number: u64) -> String {
    let mut random = Random::new(number * 7919 + 1);
    let extension = EXTENSIONS[usize::try_from(number).unwrap_or(0) % EXTENSIONS.len()];
    let mut out = format!(
        "const EVIDENCE = [\n  \"https://example.org/rules/{number}\",\n  \"https://example.org/style/{number}\",\n]\n\n\
         fn concerns(path) {{\n  return path.ends_with(\"{extension}\")\n    || path.ends_with(\"{extension}.in\")\n}}\n\n\
         fn result(rule, findings, remediation) {{\n  if findings.none() {{\n    return {{verdict: \"Allow\", rule: rule, findings: [], remediation: \"\"}}\n  }}\n  \
         return {{verdict: \"Block\", rule: rule, findings: findings, remediation: remediation}}\n}}\n\n\
         fn scan(slice, pattern, flags) {{\n  let found = []\n  for file in slice.files {{\n    \
         if concerns(file.path) && regex_match(pattern, file.text, flags) != nil {{\n      \
         found = found.push({{path: file.path, pattern: pattern}})\n    }}\n  }}\n  return found\n}}\n\n"
    );
    for predicate in 0..PREDICATES {
        let id = number * PREDICATES + predicate;
        let template = PATTERNS[usize::try_from(random.below(PATTERNS.len() as u64)).unwrap_or(0)];
        let pattern = template.replace("{n}", &id.to_string());
        let (mode, ctx) = if id % 4 == 3 {
            let fallback = id - id % 4;
            let fallback = fallback.max(number * PREDICATES);
            (
                format!("@semantic(fallback: rule_{fallback}, policy: advisory)"),
                "ctx",
            )
        } else {
            ("@deterministic".to_owned(), "_ctx")
        };
        let _ = write!(
            out,
            "@invariant\n{mode}\n@archivist(evidence: EVIDENCE, confidence: 0.9, source_date: \"2026-05-01\")\n\
             /// Rule {id}: what it forbids is written down at the places above.\n\
             pub fn rule_{id}(slice, {ctx}, _repo_at_base) {{\n"
        );
        if ctx == "ctx" {
            let _ = write!(
                out,
                "  const relevant = slice.files.filter({{ file -> concerns(file.path) }})\n  \
                 const answer = ctx.semantic_judge({{rubric: \"is rule {id} kept?\", files: relevant}})\n  \
                 return {{\n    verdict: answer.verdict,\n    rule: \"rule_{id}\",\n    findings: answer.findings,\n    remediation: \"keep rule {id}\",\n  }}\n}}\n\n"
            );
        } else if id.is_multiple_of(10) {
            let _ = write!(
                out,
                "  const found = scan(slice, r\"{}\", \"\")\n  return result(\"rule_{id}\", found, \"keep rule {id}\")\n}}\n\n",
                pattern.replace("\\x22", ".")
            );
        } else {
            let _ = write!(
                out,
                "  const found = slice.files.filter({{ file ->\n    concerns(file.path)\n      && regex_match(r\"{}\", file.text, \"\") != nil\n  }})\n  \
                 return result(\"rule_{id}\", found, \"keep rule {id}\")\n}}\n\n",
                pattern.replace("\\x22", ".")
            );
        }
    }
    out
}

/// The number of a predicate file that concerns files of the first language.
pub(crate) const fn alike(number: u64) -> u64 {
    number * EXTENSIONS.len() as u64
}

/// The files of a slice: paths and texts of some hundred bytes, few of which break a
/// rule.
pub(crate) fn files(count: u64) -> Vec<(String, String)> {
    texts(count, 12, EXTENSIONS)
}

/// The same of files of so many lines, all of one language.
pub(crate) fn long_files(count: u64, lines: u64) -> Vec<(String, String)> {
    texts(count, lines, &EXTENSIONS[..1])
}

fn texts(count: u64, lines: u64, extensions: &[&str]) -> Vec<(String, String)> {
    let mut random = Random::new(count + 17);
    (0..count)
        .map(|number| {
            let extension = random.pick(extensions);
            let mut text = String::new();
            for line in 0..lines {
                let word = random.pick(WORDS);
                let other = random.pick(WORDS);
                let _ = writeln!(text, "let {word}_{line} = {other}({number}) + {line};");
            }
            if random.below(50) == 0 {
                let rule = random.below(FILES * PREDICATES);
                let _ = writeln!(text, "x.unwrap_{rule}(); todo_{rule}");
            }
            (
                format!("src/{}/f{number}{extension}", random.pick(WORDS)),
                text,
            )
        })
        .collect()
}
