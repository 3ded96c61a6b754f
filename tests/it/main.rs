//! The integration tests, one binary: the TOML suites of `tests/data` and
//! properties over generated input, each held against the reference.

#[path = "../reference/mod.rs"]
mod reference;
#[path = "../../fuzz/src/targets/mod.rs"]
mod targets;

mod agreement;
mod bin;
mod bounded;
mod budgets;
mod case;
mod cell;
mod changes;
mod changes_agreement;
mod changes_hostile;
mod check_formats;
mod cli;
mod closures;
mod corpus;
mod discovery;
mod discovery_rows;
mod discovery_union;
mod elench;
mod engine;
mod exec;
mod executor_rows;
mod flow_atoms;
mod flow_derivation;
mod flow_fixer;
mod flow_intents;
mod flow_rows;
mod formats;
mod gate_report;
mod gate_sample;
mod generate;
mod git;
mod git_faults;
mod golden;
mod harn;
mod harn_facts;
mod harn_hostile;
mod harn_predicates;
mod harn_properties;
mod harn_sieve;
mod harn_suites;
mod history;
mod incremental;
mod index_tree;
mod judge;
mod layers;
mod limits;
mod meaning;
mod oversubscribed;
mod packs;
mod policy;
mod policy_text;
mod properties;
mod regressions;
mod reuse;
mod suites;
mod survivors;
mod testing;
mod threats;
mod truncation;
mod workspace;
