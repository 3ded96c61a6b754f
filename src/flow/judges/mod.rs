//! Judges that come with Probity: a command, and answers written down before.
//! (flow.md, section 4.3; docs/exec.md.)

#[cfg(all(feature = "exec", target_os = "linux"))]
mod command;
mod fixture;

#[cfg(all(feature = "exec", target_os = "linux"))]
pub use command::{CommandJudge, CommandJudgeError, MAX_JUDGE_REPLY_BYTES};
pub use fixture::{FixtureJudge, FixtureJudgeError, MAX_JUDGE_FIXTURE_BYTES};
