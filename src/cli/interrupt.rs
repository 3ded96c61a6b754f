//! Ctrl-C and requests to terminate.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::{Exit, message};
use crate::facts::CancelToken;

/// How long a run that was asked to stop may take to hand over what it has.
/// After that it is ended wherever it hangs, say on a pipe that nobody reads.
const GRACE: Duration = Duration::from_millis(900);

/// Whether the run was asked to stop, by a signal or its deadline.
#[derive(Debug)]
pub(super) struct Interrupt {
    signalled: Arc<AtomicBool>,
    cancel: CancelToken,
}

impl Interrupt {
    /// Watches for signals from here on, and for the deadline if there is one.
    /// The first signal asks the run to stop; a second ends it at once.
    pub(super) fn watch(deadline: Option<Duration>) -> Self {
        let signalled = Arc::new(AtomicBool::new(false));
        let cancel = CancelToken::new();
        let handler = {
            let (signalled, cancel) = (Arc::clone(&signalled), cancel.clone());
            move || {
                if signalled.swap(true, Ordering::Relaxed) {
                    end();
                }
                cancel.cancel();
                thread::spawn(|| {
                    thread::sleep(GRACE);
                    end();
                });
            }
        };
        if let Err(error) = ctrlc::set_handler(handler) {
            message::warning(format_args!("an interrupt will lose results: {error}"));
        }
        let cancel = match deadline {
            Some(deadline) => cancel.with_deadline(Instant::now() + deadline),
            None => cancel,
        };
        Self { signalled, cancel }
    }

    /// What the engine watches.
    pub(super) fn token(&self) -> CancelToken {
        self.cancel.clone()
    }

    /// The status of a run that would end with `exit` had no signal come.
    pub(super) fn exit(&self, exit: Exit) -> Exit {
        if self.signalled.load(Ordering::Relaxed) {
            Exit::Interrupted
        } else {
            exit
        }
    }
}

fn end() -> ! {
    std::process::exit(Exit::Interrupted as i32)
}
