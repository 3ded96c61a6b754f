//! `grep(pattern, path)` and `count(pattern, path)` as requests to the scanner.

use crate::facts::{Demand, FactKey};
use crate::scan::{Counting, Request};

/// The scanner's request for a demand that counts.
pub(super) fn request<'a>(demand: &Demand<'a>) -> Option<Request<'a>> {
    let (pattern, path, counting) = match demand.key {
        FactKey::Grep(pattern, path) => (pattern, path, Counting::Lines),
        FactKey::Count(pattern, path) => (pattern, path, Counting::Matches),
        _ => return None,
    };
    Some(Request {
        pattern,
        path,
        counting,
        limit: demand.limit,
        places: demand.places,
        fuel: demand.fuel,
    })
}
