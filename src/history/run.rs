//! Verdicts commit by commit.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use rayon::prelude::*;

use crate::batch::{ClaimResult, Verdict};
use crate::budget::CancelToken;
use crate::code::Program;
use crate::counts::Store;
use crate::digest::Digest;
use crate::engine::{Engine, EngineError};
use crate::facts::{FactSource, Pattern, ScanStats};
use crate::files::Limits;
use crate::git::{Commit, CommitFiles, CommitTree, GitError, Oid, Repository, TreeId};
use crate::history::facts::Facts;
use crate::history::table::{Table, Wanted};
use crate::history::world::{Counts, Step, Trail, World, file};
use crate::language::Language;
use crate::lower::CompileError;
use crate::scan::{Counting, EachCounter, count_each};

/// Commits whose new files are counted together.
const GROUP: usize = 128;

/// From this many programs on they are evaluated in parallel.
const FEW_PROGRAMS: usize = 32;

/// The history of claims cannot be told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The repository cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The engine could not go on.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A predicate that was valid is not.
    #[error("a predicate of the log does not compile: {0}")]
    Compile(#[from] CompileError),
    /// The globs of the claims cannot be matched together.
    #[error("the globs of the claims cannot be matched together: {0}")]
    Globs(#[from] globset::Error),
}

/// A verdict that holds from a commit on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The number of the commit in [`Tracked::commits`].
    pub commit: usize,
    /// The verdict from there on.
    pub verdict: Verdict,
    /// Why there is none, where there is none.
    pub code: Option<&'static str>,
    /// The particulars.
    pub detail: Option<Box<str>>,
}

/// A claim with its verdicts.
#[derive(Clone, Debug)]
pub struct Record {
    /// The claim as its log has it.
    pub claim: ClaimResult,
    /// The verdict at the first commit, and every other one that follows.
    pub changes: Arc<[Change]>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Tracked {
    /// The commits, the oldest first.
    pub commits: Vec<Commit>,
    /// True if the first of them is the `A` of a range `A..B`.
    pub has_base: bool,
    /// The claims, in the order of the log.
    pub records: Vec<Record>,
    /// Totals.
    pub summary: HistorySummary,
}

/// Totals of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistorySummary {
    /// Commits that were judged.
    pub commits: u64,
    /// Distinct valid predicates.
    pub programs: u64,
    /// Distinct facts.
    pub facts: u64,
    /// Distinct contents of files that patterns were to be counted in.
    pub contents: u64,
    /// Evaluations of programs.
    pub evaluations: u64,
    /// Facts that were looked up at single commits.
    pub lookups: u64,
    /// How contents were searched.
    pub scan: ScanStats,
    /// True if it was stopped before its end.
    pub interrupted: bool,
}

/// Judges claims at the commits of a repository.
pub struct History {
    repository: Arc<Repository>,
    engine: Engine,
    table: Arc<Table>,
    limits: Limits,
    counts: Option<Store>,
    cancel: CancelToken,
}

/// A program with what became of it.
struct Followed {
    program: Program,
    facts: Vec<u32>,
    changes: Vec<Change>,
}

/// Programs by what they state.
type Numbers = HashMap<(Digest, Language), usize>;

impl History {
    /// A history over a repository. `build` makes the engine for the facts that it is
    /// given.
    ///
    /// # Errors
    ///
    /// What `build` says.
    pub fn new<E>(
        repository: Repository,
        counts: Option<Store>,
        cancel: CancelToken,
        build: impl FnOnce(Arc<dyn FactSource>) -> Result<Engine, E>,
    ) -> Result<Self, E> {
        let table = Arc::new(Table::default());
        Ok(Self {
            repository: Arc::new(repository),
            engine: build(Arc::clone(&table) as Arc<dyn FactSource>)?,
            table,
            limits: Limits::default(),
            counts,
            cancel,
        })
    }

