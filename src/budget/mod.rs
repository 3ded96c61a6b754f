//! What work may cost, what it has cost, and when to stop.
//!
//! Fuel is the deterministic account: equal input costs equal fuel on any machine
//! and under any load. CPU time is the physical account: the thread clock around
//! whole files and slices of programs, never wall-clock time, so that a busy
//! machine does not use up anybody's budget. What runs out is a verdict, never a
//! pass.

mod clock;
mod limits;
mod stop;
mod token;

pub use clock::{Stopwatch, ThreadClock, timed};
pub use limits::{Budget, Budgets, fact_out_of_fuel};
pub use stop::StopCause;
pub use token::CancelToken;
