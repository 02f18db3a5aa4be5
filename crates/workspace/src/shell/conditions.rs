//! Rules about known programs: conditions on the arguments of a call, and the warning to give.

use serde::Deserialize;

use super::argv::{has, has_long, has_short};

/// Conditions on the arguments of a program, of which any may hold.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct ArgumentCondition {
    /// Words of which one is an argument.
    word: Vec<String>,
    /// Words besides which there is another argument.
    other_than: Vec<String>,
    /// Letters of which one is an option, alone or with others.
    short: String,
    /// Long options of which one is an argument, complete or abbreviated.
    long: Vec<String>,
    /// Words of which one is the first argument that is no option.
    first: Vec<String>,
    /// Beginnings of which an argument has one.
    begins: Vec<String>,
    /// Words of which an argument contains one.
    contains: Vec<String>,
    /// `true` for calls without arguments.
    no_arguments: bool,
}

impl ArgumentCondition {
    fn holds(&self, arguments: &[String]) -> bool {
        let any = |holds: &dyn Fn(&String) -> bool| arguments.iter().any(holds);
        let first = arguments.iter().find(|word| !word.starts_with('-'));
        has(arguments, &self.word)
            || (!self.other_than.is_empty() && any(&|word| !self.other_than.contains(word)))
            || has_short(arguments, &self.short)
            || has_long(arguments, &self.long)
            || first.is_some_and(|first| self.first.contains(first))
            || any(&|word| self.begins.iter().any(|begin| word.starts_with(begin)))
            || any(&|word| self.contains.iter().any(|part| word.contains(part)))
            || (self.no_arguments && arguments.is_empty())
    }
}

/// Warning about calls of some programs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProgramRule {
    pub(super) code: String,
    /// Sentence of the warning, without the name of the program.
    pub(super) sentence: String,
    /// Names of the programs; `mkfs*` is every name with this beginning.
    names: Vec<String>,
    /// Condition under which the warning is given; `None`: always.
    when: Option<ArgumentCondition>,
    /// Condition under which the warning is not given.
    unless: Option<ArgumentCondition>,
}

impl ProgramRule {
    /// Returns `true` if the warning is about a call.
    pub(super) fn applies(&self, name: &str, arguments: &[String]) -> bool {
        let is_named = self.names.iter().any(|it| match it.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => it == name,
        });
        is_named
            && self.when.as_ref().is_none_or(|it| it.holds(arguments))
            && !self.unless.as_ref().is_some_and(|it| it.holds(arguments))
    }
}
