#!/usr/bin/env bash
# A thousand claims about tests of one crate, beside one `cargo test` for each, and the
# same with `pytest`.
#
#   cargo build --release && bash benches/testing.sh
#
# One process for each is measured for 20 tests. The crate is built before, for both.
set -euo pipefail
unset CARGO_TARGET_DIR
probity="$(cd "$(dirname "$0")/.." && pwd)/target/release/probity"
probity="${PROBITY:-$probity}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

ms() { echo $((($(date +%s%N) - $1) / 1000000)); }
claim() {
  printf '{"assertion":{"form":"predicate","expression":{"language":"elench-predicate-v1","source":"test(\\"%s\\").passed"}}}\n' "$1"
}
check() {
  local begun
  begun=$(date +%s%N)
  "$probity" check "$work/claims.jsonl" --policy "$work/policy.toml" --no-cache 2>/dev/null | tail -1
  echo "probity, 1,000 claims: $(ms "$begun") ms"
}

mkdir -p "$work/crate/src"
cd "$work/crate"
printf '[package]\nname = "made"\nversion = "0.0.0"\nedition = "2024"\n' >Cargo.toml
for a in 0 1 2 3 4 5 6 7 8 9; do
  echo "#[cfg(test)] mod m$a {"
  for b in 0 1 2 3 4 5 6 7 8 9; do
    echo "mod n$b {"
    for c in 0 1 2 3 4 5 6 7 8 9; do
      echo "#[test] fn t$a$b$c() { assert_eq!($a + $b, $b + $a) }"
      claim "t$a$b$c" >&3
    done
    echo "}"
  done
  echo "}"
done >src/lib.rs 3>"$work/claims.jsonl"
cat >"$work/policy.toml" <<'POLICY'
[run]
path = ["~/.cargo/bin", "/usr/local/cargo/bin", "/usr/local/bin", "/usr/bin", "/bin"]
env = ["HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"]
write = ["target"]
memory = "4GiB"
[test]
runner = "cargo"
POLICY
cargo test --quiet --no-run --tests 2>/dev/null
echo "cargo"
check
begun=$(date +%s%N)
for n in $(seq 1 20); do
  name="m1::n2::t12$((n % 10))"
  cargo test --quiet --tests "$name" -- --exact >/dev/null 2>&1
done
each=$(($(ms "$begun") / 20))
echo "cargo test NAME -- --exact, 20 times: $each ms each; extrapolated, 1,000 take $((each * 1000)) ms"

# Ten packages of ten modules, each with two classes of five tests.
echo "pytest"
if ! python="$(python3 -c 'import os, sys, pytest; print(os.path.realpath(sys.executable))' 2>/dev/null)" ||
  [ ! -x "$(dirname "$python")/pytest" ]; then
  echo "skipped: there is no pytest"
  exit 0
fi
bin="$(dirname "$python")"
mkdir -p "$work/project/out"
cd "$work/project"
for a in 0 1 2 3 4 5 6 7 8 9; do
  mkdir -p "tests/p$a"
  touch "tests/__init__.py" "tests/p$a/__init__.py"
  for b in 0 1 2 3 4 5 6 7 8 9; do
    for c in 0 1; do
      echo "class TestC$c:"
      for d in 0 1 2 3 4; do
        echo "    def test_$a$b$c$d(self): assert $a + $b == $b + $a"
        claim "test_$a$b$c$d" >&3
      done
    done >"tests/p$a/test_m$b.py"
  done
done 3>"$work/claims.jsonl"
# Each process of pytest leaves a line: whether it only listed, and how many tests it took.
cat >conftest.py <<'CONFTEST'
def pytest_collection_finish(session):
    kind = "listed" if session.config.option.collectonly else "ran"
    with open("out/processes", "a") as file:
        print(kind, len(session.items), file=file)
CONFTEST
cat >"$work/policy.toml" <<POLICY
[run]
path = ["$bin", "/usr/local/bin", "/usr/bin", "/bin"]
read = ["$(dirname "$bin")"]
write = ["out"]
[test]
runner = "pytest"
POLICY
check
echo "its processes of pytest: $(paste -sd, out/processes | sed 's/,/, /g')"
if [ "$(grep -c listed out/processes)" != 1 ] || [ "$(grep -c ran out/processes)" -gt 2 ]; then
  echo "more than one list or two runs" >&2
  exit 1
fi
begun=$(date +%s%N)
for n in $(seq 1 20); do
  name="tests/p1/test_m2.py::TestC$((n / 5 % 2))::test_12$((n / 5 % 2))$((n % 5))"
  "$bin/pytest" -q -p no:cacheprovider "$name" >/dev/null
done
each=$(($(ms "$begun") / 20))
echo "pytest PATH::NAME, 20 times: $each ms each; extrapolated, 1,000 take $((each * 1000)) ms"