    /// The engine, which knows no fact before [`History::follow`].
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Follows claims along a range of commits `A..B`, see [`Repository::range`].
    /// `claims` are results of this history's engine.
    ///
    /// # Errors
    ///
    /// [`HistoryError`]; nothing is told then.
    pub fn follow(&self, claims: Vec<ClaimResult>, range: &str) -> Result<Tracked, HistoryError> {
        let (base, mut commits) = self.repository.range(range)?;
        let has_base = base.is_some();
        commits.splice(..0, base);
        let (mut followed, numbers, wanted) = self.programs(&claims)?;
        self.table.reset(&wanted);
        let mut users = vec![Vec::new(); wanted.len()];
        for (number, program) in followed.iter().enumerate() {
            for &fact in &program.facts {
                if let Some(users) = users.get_mut(fact as usize) {
                    users.push(number);
                }
            }
        }
        let mut summary = HistorySummary {
            programs: followed.len() as u64,
            facts: wanted.len() as u64,
            ..HistorySummary::default()
        };
        let trees: Vec<CommitTree> = commits
            .iter()
            .map(|commit| {
                let files = CommitFiles::new(Arc::clone(&self.repository), commit)?;
                Ok(CommitTree::new(files))
            })
            .collect::<Result<_, GitError>>()?;
        let mut failed: HashSet<(Pattern, bool)> = HashSet::new();
        loop {
            let is_sound = |pattern: &Pattern, counting: Counting| {
                !failed.contains(&(pattern.clone(), counting == Counting::Lines))
            };
            let facts = Facts::new(wanted.clone(), &is_sound)?;
            let patterns = facts.patterns.clone();
            let world = World::new(facts, self.limits);
            let counts = self.counts.as_ref();
            let run = count_each(&patterns, &self.limits, counts, &self.cancel, |counter| {
                self.walk(
                    &trees,
                    world,
                    counter,
                    (&mut followed, &users),
                    &mut summary,
                )
            });
            match run {
                Ok(done) => {
                    done?;
                    break;
                }
                // Such patterns have their reasons looked up.
                Err(bad) => {
                    let before = failed.len();
                    let bad = bad
                        .iter()
                        .filter_map(|(number, _)| patterns.get(*number as usize));
                    failed.extend(bad.map(|(pattern, counting)| {
                        (pattern.clone(), *counting == Counting::Lines)
                    }));
                    if failed.len() == before {
                        summary.interrupted = true;
                        break;
                    }
                }
            }
        }
        let changes: Vec<Arc<[Change]>> = followed
            .into_iter()
            .map(|program| program.changes.into())
            .collect();
        let records = claims.into_iter().map(|claim| {
            let number = key(&claim).and_then(|key| numbers.get(&key));
            let changes = number.and_then(|number| changes.get(*number).cloned());
            let changes = changes.unwrap_or_else(|| Arc::new([constant(&claim)]));
            Record { claim, changes }
        });
        Ok(Tracked {
            records: records.collect(),
            commits,
            has_base,
            summary,
        })
    }

    /// The distinct programs of claims, and their distinct facts.
    fn programs(
        &self,
        claims: &[ClaimResult],
    ) -> Result<(Vec<Followed>, Numbers, Vec<Wanted>), HistoryError> {
        let mut numbers = Numbers::new();
        let mut followed: Vec<Followed> = Vec::new();
        let mut wanted: Vec<Wanted> = Vec::new();
        let mut facts: HashMap<Wanted, u32> = HashMap::new();
        for claim in claims {
            let Some((key, evaluation)) = key(claim).zip(claim.evaluation.as_ref()) else {
                continue;
            };
            if numbers.contains_key(&key) {
                continue;
            }
            let program = self.engine.compile(key.1, &evaluation.predicate)?;
            let of_program = program.facts().iter().map(|fact| {
                let fact = (fact.key.clone(), fact.limit);
                let next = u32::try_from(wanted.len()).unwrap_or(u32::MAX);
                *facts.entry(fact.clone()).or_insert_with(|| {
                    wanted.push(fact);
                    next
                })
            });
            let of_program = of_program.collect();
            numbers.insert(key, followed.len());
            followed.push(Followed {
                program,
                facts: of_program,
                changes: Vec::new(),
            });
        }
        Ok((followed, numbers, wanted))
    }

