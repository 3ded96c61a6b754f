#!/usr/bin/env bash
# Time to the verdict over a change of one file in a repository of 5,000 files, with the
# page cache cold and warm, beside what a script of one `grep` for each rule takes.
#
#   cargo build --release && bash benches/gate.sh [FILES]
#
# 40 rules apply: 36 of them look at the file that was changed, 4 at the whole repository.
# The page cache can only be dropped as root; without that, cold runs are left out.
set -euo pipefail
export LC_ALL=C
probity="$(cd "$(dirname "$0")/.." && pwd)/target/release/probity"
probity="${PROBITY:-$probity}"
count="${1:-5000}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"

rule() { # NAME BODY
  printf '@invariant\n@deterministic\n@archivist(evidence: ["https://example.org"], confidence: 0.9, source_date: "2026-01-01", coverage_examples: ["a"])\nfn %s(slice) {\n%s\n}\n\n' "$1" "$2"
}
sliced() { # PATTERN
  printf '  const found = slice.files.filter({ file -> regex_match(r"%s", file.text, "") != nil })\n  if found.none() { return flow_invariant_allow() }\n  return flow_invariant_warn("found")' "$1"
}
searched() { # PATTERN
  printf '  if grep(r"%s", "src") == 0 { return flow_invariant_allow() }\n  return flow_invariant_warn("found")' "$1"
}

git init -q -b main .
git config user.email a@example.org
git config user.name a
git config commit.gpgsign false
echo "generating $count files"
for n in $(seq 0 $((count - 1))); do
  directory="src/p$((n % 50))/q$((n / 50 % 10))"
  [ -d "$directory" ] || mkdir -p "$directory"
  for line in $(seq 1 60); do
    echo "let value_${n}_$line = call_$((n * line % 97))(first, second); // line $line"
  done >"$directory/f$n.rs"
done
for n in $(seq 0 19); do rule "root_$n" "$(sliced "forbidden_$n\\(")"; done >invariants.harn
for n in $(seq 0 3); do rule "whole_$n" "$(searched "nowhere_$n\\(")"; done >>invariants.harn
for n in $(seq 0 15); do rule "near_$n" "$(sliced "unwanted_$n\\(")"; done >src/p7/invariants.harn
git add .
git commit -qm base
# As a clone has it.
git gc -q
echo "fn changed() { call(); }" >>src/p7/q0/f7.rs

gate() { "$probity" gate --base HEAD "$@" >/dev/null; }
scripted() {
  local files n
  files="$(git diff --name-only HEAD)"
  for n in $(seq 0 19); do grep -nE "forbidden_$n\\(" $files || true; done
  for n in $(seq 0 15); do grep -nE "unwanted_$n\\(" $files || true; done
  for n in $(seq 0 3); do grep -rnE "nowhere_$n\\(" src || true; done
}
# The least and the median of some runs in ms.
measure() { # RUNS LABEL COMMAND...
  local runs="$1" label="$2" begun
  shift 2
  for _ in $(seq "$runs"); do
    [ -z "$cold" ] || { sync && echo 3 >/proc/sys/vm/drop_caches; }
    begun=$(date +%s%N)
    "$@" >/dev/null
    echo $((($(date +%s%N) - begun) / 10000))
  done | sort -n | awk -v label="$label" '{ all[NR] = $1 } END {
    printf "%-44s least %8.2f ms, median %8.2f ms\n", label, all[1] / 100, all[int((NR + 1) / 2)] / 100 }'
}

"$probity" gate --base HEAD | tail -2
for cold in "" yes; do
  if [ -n "$cold" ] && ! { sync && echo 3 >/proc/sys/vm/drop_caches; } 2>/dev/null; then
    echo "cold: skipped, the page cache cannot be dropped"
    continue
  fi
  state="${cold:+cold}"
  state="${state:-warm}"
  measure 11 "$state: git status" git status --porcelain
  measure 11 "$state: probity gate --base HEAD" gate
  measure 5 "$state: a process of grep for each rule" scripted
done
cold=""
git commit -qam change
measure 11 "warm: probity gate --base HEAD~1 --head HEAD" "$probity" gate --base HEAD~1 --head HEAD
