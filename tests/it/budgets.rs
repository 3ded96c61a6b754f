//! Budgets as an embedding host meets them: limits on fuel and CPU time for a
//! predicate and for a batch, and stopping.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use probity::batch::{ClaimResult, Settings, Summary, Verdict};
use probity::budget::{Budget, Budgets, CancelToken, fact_out_of_fuel};
use probity::facts::{Cost, Demand, FactKey, FactSource, FactValue, FetchStats, Fetched};
use probity::{ClaimInput, Engine, Language, Reason, ReasonCode, Watch};

/// A world whose facts all hold, at the price that their paths name: `f7c9` costs
/// 7 fuel and 9 ms of CPU time.
#[derive(Default)]
struct Priced {
    /// The fuel that each demand allowed, fetch by fetch.
    allowed: Mutex<Vec<Vec<Option<u64>>>>,
}

fn price(key: &FactKey) -> Cost {
    let (FactKey::Exists(path) | FactKey::Grep(_, path) | FactKey::Count(_, path)) = key else {
        return Cost::default();
    };
    let (fuel, cpu) = path.text[1..].split_once('c').expect("a price");
    let milliseconds: u64 = cpu.parse().expect("a number");
    Cost {
        fuel: fuel.parse().expect("a number"),
        cpu_ns: milliseconds * 1_000_000,
        bytes: 0,
    }
}

