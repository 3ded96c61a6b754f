//! Which commands are being executed, on standard error.

use std::io::{self, Write as _};
use std::sync::Mutex;
use std::time::Instant;

use indicatif::ProgressBar;

use crate::cli::progress::PERIOD;
use crate::exec::Observer;
use crate::report::escape;

/// Most characters of a command where there is no terminal that has a width, and on one:
/// it cuts the rest, but not each time through a megabyte.
const MAX_LINE: usize = 80;
const MAX_BAR: usize = 1000;

/// Shows the commands that are being executed: on the bar, or a line for one of them at
/// most once in a while.
pub(super) struct Running {
    bar: Option<ProgressBar>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// In the order in which they were started.
    commands: Vec<Box<str>>,
    last_line: Option<Instant>,
}

impl Running {
    pub(super) fn new(bar: Option<ProgressBar>) -> Self {
        Self {
            bar,
            state: Mutex::default(),
        }
    }
}

impl Observer for Running {
    fn started(&self, command: &str) {
        let Ok(mut state) = self.state.lock() else {
            return;
        };
        let limit = self.bar.as_ref().map_or(MAX_LINE, |_| MAX_BAR);
        state.commands.push(escape(command, limit).into());
        match &self.bar {
            Some(bar) => bar.set_message(shown(&state.commands)),
            None if state.last_line.is_none_or(|last| last.elapsed() >= PERIOD) => {
                state.last_line = Some(Instant::now());
                // Nobody can be told that standard error is closed.
                let _ = writeln!(io::stderr(), "{}", shown(&state.commands));
            }
            None => {}
        }
    }

    fn ended(&self, command: &str) {
        let Ok(mut state) = self.state.lock() else {
            return;
        };
        let limit = self.bar.as_ref().map_or(MAX_LINE, |_| MAX_BAR);
        let command = escape(command, limit);
        if let Some(at) = state.commands.iter().position(|known| **known == *command) {
            state.commands.remove(at);
        }
        if let Some(bar) = &self.bar {
            bar.set_message(shown(&state.commands));
        }
    }
}

/// The one that runs longest, and how many there are.
fn shown(commands: &[Box<str>]) -> String {
    match commands {
        [] => String::new(),
        [command] => format!("running {command}"),
        [command, ..] => format!("{} running: {command}", commands.len()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use indicatif::{ProgressDrawTarget, TermLike};

    use super::*;
    use crate::cli::progress::bar;

    /// A terminal of one line.
    #[derive(Clone, Debug, Default)]
    struct Screen(Arc<Mutex<String>>);

    impl Screen {
        const WIDTH: u16 = 60;

        fn line(&self) -> String {
            let line = self.0.lock().expect("nobody panicked").clone();
            assert!(line.chars().count() <= Self::WIDTH.into(), "{line:?}");
            line.trim_end().to_owned()
        }
    }

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            Self::WIDTH
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().expect("nobody panicked").push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            self.0.lock().expect("nobody panicked").clear();
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    fn on_a_screen() -> (Running, impl Fn() -> String) {
        let screen = Screen::default();
        let bar = bar();
        bar.set_draw_target(ProgressDrawTarget::term_like(Box::new(screen.clone())));
        let running = Running::new(Some(bar.clone()));
        let line = move || {
            bar.force_draw();
            screen.line()
        };
        (running, line)
    }

    #[test]
    fn the_bar_shows_the_oldest_command_and_how_many_there_are() {
        let (running, line) = on_a_screen();
        running.started("sleep 1");
        assert!(line().ends_with("] running sleep 1"), "{}", line());
        running.started("sleep 2");
        assert!(line().ends_with("] 2 running: sleep 1"), "{}", line());
        running.ended("sleep 1");
        assert!(line().ends_with("] running sleep 2"), "{}", line());
        running.ended("sleep 2");
        assert!(line().ends_with(']'), "{}", line());
    }

    #[test]
    fn a_command_is_cut_to_the_width_and_steers_no_terminal() {
        let (running, line) = on_a_screen();
        running.started(&format!("echo \u{1b}[2J\n{}", "x".repeat(5000)));
        assert!(line().contains(r"running echo \u{1b}[2J\nx"), "{}", line());
        assert!(!line().contains(char::is_control), "{:?}", line());
    }
}
