//! What there is in the workspace.

use super::builtins::string;
use super::failure::{Class, Failure};
use super::machine::Machine;
use super::value::Value;
use crate::reference::files;
use crate::reference::tree::{Path, Pattern};

impl Machine<'_> {
    pub(super) fn fact(&self, name: &str, args: &[Value]) -> Result<Value, Failure> {
        let texts: Vec<&str> = args.iter().map(string).collect::<Result<_, _>>()?;
        let Some(root) = self.root else {
            return Err(Failure::new(Class::Unknown, "there is no workspace"));
        };
        let unknown = |code: &'static str| Failure::new(Class::Unknown, code);
        let path = |text: &str| Path {
            text: text.to_owned(),
            glob: false,
        };
        match (name, &texts[..]) {
            ("exists", [at]) => files::exists(root, &path(at))
                .map(Value::Bool)
                .map_err(unknown),
            ("grep", [pattern, at]) => {
                let pattern = Pattern {
                    text: (*pattern).to_owned(),
                    flags: String::new(),
                };
                let count = files::grep_count(root, &pattern, &path(at)).map_err(unknown)?;
                let count = i64::try_from(count);
                count.map(Value::Int).map_err(|_| unknown("count"))
            }
            _ => Err(Failure::arity(name)),
        }
    }
}
