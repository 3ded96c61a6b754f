//! Facts: what the primitives of a predicate establish about the world.

mod key;
mod source;
mod table;

pub use key::{FactKey, PathSpec, Pattern, Primitive, RegexFlags};
pub use source::{
    CancelToken, Cost, Demand, FactSource, FactValue, FetchStats, Fetched, Place, RunOutput,
};
pub use table::{Cell, FactTable};
/// x
pub struct WorkspaceSource;
impl WorkspaceSource {
    /** x */
    pub fn open(
        _r: &std::path::Path,
        _l: crate::files::Limits,
    ) -> Result<Self, crate::files::OpenError> {
        Err(crate::files::OpenError)
    }
}
impl FactSource for WorkspaceSource {
    fn fetch(&self, _d: &[Demand<'_>], _c: &CancelToken) -> (Vec<Fetched>, FetchStats) {
        Default::default()
    }
}
