//! Which atoms a slice holds, and in which order. (flow.md, section 1.5.)
//!
//! Nothing here recurses: a chain of atoms may be as long as memory allows. Each atom,
//! each link to a parent and each covered test is looked at a fixed number of times.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use crate::flow::model::coverage::CoverageMap;
use crate::flow::model::derive::{AtomGraph, DeriveError};
use crate::flow::model::ids::{AtomId, TestId};
use crate::flow::model::slice::UnresolvedParent;

/// What the atoms of candidates come to.
#[derive(Debug)]
pub(super) struct Closure {
    /// All atoms whose ancestors are known, each after its parents, the smallest id first
    /// where there is a choice.
    pub(super) atoms: Vec<AtomId>,
    /// The atoms that are left out, with the parents that are not in the slice.
    pub(super) unresolved: Vec<UnresolvedParent>,
    /// The tests that cover the atoms.
    pub(super) tests: BTreeSet<TestId>,
}

/// An atom that was reached.
struct Node {
    id: AtomId,
    /// Each parent once, and its node if it is known.
    parents: Vec<(AtomId, Option<usize>)>,
    /// The nodes that wait for this one.
    children: Vec<usize>,
    /// Parents that are not resolved. One that is not known never is.
    waiting: usize,
    /// Whether all ancestors are known.
    resolved: bool,
}

/// The search for a fixed point.
pub(super) struct Walk<'i> {
    graph: &'i dyn AtomGraph,
    coverage: &'i CoverageMap,
    numbers: HashMap<AtomId, usize>,
    nodes: Vec<Node>,
    /// Nodes whose parents were not looked up yet: those from here on.
    next: usize,
    tests: BTreeSet<&'i TestId>,
}

impl<'i> Walk<'i> {
    pub(super) fn new(graph: &'i dyn AtomGraph, coverage: &'i CoverageMap) -> Self {
        Self {
            graph,
            coverage,
            numbers: HashMap::new(),
            nodes: Vec::new(),
            next: 0,
            tests: BTreeSet::new(),
        }
    }

    /// The node of an atom, if the atom is known.
    pub(super) fn reach(&mut self, id: AtomId) -> Option<usize> {
        if let Some(node) = self.numbers.get(&id) {
            return Some(*node);
        }
        let mut parents = self.graph.parents(&id)?.to_vec();
        parents.sort_unstable();
        parents.dedup();
        let node = self.nodes.len();
        self.numbers.insert(id, node);
        self.nodes.push(Node {
            id,
            parents: parents.into_iter().map(|parent| (parent, None)).collect(),
            children: Vec::new(),
            waiting: 0,
            resolved: false,
        });
        Some(node)
    }

    /// Follows parents and tests until nothing new is reached.
    pub(super) fn finish(mut self) -> Result<Closure, DeriveError> {
        while self.next < self.nodes.len() {
            let node = self.next;
            self.next += 1;
            self.expand(node)?;
        }
        self.refuse_cycles()?;
        let unresolved = self.unresolved();
        Ok(Closure {
            atoms: self.order(),
            unresolved,
            tests: self.tests.into_iter().cloned().collect(),
        })
    }

    fn expand(&mut self, node: usize) -> Result<(), DeriveError> {
        let mut parents = std::mem::take(&mut self.nodes[node].parents);
        let mut waiting = 0;
        for (id, known) in &mut parents {
            *known = self.reach(*id);
            if let Some(parent) = *known {
                self.nodes[parent].children.push(node);
                waiting += usize::from(!self.nodes[parent].resolved);
            } else {
                waiting += 1;
            }
        }
        self.nodes[node].parents = parents;
        self.nodes[node].waiting = waiting;
        if waiting == 0 {
            self.resolve(node)?;
        }
        Ok(())
    }

    /// All ancestors of a node are known: its tests are wanted, and what waits for it may
    /// be resolved too.
    fn resolve(&mut self, node: usize) -> Result<(), DeriveError> {
        let mut ready = vec![node];
        while let Some(node) = ready.pop() {
            self.nodes[node].resolved = true;
            self.cover(node)?;
            for at in 0..self.nodes[node].children.len() {
                let child = self.nodes[node].children[at];
                let waiting = &mut self.nodes[child].waiting;
                *waiting -= 1;
                if *waiting == 0 {
                    ready.push(child);
                }
            }
        }
        Ok(())
    }

