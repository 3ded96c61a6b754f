//! Placeholder.
/// x
#[derive(Clone, Debug, Default)]
pub struct Limits {}
/// x
#[derive(Debug, thiserror::Error)]
#[error("x")]
pub struct OpenError;
