//! The names of ADR-0004 on top of the engine: [`parse`], [`evaluate`],
//! [`EvalContext`], and the validator's check of INV-08, [`validate_claim`].
//!
//! ```
//! use probity::elench::{EvalContext, evaluate, parse};
//!
//! let expression = parse(r#"exists("Cargo.toml")"#)?;
//! let result = evaluate(&expression, &EvalContext::new("."))?;
//! assert!(result.holds);
//! assert!(parse("Input validation is now handled correctly.").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod evaluate;
mod parse;
mod validate;

pub use evaluate::{EvalContext, EvalError, EvalResult, Sandbox, evaluate};
pub use parse::{Expression, ParseError, parse};
pub use validate::{ValidationError, validate_claim};
