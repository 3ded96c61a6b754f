//! A predicate file of three hundred lines, the same rules in each language: a third
//! with a constant regex in a filter, a third that give theirs to a helper, and a third
//! that look at lines with string methods.

use std::fmt::Write as _;

use crate::Languages;

/// Rules of the file.
pub(crate) const RULES: usize = 20;

/// The name of a rule.
pub(crate) fn name(number: usize) -> String {
    format!("rule_{number}")
}

/// The file in each language. What Probity reads and checks as attributes are comments
/// to the others.
pub(crate) fn sources() -> Languages<String> {
    let mut sources = Languages {
        harn: HARN_HEAD.to_owned(),
        rhai: RHAI_HEAD.to_owned(),
        lua: LUA_HEAD.to_owned(),
    };
    for number in 0..RULES {
        let templates = &RULE[number % RULE.len()];
        let id = number.to_string();
        // Lua compares a prefix of a length that is known.
        let len = ("todo_".len() + id.len()).to_string();
        let fill = |template: &str| template.replace("NN", &id).replace("LL", &len);
        sources.harn.push_str(ATTRIBUTES);
        sources.harn.push_str(&fill(templates.harn));
        for line in ATTRIBUTES.lines() {
            let _ = writeln!(sources.rhai, "// {line}");
            let _ = writeln!(sources.lua, "-- {line}");
        }
        sources.rhai.push_str(&fill(templates.rhai));
        sources.lua.push_str(&fill(templates.lua));
    }
    sources.lua.push_str("return rules\n");
    sources
}

const ATTRIBUTES: &str = r#"@invariant
@deterministic
@archivist(evidence: EVIDENCE, confidence: 0.9, source_date: "2026-05-01")
"#;

const HARN_HEAD: &str = r#"const EVIDENCE = ["https://example.org/rules"]

fn concerns(path) {
  return path.ends_with(".rs") || path.ends_with(".rs.in")
}

fn result(rule, findings) {
  return {
    verdict: if findings.none() { "Allow" } else { "Block" },
    rule: rule,
    findings: findings,
    count: len(findings),
  }
}

fn scan(slice, pattern) {
  let found = []
  for file in slice.files {
    if concerns(file.path) && regex_match(pattern, file.text, "") != nil {
      found = found.push(file.path)
    }
  }
  return found
}

"#;

const RHAI_HEAD: &str = r#"// const EVIDENCE = ["https://example.org/rules"]

fn concerns(path) {
  path.ends_with(".rs") || path.ends_with(".rs.in")
}

fn result(rule, findings) {
  #{
    verdict: if findings.is_empty { "Allow" } else { "Block" },
    rule: rule,
    findings: findings,
    count: findings.len,
  }
}

// A method, so that the files are not copied.
fn scan(pattern) {
  let found = [];
  for file in this {
    if concerns(file.path) && regex_match(pattern, file.text) {
      found.push(file.path);
    }
  }
  found
}

"#;

const LUA_HEAD: &str = r#"-- const EVIDENCE = ["https://example.org/rules"]
local rules = {}

local function concerns(path)
  return path:sub(-3) == ".rs" or path:sub(-6) == ".rs.in"
end

local function result(rule, findings)
  return {
    verdict = #findings == 0 and "Allow" or "Block",
    rule = rule,
    findings = findings,
    count = #findings,
  }
end

local function scan(files, pattern)
  local found = {}
  for _, file in ipairs(files) do
    if concerns(file.path) and regex_match(pattern, file.text) then
      found[#found + 1] = file.path
    end
  end
  return found
end

"#;

const RULE: [Languages<&str>; 3] = [
    Languages {
        harn: r#"pub fn rule_NN(slice, _ctx, _base) {
  const found = slice.files.filter({ file ->
    concerns(file.path)
      && regex_match(r"\bunwrap_NN\(\)", file.text, "") != nil
  })
  const paths = found.map({ file -> file.path })
  return result("rule_NN", paths)
}

"#,
        rhai: r#"fn rule_NN(files) {
  let found = [];
  for file in files {
    if concerns(file.path)
      && regex_match("\\bunwrap_NN\\(\\)", file.text) {
      found.push(file.path);
    }
  }
  result("rule_NN", found)
}

"#,
        lua: r#"function rules.rule_NN(files)
  local found = {}
  for _, file in ipairs(files) do
    if concerns(file.path)
      and regex_match("\\bunwrap_NN\\(\\)", file.text) then
      found[#found + 1] = file.path
    end
  end
  return result("rule_NN", found)
end

"#,
    },
    Languages {
        harn: r#"/// Rule NN: nobody is to be told
/// what the password was when it was set, in
/// whatever quotes.
pub fn rule_NN(slice, _ctx, _base) {
  const pattern = r"password_NN\s*=\s*[a-z0-9]+"
  const found = scan(slice, pattern)
  return result("rule_NN", found)
}

"#,
        rhai: r#"// Rule NN: nobody is to be told
// what the password was when it was set, in
// whatever quotes.
fn rule_NN(files) {
  let pattern = "password_NN\\s*=\\s*[a-z0-9]+";
  let found = files.scan(pattern);
  result("rule_NN", found)
}

"#,
        lua: r#"-- Rule NN: nobody is to be told
-- what the password was when it was set, in
-- whatever quotes.
function rules.rule_NN(files)
  local pattern = "password_NN\\s*=\\s*[a-z0-9]+"
  local found = scan(files, pattern)
  return result("rule_NN", found)
end

"#,
    },
    Languages {
        harn: r#"pub fn rule_NN(slice, _ctx, _base) {
  let found = []
  for file in slice.files {
    if concerns(file.path) {
      for line in file.text.lines() {
        const code = line.trim()
        if code.starts_with("todo_NN") && !code.ends_with(";") {
          found = found.push(file.path)
        }
      }
    }
  }
  return result("rule_NN", found)
}

"#,
        rhai: r#"fn rule_NN(files) {
  let found = [];
  for file in files {
    if concerns(file.path) {
      for line in file.text.split("\n") {
        line.trim();
        if line.starts_with("todo_NN") && !line.ends_with(";") {
          found.push(file.path);
        }
      }
    }
  }
  result("rule_NN", found)
}

"#,
        lua: r#"function rules.rule_NN(files)
  local found = {}
  for _, file in ipairs(files) do
    if concerns(file.path) then
      for line in file.text:gmatch("([^\n]*)\n?") do
        local code = line:match("^%s*(.*%S)") or ""
        if code:sub(1, LL) == "todo_NN" and code:sub(-1) ~= ";" then
          found[#found + 1] = file.path
        end
      end
    end
  end
  return result("rule_NN", found)
end

"#,
    },
];
