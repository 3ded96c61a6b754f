//! Who watches what is executed.

/// Is told when a command or a test runner is executed. It is called from several
/// threads at once, and the command waits for it.
pub trait Observer: Send + Sync {
    /// A command is about to be started. `command` is what a claim says, so nothing that
    /// a terminal can be given as it is.
    fn started(&self, command: &str);

    /// It is over, however it ended.
    fn ended(&self, command: &str);
}

/// A command that is told about.
pub(super) struct Told<'a>(Option<(&'a dyn Observer, &'a str)>);

impl<'a> Told<'a> {
    pub(super) fn new(observer: Option<&'a dyn Observer>, command: &'a str) -> Self {
        let told = observer.map(|observer| (observer, command));
        if let Some((observer, command)) = told {
            observer.started(command);
        }
        Self(told)
    }
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if let Some((observer, command)) = self.0 {
            observer.ended(command);
        }
    }
}
