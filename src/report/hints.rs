//! What to do about a predicate that could not be evaluated.

use crate::reason::ReasonCode;

/// The hint of a code.
pub(super) const fn hint(code: ReasonCode) -> &'static str {
    match code {
        ReasonCode::PathNotFound => {
            "a missing file is not a count of 0; to state absence write `!exists(\"…\")`"
        }
        ReasonCode::PathOutsideWorkspace => {
            "paths are relative to --root and stay below it, through links too"
        }
        ReasonCode::PathInvalid => "name a file or directory below --root, like \"src/lib.rs\"",
        ReasonCode::NotARegularFile => "only regular files and directories are searched",
        ReasonCode::ReadError => "make the file readable for the user who runs the check",
        ReasonCode::FileChanged => "run again once nothing writes to the workspace",
        ReasonCode::TooLarge => "name a smaller file, or a directory without it",
        ReasonCode::PatternTooLarge => {
            "make the pattern smaller: bounded repeats and Unicode classes multiply its size"
        }
        ReasonCode::PatternInvalid => "the fact source was given a pattern that is no regex",
        ReasonCode::CommandNotAllowed => {
            "commands and tests run only where a policy, `probity.toml` or --policy, allows them"
        }
        ReasonCode::CommandNotFound => {
            "the program must be on the policy's path, which is neither the workspace nor the current directory"
        }
        ReasonCode::CommandInvalid => {
            "commands run without a shell: one program and its arguments, quoted where they hold spaces"
        }
        ReasonCode::NeedsCheckout => {
            "check the commit out and evaluate without --at, or state it with `grep` or `exists`"
        }
        ReasonCode::CommandTimedOut => "raise the command's time limit in the policy",
        ReasonCode::CommandOverCpu => "raise the command's CPU limit in the policy",
        ReasonCode::CommandOverMemory => "raise the command's memory limit in the policy",
        ReasonCode::CommandOverProcesses => "raise the command's process limit in the policy",
        ReasonCode::CommandNotStarted => "run the command by hand to see what is wrong with it",
        ReasonCode::CommandNondeterministic => {
            "state it with `grep` or `exists`, or with a command whose results are always the same"
        }
        ReasonCode::ConfinementUnavailable => {
            "see the layers of this machine with `probity doctor`; `confinement = \"best-effort\"` in the policy does without"
        }
        ReasonCode::OutputTruncated => {
            "raise the capture limit in the policy, or make the command print less"
        }
        ReasonCode::NetworkDenied => "allow the command its network in the policy",
        ReasonCode::TestNotFound => "give the test's full name as the test runner lists it",
        ReasonCode::TestIgnored => "an ignored test proves nothing; remove its ignore mark",
        ReasonCode::TestRunnerFailed => "make the project's tests build and run first",
        ReasonCode::BudgetExceeded => {
            "raise the limit that was reached, or narrow the paths that are searched"
        }
        ReasonCode::Cancelled => "raise --deadline, or let the run end",
        ReasonCode::FactMissing => "the host of this engine must supply the fact",
        ReasonCode::FactMistyped => {
            "the host of this engine must supply a value of the fact's type"
        }
        ReasonCode::UnsupportedVersion => "use a newer version of probity",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_read_as_error_texts_do() {
        for &code in ReasonCode::ALL {
            let hint = hint(code);
            assert!(!hint.is_empty() && !hint.ends_with('.'), "{code}");
            assert!(
                hint.starts_with(|first: char| first.is_lowercase()),
                "{code}"
            );
        }
    }
}
