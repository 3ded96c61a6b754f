//! Who gets what of which file, and who pays: files are added one after the other,
//! in walk order, whatever the order in which they were scanned.

use crate::facts::{Cost, FetchStats, Fetched};
use crate::reason::Reason;
use crate::scan::engine::Request;
use crate::scan::file::{Needs, Scanned};
use crate::scan::fuel;
use crate::scan::tally::Tally;

/// A target: the requests that want the same files.
#[derive(Debug, Default)]
struct Group {
    /// What one request was charged so far.
    cost: Cost,
    has_files: bool,
    /// The least fuel that one of its requests may take of what they share.
    fuel_limit: Option<u64>,
    /// Requests that are not decided, some of which may be by now.
    open: Vec<u32>,
    /// How many really are not.
    undecided: usize,
}

/// A request on the books.
#[derive(Debug)]
struct Account<'a> {
    tally: Tally<'a>,
    group: u32,
    /// What its group had cost when it was decided.
    closed: Option<Cost>,
}

/// The requests of a panel.
#[derive(Debug)]
pub(super) struct Ledger<'a> {
    accounts: Vec<Account<'a>>,
    groups: Vec<Group>,
    /// For each member of the panel its requests.
    of_member: Vec<Vec<u32>>,
    pub(super) stats: FetchStats,
}

impl<'a> Ledger<'a> {
    pub(super) fn new(members: usize) -> Self {
        Self {
            accounts: Vec::new(),
            groups: Vec::new(),
            of_member: vec![Vec::new(); members],
            stats: FetchStats::default(),
        }
    }

    /// A new target; its number is how many there were before.
    pub(super) fn add_group(&mut self) {
        self.groups.push(Group::default());
    }

    /// A new request on a target; its number is how many there were before.
    /// `prepared` is what making its pattern ready took, or why it cannot be.
    pub(super) fn add_request(
        &mut self,
        request: &'a Request<'a>,
        group: u32,
        member: u32,
        prepared: Result<u64, Reason>,
    ) {
        let number = u32::try_from(self.accounts.len()).unwrap_or(u32::MAX);
        let mut tally = Tally::new(request);
        match prepared {
            Ok(cpu_ns) => tally.charge_regex(cpu_ns),
            Err(reason) => tally.fail(reason),
        }
        let is_open = tally.is_open();
        self.accounts.push(Account {
            tally,
            group,
            closed: (!is_open).then(Cost::default),
        });
        if is_open {
            self.of_member[member as usize].push(number);
            let group = &mut self.groups[group as usize];
            group.open.push(number);
            group.undecided += 1;
            if let Some(limit) = request.fuel {
                let limit = limit.saturating_sub(fuel::REGEX);
                group.fuel_limit = Some(group.fuel_limit.map_or(limit, |least| least.min(limit)));
            }
        }
    }

    /// True if some request of some target is not decided.
    pub(super) fn is_open(&self) -> bool {
        self.groups.iter().any(|group| group.undecided > 0)
    }

    /// How many requests of some targets are not decided.
    pub(super) fn undecided(&self, groups: &[u32]) -> usize {
        let groups = groups.iter().map(|&group| &self.groups[group as usize]);
        groups.map(|group| group.undecided).sum()
    }

    /// How much each member needs of the next files.
    pub(super) fn needs(&self) -> Needs {
        let mut needs = Needs {
            limits: vec![0; self.of_member.len()],
            places: vec![0; self.of_member.len()],
        };
        let members = needs.limits.iter_mut().zip(&mut needs.places);
        for ((limit, places), requests) in members.zip(&self.of_member) {
            for account in self.open_among(requests) {
                *limit = (*limit).max(account.tally.missing());
                *places = (*places).max(account.tally.missing_places());
            }
        }
        needs
    }

    /// The members that undecided requests of some targets want, ascending.
    pub(super) fn members(&self, groups: &[u32]) -> Vec<u32> {
        (0..)
            .zip(&self.of_member)
            .filter(|(_, requests)| {
                self.open_among(requests)
                    .any(|account| groups.contains(&account.group))
            })
            .map(|(member, _)| member)
            .collect()
    }