    /// Goes from commit to commit.
    fn walk(
        &self,
        trees: &[CommitTree],
        mut world: World,
        counter: &mut EachCounter<'_, '_>,
        (followed, users): (&mut [Followed], &[Vec<usize>]),
        summary: &mut HistorySummary,
    ) -> Result<(), HistoryError> {
        let mut trail = Trail::default();
        let mut counts = Counts::new();
        let mut commit = 0;
        for trees in trees.chunks(GROUP) {
            let mut contents: Vec<(Oid, TreeId)> = Vec::new();
            let steps: Vec<Step> = trees
                .iter()
                .map(|tree| trail.step(tree.clone(), &world.facts.targets, &mut contents))
                .collect();
            let mut seen: HashSet<Oid> = HashSet::new();
            contents.retain(|(oid, _)| !counts.contains_key(oid) && seen.insert(*oid));
            let files = trees
                .first()
                .map(|tree| contents.iter().map(|(_, id)| file(tree, *id)));
            let files = files.into_iter().flatten().collect();
            let Ok(found) = counter.count(files) else {
                summary.interrupted = true;
                break;
            };
            for ((oid, _), found) in contents.iter().zip(found) {
                counts.insert(*oid, found.is_sound.then(|| found.hits.into()));
            }
            for step in &steps {
                if self.cancel.is_cancelled() {
                    summary.interrupted = true;
                    break;
                }
                let values = world.turn(step, &counts, &self.cancel);
                let changed = self.table.set(values);
                let mut affected: Vec<usize> = if commit == 0 {
                    (0..followed.len()).collect()
                } else {
                    let users = changed.iter().filter_map(|fact| users.get(*fact as usize));
                    users.flatten().copied().collect()
                };
                affected.sort_unstable();
                affected.dedup();
                summary.evaluations += affected.len() as u64;
                self.judge(commit, &affected, followed)?;
                commit += 1;
            }
        }
        // What was stopped half-way is not told.
        if self.cancel.is_cancelled() {
            summary.interrupted = true;
        }
        summary.commits = commit as u64;
        summary.contents = counts.len() as u64;
        summary.lookups = world.lookups;
        summary.scan = counter.stats;
        summary.scan += world.stats;
        Ok(())
    }

    /// Evaluates programs at a commit and notes what is new.
    fn judge(
        &self,
        commit: usize,
        affected: &[usize],
        followed: &mut [Followed],
    ) -> Result<(), HistoryError> {
        let evaluate = |number: &usize| {
            let program = &followed[*number].program;
            Ok((*number, self.engine.evaluate(program)?))
        };
        let judged: Vec<_> = if affected.len() < FEW_PROGRAMS {
            affected
                .iter()
                .map(evaluate)
                .collect::<Result<_, EngineError>>()?
        } else {
            affected
                .par_iter()
                .map(evaluate)
                .collect::<Result<_, EngineError>>()?
        };
        for (number, evaluation) in judged {
            let reason = evaluation.reason.as_ref();
            let change = Change {
                commit,
                verdict: evaluation.verdict,
                code: reason.map(|reason| reason.code.name()),
                detail: reason.map(|reason| reason.detail.clone()),
            };
            let changes = &mut followed[number].changes;
            let is_new = changes
                .last()
                .is_none_or(|last| (last.verdict, last.code) != (change.verdict, change.code));
            if is_new {
                changes.push(change);
            }
        }
        Ok(())
    }
}

/// What makes two claims state the same program; `None` for those that state none.
fn key(claim: &ClaimResult) -> Option<(Digest, Language)> {
    if matches!(claim.verdict, Verdict::Invalid | Verdict::Skipped) {
        return None;
    }
    let named = claim.language.as_deref().and_then(|name| name.parse().ok());
    Some((claim.digest?, named.unwrap_or_default()))
}

/// The verdict of a claim that no commit changes.
fn constant(claim: &ClaimResult) -> Change {
    Change {
        commit: 0,
        verdict: claim.verdict,
        code: claim.code,
        detail: claim.detail.as_deref().map(Into::into),
    }
}
