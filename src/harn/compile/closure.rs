//! Closure hashes: what a predicate reaches, and the digest of all of it. (flow.md,
//! sections 0 and 12.2.)
//!
//! The hash of a predicate's source says nothing of the helpers, constants and imports
//! that it uses. Its closure hash does. It is the SHA-256 of, in this order,
//!
//! 1. the tag `probity.flow.closure.v1` and a NUL;
//! 2. the 32 bytes of the SHA-256 of the predicate's source (flow.md, section 2.5);
//! 3. a `1`, the number of *declarations* that it reaches, and these, sorted: functions
//!    (`f`), types (`t`) and bindings that are literals (`c`), each as file, letter, name
//!    and digest;
//! 4. the number of *steps* that are run when the file is loaded, and these, in the order
//!    in which they are run: bindings that it reaches and whose value has to be computed,
//!    and every statement at the top of a file, each as file and digest.
//!
//! Numbers are `u32`, low byte first; texts are their length and their bytes. A file is
//! the path that it was imported by, relative to the directory of the predicate file,
//! which itself is the empty text. The digest of an item is that of its tokens: spaces,
//! comments and the order of declarations do not count, and whoever declares or imports
//! what a predicate does not reach changes nothing. Statements count whether or not they
//! are reached, since they are run before any predicate is, and so does a binding whose
//! value changes another one.
//!
//! A predicate reaches what it names, and what that names: as the compiler resolves
//! names, attribute arguments included. The fallback of a semantic predicate is a
//! predicate with hashes of its own and is not part of it.
//!
//! Predicates that together reach more than [`MOST_STEPS`] items are hashed as a whole:
//! for 3 and 4 stand a `0` and the SHA-256 of all items in that form.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::digest::Digest;

/// Says how closure hashes are made. Whoever changes how, changes it.
const TAG: &[u8] = b"probity.flow.closure.v1\0";

/// Looking for what predicates reach takes no more steps, all predicates together: the
/// hashes of a hostile file must not cost more than the file.
const MOST_STEPS: usize = 1 << 20;

/// The number of an item, counted over all files, in the order in which they are run.
pub(super) type ItemId = u32;

/// When an item is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runs {
    /// Never: it declares something.
    Not,
    /// When the file is loaded, to set what it binds.
    ToBind,
    /// When the file is loaded, and may change what others bind.
    ToChange,
}

/// A declaration or a statement at the top of a file.
#[derive(Debug)]
pub(super) struct Item {
    /// The path of its file, empty for the predicate file.
    pub(super) file: Arc<str>,
    /// `f`, `t`, `c`, or `s` for what is run.
    pub(super) role: u8,
    /// The name that it declares, if it declares one.
    pub(super) name: Box<str>,
    /// The digest of its tokens.
    pub(super) digest: Digest,
    pub(super) runs: Runs,
}

/// Who uses what.
#[derive(Debug, Default)]
pub(super) struct Reach {
    items: Vec<(Item, Vec<ItemId>)>,
    current: Option<ItemId>,
    known: HashSet<(ItemId, ItemId)>,
}

impl Reach {
    /// Adds an item.
    pub(super) fn add(&mut self, item: Item) -> ItemId {
        self.items.push((item, Vec::new()));
        ItemId::try_from(self.items.len() - 1).unwrap_or(ItemId::MAX)
    }

    /// What is used from now on is used by this item.
    pub(super) fn enter(&mut self, item: ItemId) {
        self.current = Some(item);
    }

    /// The item that is compiled uses another.
    pub(super) fn uses(&mut self, item: ItemId) {
        let Some(current) = self.current else { return };
        if self.known.insert((current, item))
            && let Some((_, uses)) = self.items.get_mut(current as usize)
        {
            uses.push(item);
        }
    }

    /// The item that is compiled changes a binding while the file is loaded.
    pub(super) fn changes(&mut self) {
        let current = self.current.and_then(|at| self.items.get_mut(at as usize));
        if let Some((item, _)) = current {
            item.runs = Runs::ToChange;
        }
    }

    /// The closure hashes of predicates, each by its item and the hash of its source.
    pub(super) fn hashes(&self, predicates: &[(ItemId, Digest)]) -> Vec<Digest> {
        let items = (0..).zip(&self.items);
        let always = items.filter(|(_, (item, _))| item.runs == Runs::ToChange);
        let always: Vec<ItemId> = always.map(|(id, _)| id).collect();
        let mut left = MOST_STEPS;
        let reached: Option<Vec<BTreeSet<ItemId>>> = predicates
            .iter()
            .map(|(item, _)| self.reached(*item, &always, &mut left))
            .collect();
        let of = |source: &Digest, rest: &dyn Fn(&mut Sha256)| {
            let mut hash = Sha256::new();
            hash.update(TAG);
            hash.update(source.as_bytes());
            rest(&mut hash);
            Digest::from_bytes(hash.finalize().into())
        };
        match reached {
            Some(reached) => predicates
                .iter()
                .zip(&reached)
                .map(|((_, source), reached)| {
                    of(source, &|hash| {
                        hash.update([1]);
                        self.write(reached, hash);
                    })
                })
                .collect(),
            None => {
                let mut whole = Sha256::new();
                self.write(&(0..).take(self.items.len()).collect(), &mut whole);
                let whole: [u8; 32] = whole.finalize().into();
                predicates
                    .iter()
                    .map(|(_, source)| {
                        of(source, &|hash| {
                            hash.update([0]);
                            hash.update(whole);
                        })
                    })
                    .collect()
            }
        }
    }

    /// What an item reaches, and what is run before it in any case. `None` if looking
    /// takes too many steps.
    fn reached(
        &self,
        item: ItemId,
        always: &[ItemId],
        left: &mut usize,
    ) -> Option<BTreeSet<ItemId>> {
        let uses = |item: ItemId| self.items.get(item as usize).map_or(&[][..], |it| &it.1);
        let mut reached = BTreeSet::new();
        let mut open = [uses(item), always].concat();
        *left = left.checked_sub(open.len())?;
        while let Some(next) = open.pop() {
            if reached.insert(next) {
                *left = left.checked_sub(1 + uses(next).len())?;
                open.extend(uses(next));
            }
        }
        Some(reached)
    }

    fn write(&self, reached: &BTreeSet<ItemId>, hash: &mut Sha256) {
        let items = || {
            let found = reached.iter().filter_map(|id| self.items.get(*id as usize));
            found.map(|(item, _)| item)
        };
        let mut declared: Vec<&Item> = items().filter(|item| item.runs == Runs::Not).collect();
        declared.sort_by_key(|item| (&item.file, item.role, &item.name, item.digest));
        number(hash, declared.len());
        for item in declared {
            text(hash, &item.file);
            hash.update([item.role]);
            text(hash, &item.name);
            hash.update(item.digest.as_bytes());
        }
        let run = || items().filter(|item| item.runs != Runs::Not);
        number(hash, run().count());
        for item in run() {
            text(hash, &item.file);
            hash.update(item.digest.as_bytes());
        }
    }
}

fn number(hash: &mut Sha256, value: usize) {
    hash.update(u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes());
}

fn text(hash: &mut Sha256, text: &str) {
    number(hash, text.len());
    hash.update(text);
}
