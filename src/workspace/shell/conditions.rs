//! Rules about known programs: conditions on the arguments of a call, and the warning to give.

use super::argv::{has, has_long, has_short};

/// Condition on the arguments of a program.
pub(super) enum ArgumentCondition {
    /// Holds for every call.
    Always,
    /// Holds if there are no arguments.
    NoArguments,
    /// Holds if one of these words is an argument.
    Word(&'static [&'static str]),
    /// Holds if some argument is none of these words.
    OtherThan(&'static [&'static str]),
    /// Holds if one of these letters is an option, alone or with others.
    Short(&'static str),
    /// Holds if one of these long options is an argument, complete or abbreviated.
    Long(&'static [&'static str]),
    /// Holds if one of these words is the first argument that is no option.
    First(&'static [&'static str]),
    /// Holds if an argument begins with one of these characters.
    Begins(&'static [char]),
    /// Holds if an argument contains one of these words.
    Contains(&'static [&'static str]),
    /// Holds if a predicate of its own does.
    Test(fn(&[String]) -> bool),
    /// Holds if any of these conditions does.
    Any(&'static [ArgumentCondition]),
    /// Holds if none of these conditions does.
    Unless(&'static [ArgumentCondition]),
}

impl ArgumentCondition {
    fn holds(&self, arguments: &[String]) -> bool {
        let any = |holds: &dyn Fn(&str) -> bool| arguments.iter().any(|word| holds(word));
        match self {
            Self::Always => true,
            Self::NoArguments => arguments.is_empty(),
            Self::Word(words) => has(arguments, words),
            Self::OtherThan(words) => any(&|word| !words.contains(&word)),
            Self::Short(letters) => has_short(arguments, letters),
            Self::Long(names) => has_long(arguments, names),
            Self::First(words) => {
                let first = arguments.iter().find(|word| !word.starts_with('-'));
                first.is_some_and(|first| words.contains(&first.as_str()))
            }
            Self::Begins(letters) => any(&|word| word.starts_with(*letters)),
            Self::Contains(parts) => any(&|word| parts.iter().any(|part| word.contains(part))),
            Self::Test(holds) => holds(arguments),
            Self::Any(conditions) => conditions.iter().any(|it| it.holds(arguments)),
            Self::Unless(conditions) => !conditions.iter().any(|it| it.holds(arguments)),
        }
    }
}

/// Warning about calls of some programs.
pub(super) struct ProgramRule {
    pub(super) names: ProgramNames,
    pub(super) condition: ArgumentCondition,
    /// Code of the warning.
    pub(super) code: &'static str,
    /// Sentence of the warning, without the name of the program.
    pub(super) sentence: &'static str,
}

/// Names of the programs that a [`ProgramRule`] is about.
pub(super) enum ProgramNames {
    /// Exactly these names.
    Of(&'static [&'static str]),
    /// Exactly these names, with or without a version: `python3.12` for `python`.
    Versions(&'static [&'static str]),
    /// Every name with this beginning.
    Prefix(&'static str),
}

impl ProgramNames {
    fn include(&self, name: &str) -> bool {
        match self {
            Self::Of(names) => names.contains(&name),
            Self::Versions(names) => names.contains(&without_version(name)),
            Self::Prefix(prefix) => name.starts_with(prefix),
        }
    }
}

/// Returns the rules that apply to a call, in the order of the table.
pub(super) fn applying<'r>(
    rules: &'r [ProgramRule],
    name: &str,
    arguments: &[String],
) -> impl Iterator<Item = &'r ProgramRule> {
    rules.iter().filter(move |rule| rule.names.include(name) && rule.condition.holds(arguments))
}

/// Returns a name without its version: `python` for `python3.12`.
pub(super) fn without_version(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}
