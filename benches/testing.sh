#!/usr/bin/env bash
# A thousand claims about tests of one crate, beside one `cargo test` for each.
#
#   cargo build --release && bash benches/testing.sh
#
# The second is measured for 20 tests. The crate is built before, for both.
set -euo pipefail
probity="$(cd "$(dirname "$0")/.." && pwd)/target/release/probity"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/made/src"
cd "$work/made"
printf '[package]\nname = "made"\nversion = "0.0.0"\nedition = "2024"\n' >Cargo.toml
for a in 0 1 2 3 4 5 6 7 8 9; do
  echo "#[cfg(test)] mod m$a {"
  for b in 0 1 2 3 4 5 6 7 8 9; do
    echo "mod n$b {"
    for c in 0 1 2 3 4 5 6 7 8 9; do
      echo "#[test] fn t$a$b$c() { assert_eq!($a + $b, $b + $a) }"
      printf '{"assertion":{"form":"predicate","expression":{"language":"elench-predicate-v1","source":"test(\\"t%s\\").passed"}}}\n' "$a$b$c" >&3
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

ms() { echo $((($(date +%s%N) - $1) / 1000000)); }
begun=$(date +%s%N)
"$probity" check "$work/claims.jsonl" --policy "$work/policy.toml" --no-cache | tail -1
echo "probity, 1,000 claims: $(ms "$begun") ms"
begun=$(date +%s%N)
for n in $(seq 1 20); do
  name="m1::n2::t12$((n % 10))"
  cargo test --quiet --tests "$name" -- --exact >/dev/null 2>&1
done
each=$(($(ms "$begun") / 20))
echo "cargo test NAME -- --exact, 20 times: $each ms each; 1,000 would take $((each * 1000)) ms"
