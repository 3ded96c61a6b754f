//! Claims in the forms that other tools read: SARIF, JUnit XML, GitHub annotations.

mod finding;
mod github;
mod junit;
mod sarif;

pub use github::GitHubReport;
pub use junit::JUnitReport;
pub use sarif::SarifReport;