    fn open_among(&self, requests: &[u32]) -> impl Iterator<Item = &Account<'a>> {
        let accounts = requests
            .iter()
            .map(|&number| &self.accounts[number as usize]);
        accounts.filter(|account| account.closed.is_none())
    }

    /// Adds the next file, which belongs to some targets.
    pub(super) fn add(&mut self, path: &str, groups: &[u32], scanned: &Scanned) {
        let mut is_needed = false;
        for &group in groups {
            let group = &mut self.groups[group as usize];
            group.has_files = true;
            if group.undecided > 0 {
                is_needed = true;
                group.cost.bytes = group.cost.bytes.saturating_add(scanned.bytes);
                let fuel = fuel::file(scanned.bytes);
                group.cost.fuel = group.cost.fuel.saturating_add(fuel);
            }
        }
        if !is_needed {
            return;
        }
        self.stats.files += 1;
        self.stats.bytes += scanned.bytes;
        let scan = &mut self.stats.scan;
        let (files, bytes) = match scanned.is_read {
            true => (&mut scan.read_files, &mut scan.read_bytes),
            false => (&mut scan.known_files, &mut scan.known_bytes),
        };
        *files += 1;
        *bytes += scanned.bytes;
        for &group in groups {
            self.hold_to_budget(group);
        }
        for (member, finding) in &scanned.findings {
            for index in 0..self.of_member[*member as usize].len() {
                let number = self.of_member[*member as usize][index];
                let account = &mut self.accounts[number as usize];
                if account.closed.is_none() && groups.contains(&account.group) {
                    account.tally.add(path, finding);
                    self.settle(number);
                }
            }
        }
        if let Some(stop) = &scanned.stop {
            self.fail(groups, &stop.reason(path));
        }
    }

    /// Gives up the requests of a target that took more fuel than they may.
    fn hold_to_budget(&mut self, group: u32) {
        let shared = &self.groups[group as usize];
        let fuel = shared.cost.fuel;
        if shared.fuel_limit.is_none_or(|limit| fuel <= limit) {
            return;
        }
        for number in self.groups[group as usize].open.clone() {
            let account = &mut self.accounts[number as usize];
            if account.closed.is_none() && account.tally.hold_to_budget(fuel) {
                self.settle(number);
            }
        }
        self.groups[group as usize]
            .open
            .retain(|&number| self.accounts[number as usize].closed.is_none());
    }

    /// Gives up all undecided requests of some targets.
    pub(super) fn fail(&mut self, groups: &[u32], reason: &Reason) {
        for &group in groups {
            for number in std::mem::take(&mut self.groups[group as usize].open) {
                let account = &mut self.accounts[number as usize];
                if account.closed.is_none() {
                    account.tally.fail(reason.clone());
                    self.settle(number);
                }
            }
        }
    }

    /// Gives up all that is left.
    pub(super) fn fail_all(&mut self, reason: &Reason) {
        let all: Vec<u32> = (0..).zip(&self.groups).map(|(number, _)| number).collect();
        self.fail(&all, reason);
    }

    /// Closes a request that is decided.
    fn settle(&mut self, number: u32) {
        let account = &mut self.accounts[number as usize];
        if !account.tally.is_open() && account.closed.is_none() {
            let group = &mut self.groups[account.group as usize];
            account.closed = Some(group.cost);
            group.undecided -= 1;
        }
    }

    /// Spreads CPU time over the requests that it was spent for.
    pub(super) fn charge_cpu(&mut self, groups: &[u32], cpu_ns: u64) {
        let undecided = self.undecided(groups).max(1) as u64;
        for &group in groups {
            self.groups[group as usize].cost.cpu_ns += cpu_ns.div_ceil(undecided);
        }
    }

    /// True if no file belongs to the target.
    pub(super) fn is_empty(&self, group: u32) -> bool {
        !self.groups[group as usize].has_files
    }

    /// The answers, in the order in which the requests were added.
    pub(super) fn finish(self) -> impl Iterator<Item = Fetched> {
        let groups = self.groups;
        self.accounts.into_iter().map(move |account| {
            let shared = account
                .closed
                .unwrap_or(groups[account.group as usize].cost);
            account.tally.finish(shared)
        })
    }
}
