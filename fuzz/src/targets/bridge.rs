//! Facts as the engine and as the reference have them.

use std::sync::Arc;

use probity::facts::{self, FactKey, RunOutput};
use probity::{Reason, ReasonCode};

use crate::reference::tree::{Path, Pattern};
use crate::reference::{Fact, FactValue};

/// The value as the engine takes it.
pub(crate) fn for_engine(value: FactValue) -> facts::FactValue {
    match value {
        FactValue::Bool(value) => facts::FactValue::Bool(value),
        FactValue::Count(count) => facts::FactValue::Count { count, exact: true },
        FactValue::Run(output) => facts::FactValue::Run(RunOutput {
            exit: output.exit,
            stdout: Arc::from(output.stdout),
            stderr: Arc::from(output.stderr),
            stdout_truncated: output.stdout_truncated,
            stderr_truncated: output.stderr_truncated,
            isolation: Arc::default(),
        }),
        FactValue::Unknown(name) => {
            let mut codes = ReasonCode::ALL.iter();
            let code = codes
                .find(|code| code.name() == name)
                .expect("the code is known");
            facts::FactValue::Unknown(Reason::new(*code, "drawn"))
        }
    }
}

/// The fact of the reference that a fact of the engine is.
pub(crate) fn of_engine(key: &FactKey) -> Fact {
    let path = |path: &facts::PathSpec| Path {
        text: path.text.to_string(),
        glob: path.glob,
    };
    let pattern = |pattern: &facts::Pattern| Pattern {
        text: pattern.text.to_string(),
        flags: pattern.flags.to_string(),
    };
    match key {
        FactKey::Exists(at) => Fact::Exists(path(at)),
        FactKey::Grep(found, at) => Fact::Grep(pattern(found), path(at)),
        FactKey::Count(found, at) => Fact::Count(pattern(found), path(at)),
        FactKey::Test(name) => Fact::Test(name.to_string()),
        FactKey::Run(command) => Fact::Run(command.to_string()),
        other => panic!("the reference does not know {other}"),
    }
}