impl FactSource for Priced {
    fn fetch(&self, demands: &[Demand<'_>], _: &CancelToken) -> (Vec<Fetched>, FetchStats) {
        let allowed = demands.iter().map(|demand| demand.fuel).collect();
        self.allowed.lock().unwrap().push(allowed);
        let answers = demands.iter().map(|demand| {
            let cost = price(demand.key);
            let value = match (demand.fuel, demand.key) {
                (Some(limit), _) if cost.fuel > limit => {
                    FactValue::Unknown(fact_out_of_fuel(limit))
                }
                (_, FactKey::Exists(_)) => FactValue::Bool(true),
                _ => FactValue::Count {
                    count: 1,
                    exact: true,
                },
            };
            Fetched {
                value,
                cost,
                places: Vec::new(),
                tests: Vec::new(),
                reused: false,
            }
        });
        (answers.collect(), FetchStats::default())
    }
}

fn claims(sources: &[&str]) -> Vec<ClaimInput> {
    let claim = |source: &&str| ClaimInput {
        id: None,
        language: Language::ElenchV1,
        source: (*source).into(),
    };
    sources.iter().map(claim).collect()
}

/// Each claim with its verdict and reason, and the totals.
type Judged = (Vec<(Verdict, Option<Reason>)>, Summary);

fn judge(engine: &Engine, settings: Settings, sources: &[&str]) -> Judged {
    let mut results = Vec::new();
    let mut sink = Watch(|result: &ClaimResult| {
        let reason = result.evaluation.as_ref().and_then(|it| it.reason.clone());
        if result.verdict != Verdict::Invalid {
            let detail = reason.as_ref().map(|it| &*it.detail);
            assert_eq!(result.detail.as_deref(), detail);
        }
        results.push((result.verdict, reason));
        Ok(())
    });
    let summary = engine
        .evaluate_batch(claims(sources), settings, &mut sink)
        .expect("a batch");
    assert_eq!(summary.records, sources.len() as u64);
    assert_eq!(summary.verdicts.iter().sum::<u64>(), summary.records);
    (results, summary)
}

fn priced(budgets: Budgets, sources: &[&str]) -> Judged {
    let engine = Engine::with_facts(Arc::new(Priced::default())).build();
    let settings = Settings {
        budgets,
        ..Settings::default()
    };
    judge(&engine.expect("an engine"), settings, sources)
}

fn verdicts(judged: &Judged) -> Vec<Verdict> {
    judged.0.iter().map(|(verdict, _)| *verdict).collect()
}

/// The reason of a claim that is out of some budget.
fn exceeded(judged: &Judged, claim: usize) -> &Reason {
    let reason = judged.0[claim].1.as_ref().expect("a reason");
    assert_eq!(reason.code, ReasonCode::BudgetExceeded, "{reason}");
    reason
}

fn fuel(limit: u64) -> Budget {
    Budget {
        fuel: Some(limit),
        cpu: None,
    }
}

fn cpu(limit: Duration) -> Budget {
    Budget {
        fuel: None,
        cpu: Some(limit),
    }
}

fn per_predicate(predicate: Budget) -> Budgets {
    Budgets {
        predicate,
        ..Budgets::default()
    }
}

fn per_batch(batch: Budget) -> Budgets {
    Budgets {
        batch,
        ..Budgets::default()
    }
}

const PASS: Verdict = Verdict::Pass;
const OPEN: Verdict = Verdict::Unevaluated;

#[test]
fn a_predicate_over_its_cpu_limit_is_unevaluated_whoever_shares_its_facts() {
    let sources = [
        r#"exists("f1c100")"#,
        r#"exists("f1c100") && exists("f2c1")"#,
        r#"exists("f3c1")"#,
        // Six predicates share a fact of 60 ms: each is held to all of it.
        r#"exists("f1c60") && exists("f4c1")"#,
        r#"exists("f1c60")"#,
    ];
    let judged = priced(per_predicate(cpu(Duration::from_millis(50))), &sources);
    assert_eq!(verdicts(&judged), [OPEN, OPEN, PASS, OPEN, OPEN]);
    let reason = exceeded(&judged, 0);
    assert!(!reason.deterministic);
    for part in ["50ms", "not deterministic", "--predicate-cpu"] {
        assert!(reason.detail.contains(part), "{reason}");
    }
    let judged = priced(per_predicate(cpu(Duration::from_secs(50))), &sources);
    assert_eq!(verdicts(&judged), [PASS; 5]);
}

#[test]
fn a_predicate_over_its_fuel_limit_is_unevaluated_and_no_fact_may_cost_more() {
    let sources = [
        r#"exists("f100c0")"#,
        r#"exists("f60c0") && exists("f30c0")"#,
        r#"exists("f60c0") && exists("f61c0")"#,
        // Decided without the fact, and it was looked up all the same.
        r#"exists("f1c0") || exists("f101c0")"#,
    ];
    let source = Arc::new(Priced::default());
    let engine = Engine::with_facts(Arc::clone(&source) as Arc<dyn FactSource>)
        .build()
        .unwrap();
    let settings = Settings {
        budgets: per_predicate(fuel(100)),
        ..Settings::default()
    };
    let judged = judge(&engine, settings, &sources);
    assert_eq!(verdicts(&judged), [OPEN, PASS, OPEN, OPEN]);
    for claim in [0, 2, 3] {
        let reason = exceeded(&judged, claim);
        assert!(reason.deterministic, "{reason}");
        assert!(reason.detail.contains("limit is 100"), "{reason}");
    }
    let allowed = source.allowed.lock().unwrap();
    assert!(allowed.iter().flatten().all(|&fuel| fuel == Some(100)));
}

#[test]
fn a_batch_over_its_fuel_keeps_what_it_paid_for_and_looks_up_no_more() {
    let sources = [
        r#"exists("f100c0")"#,
        r#"exists("f200c0")"#,
        r#"grep(/a/, "f1c0") >= 1"#,
        r#"exists("f200c0") || grep(/a/, "f1c0") >= 1"#,
        r#"!exists("f100c0") && grep(/b/, "f1c0") >= 1"#,
        "grep(",
    ];
    let fail = Verdict::Fail;
    let invalid = Verdict::Invalid;
    let enough = priced(per_batch(fuel(10_000)), &sources);
    assert_eq!(verdicts(&enough), [PASS, PASS, PASS, PASS, fail, invalid]);
    let short = priced(per_batch(fuel(299)), &sources);
    assert_eq!(verdicts(&short), [PASS, PASS, OPEN, PASS, fail, invalid]);
    let reason = exceeded(&short, 2);
    assert!(
        reason.deterministic && reason.detail.contains("299"),
        "{reason}"
    );
    assert!(short.1.fuel > 300 && !short.1.interrupted);
    assert_eq!(short.1.codes["budget_exceeded"], 1);

    let mut backwards = sources;
    backwards.reverse();
    let mut other = priced(per_batch(fuel(299)), &backwards);
    other.0.reverse();
    assert_eq!(other.0, short.0);
    assert_eq!(other.1.fuel, short.1.fuel);
}

#[test]
fn no_fact_may_cost_more_than_what_is_left_of_the_batch() {
    let source = Arc::new(Priced::default());
    let engine = Engine::with_facts(Arc::clone(&source) as Arc<dyn FactSource>)
        .build()
        .unwrap();
    let settings = Settings {
        budgets: Budgets {
            predicate: fuel(500),
            batch: fuel(600),
        },
        ..Settings::default()
    };
    let sources = [
        r#"exists("f100c0")"#,
        r#"grep(/a/, "f10c0") >= 1"#,
        r#"grep(/b/, "f499c0") >= 1"#,
    ];
    let judged = judge(&engine, settings, &sources);
    assert_eq!(verdicts(&judged), [PASS, PASS, OPEN]);
    exceeded(&judged, 2);
    let allowed = source.allowed.lock().unwrap();
    assert_eq!(allowed[0], [Some(500)]);
    let left = allowed[1][0].unwrap();
    assert!(
        (490..500).contains(&left),
        "{left}: evaluating costs fuel too"
    );
}

#[test]
fn a_batch_without_cpu_time_left_goes_on_and_reports_every_claim() {
    let sources = [
        r#"exists("f1c700")"#,
        r#"exists("f1c800")"#,
        r#"grep(/a/, "f1c0") >= 1"#,
        r#"grep(/a/, "f1c0") >= 1 || exists("f1c700")"#,
        "grep(",
    ];
    let judged = priced(per_batch(cpu(Duration::from_secs(1))), &sources);
    assert_eq!(
        verdicts(&judged),
        [PASS, PASS, OPEN, PASS, Verdict::Invalid]
    );
    let reason = exceeded(&judged, 2);
    assert!(!reason.deterministic);
    for part in [
        "1s",
        "CPU budget of the batch",
        "not deterministic",
        "--cpu-budget",
    ] {
        assert!(reason.detail.contains(part), "{reason}");
    }
    assert!(judged.1.cpu_ns >= 1_500_000_000 && !judged.1.interrupted);
    assert_eq!(judged.1.budgets.batch.cpu, Some(Duration::from_secs(1)));
}

/// Works for each fact for a millisecond of CPU time, as a scanner would for a
/// file.
struct Laborious;

impl FactSource for Laborious {
    fn fetch(&self, demands: &[Demand<'_>], cancel: &CancelToken) -> (Vec<Fetched>, FetchStats) {
        let establish = |_: &Demand<'_>| match cancel.stop() {
            Some(cause) => FactValue::Unknown(cause.into()).into(),
            None => {
                let ((), cpu_ns) = cancel.timed(work);
                Fetched {
                    cost: Cost {
                        cpu_ns,
                        ..Cost::default()
                    },
                    ..FactValue::Bool(true).into()
                }
            }
        };
        (
            demands.iter().map(establish).collect(),
            FetchStats::default(),
        )
    }
}

fn work() {
    let started = Instant::now();
    while started.elapsed() < Duration::from_millis(1) {
        std::hint::black_box(started);
    }
}

#[test]
fn a_cpu_budget_ends_the_work_promptly() {
    let engine = Engine::with_facts(Arc::new(Laborious)).build().unwrap();
    let sources: Vec<String> = (0..5000).map(|n| format!(r#"exists("f{n}")"#)).collect();
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let budgets = per_batch(cpu(Duration::from_millis(500)));
    let settings = Settings {
        budgets,
        ..Settings::default()
    };
    let judged = judge(&engine, settings, &sources);
    let spent = judged.1.cpu_ns;
    assert!((500_000_000..2_000_000_000).contains(&spent), "{spent}");
    let passed = judged.1.count(PASS);
    assert!(passed < 2000, "{passed}");
    assert_eq!(judged.1.codes["budget_exceeded"], 5000 - passed);
    assert!(judged.1.wall_to_cpu().is_some());
}

#[test]
fn what_the_source_charges_as_it_goes_is_charged_once() {
    let engine = Engine::with_facts(Arc::new(Laborious)).build().unwrap();
    let mut reported = 0;
    let mut sink = Watch(|result: &ClaimResult| {
        reported += result.evaluation.as_ref().unwrap().cost.cpu_ns;
        Ok(())
    });
    let sources: Vec<String> = (0..50).map(|n| format!(r#"exists("f{n}")"#)).collect();
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let summary = engine
        .evaluate_batch(claims(&sources), Settings::default(), &mut sink)
        .unwrap();
    assert!(reported > 0 && summary.cpu_ns >= reported);
    // Reading and compiling is in the total as well.
    assert!(
        summary.cpu_ns < 2 * reported,
        "{} {reported}",
        summary.cpu_ns
    );
}

#[test]
fn a_token_of_its_own_stops_one_batch_and_the_engine_s_stops_all() {
    let engine = Engine::with_facts(Arc::new(Priced::default()))
        .build()
        .unwrap();
    let sources = [r#"exists("f1c1")"#];
    let cancelled = CancelToken::new();
    cancelled.cancel();
    let late = CancelToken::new().with_deadline(Instant::now());
    for token in [cancelled, late] {
        let settings = Settings {
            cancel: Some(token),
            ..Settings::default()
        };
        let program = engine.compile(Language::ElenchV1, sources[0]).unwrap();
        let evaluation = engine.evaluate_with(&program, settings.clone()).unwrap();
        let reason = evaluation.reason.unwrap();
        assert_eq!(reason.code, ReasonCode::Cancelled);
        assert!(!reason.deterministic);
        let mut sink = Watch(|_: &ClaimResult| Ok(()));
        let stopped = engine.evaluate_batch(claims(&sources), settings, &mut sink);
        let stopped = stopped.unwrap();
        assert!(stopped.interrupted && stopped.records == 0);
        let other = judge(&engine, Settings::default(), &sources);
        assert_eq!(verdicts(&other), [PASS], "another batch goes on");
    }
    let settings = Settings {
        cancel: Some(CancelToken::new()),
        ..Settings::default()
    };
    engine.cancel_token().cancel();
    let mut sink = Watch(|_: &ClaimResult| Ok(()));
    let stopped = engine.evaluate_batch(claims(&sources), settings, &mut sink);
    assert!(stopped.unwrap().interrupted);
}

#[test]
fn limits_of_an_engine_can_be_tightened_and_not_loosened() {
    let engine = Engine::with_facts(Arc::new(Priced::default()))
        .budgets(per_predicate(fuel(100)))
        .build()
        .unwrap();
    let sources = [r#"exists("f50c0")"#, r#"exists("f150c0")"#];
    for (limit, expected) in [
        (None, [PASS, OPEN]),
        (Some(1000), [PASS, OPEN]),
        (Some(10), [OPEN, OPEN]),
    ] {
        let settings = Settings {
            budgets: limit.map_or(Budgets::default(), |limit| per_predicate(fuel(limit))),
            ..Settings::default()
        };
        let judged = judge(&engine, settings, &sources);
        assert_eq!(verdicts(&judged), expected, "{limit:?}");
    }
    let program = engine.compile(Language::ElenchV1, sources[1]).unwrap();
    assert_eq!(engine.evaluate(&program).unwrap().verdict, OPEN);
}