    fn cover(&mut self, node: usize) -> Result<(), DeriveError> {
        let coverage = self.coverage;
        let id = self.nodes[node].id;
        for test in coverage.tests_of(&id) {
            if !self.tests.insert(test) {
                continue;
            }
            for atom in coverage.atoms_of(test) {
                self.reach(*atom).ok_or_else(|| DeriveError::CoveredAtom {
                    test: test.clone(),
                    atom: *atom,
                })?;
            }
        }
        Ok(())
    }

    /// What is not resolved depends on something unknown or on itself.
    fn refuse_cycles(&self) -> Result<(), DeriveError> {
        let open = |node: &usize| !self.nodes[*node].resolved;
        let mut left: Vec<usize> = (0..self.nodes.len()).filter(open).collect();
        let mut waiting = vec![0_usize; self.nodes.len()];
        for node in &left {
            let parents = self.nodes[*node].parents.iter();
            waiting[*node] = parents.filter_map(|(_, node)| *node).filter(&open).count();
        }
        let mut ready = left.clone();
        ready.retain(|node| waiting[*node] == 0);
        while let Some(node) = ready.pop() {
            for child in &self.nodes[node].children {
                waiting[*child] -= 1;
                if waiting[*child] == 0 {
                    ready.push(*child);
                }
            }
        }
        left.retain(|node| waiting[*node] > 0);
        let Some(start) = left.into_iter().min_by_key(|node| self.nodes[*node].id) else {
            return Ok(());
        };
        Err(DeriveError::Cycle(self.cycle(start, &waiting)))
    }

    /// A cycle among the ancestors of a node: each of those that wait has a parent that
    /// waits.
    fn cycle(&self, start: usize, waiting: &[usize]) -> Vec<AtomId> {
        let mut seen = HashMap::new();
        let mut path: Vec<usize> = Vec::new();
        let mut node = start;
        let first = loop {
            if let Some(first) = seen.insert(node, path.len()) {
                break first;
            }
            path.push(node);
            let parents = self.nodes[node].parents.iter();
            let mut parents = parents.filter_map(|(_, parent)| *parent);
            match parents.find(|parent| waiting[*parent] > 0) {
                Some(parent) => node = parent,
                None => break 0,
            }
        };
        path[first..]
            .iter()
            .map(|node| self.nodes[*node].id)
            .collect()
    }

    /// Each atom that is left out with each of its parents that is not in the slice.
    fn unresolved(&self) -> Vec<UnresolvedParent> {
        let mut unresolved = Vec::new();
        for node in self.nodes.iter().filter(|node| !node.resolved) {
            for (missing_parent, parent) in &node.parents {
                if parent.is_none_or(|parent| !self.nodes[parent].resolved) {
                    unresolved.push(UnresolvedParent {
                        atom: node.id,
                        missing_parent: *missing_parent,
                    });
                }
            }
        }
        unresolved.sort_unstable();
        unresolved
    }

    fn order(&self) -> Vec<AtomId> {
        let mut waiting: Vec<usize> = self.nodes.iter().map(|node| node.parents.len()).collect();
        let ready = |(at, node): (usize, &Node)| Reverse((node.id, at));
        let nodes = self.nodes.iter().enumerate();
        let mut heap: BinaryHeap<Reverse<(AtomId, usize)>> = nodes
            .filter(|(_, node)| node.resolved && node.parents.is_empty())
            .map(ready)
            .collect();
        let mut atoms = Vec::new();
        while let Some(Reverse((id, node))) = heap.pop() {
            atoms.push(id);
            for child in &self.nodes[node].children {
                waiting[*child] -= 1;
                if waiting[*child] == 0 {
                    heap.push(ready((*child, &self.nodes[*child])));
                }
            }
        }
        atoms
    }
}
