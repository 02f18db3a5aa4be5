//! Warnings about calls of git, whose general options stand before the verb.

use serde::Deserialize;

use super::argv::{CommandWords, has, has_long, has_short};
use super::conditions::ProgramRule;

const RUNS_PROGRAMS: &str = "It gives git settings that may run programs.";

/// Facts about git, from `programs.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct GitWarnings {
    options_with_value: Vec<String>,
    program_settings: Vec<String>,
    rules: Vec<ProgramRule>,
}

impl GitWarnings {
    /// Returns a code and a sentence for each effect to warn about.
    pub(super) fn warnings(&self, words: &CommandWords) -> Vec<(&str, String)> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(word) = words.arguments.get(at).filter(|it| it.starts_with('-')) {
            let value = words.arguments.get(at + 1);
            let settings = match word.as_str() {
                "-c" | "--config-env" => value.map(String::as_str),
                _ => word.strip_prefix("--config-env=").or_else(|| word.strip_prefix("-c")),
            };
            if settings.is_some_and(|it| self.names_program(it)) {
                found.push(("evaluates", RUNS_PROGRAMS.to_owned()));
            }
            // `--exec-path` alone only prints the path; a new path would follow after `=`.
            let takes_value = self.options_with_value.contains(word) && word != "--exec-path";
            at += 1 + usize::from(takes_value);
        }
        let Some((verb, rest)) = words.arguments.get(at..).and_then(<[String]>::split_first) else {
            return found;
        };
        for rule in self.rules.iter().filter(|rule| rule.applies(verb, rest)) {
            found.push((rule.code.as_str(), format!("{} (git {verb}).", rule.sentence)));
        }
        if verb == "checkout" && is_of_files(rest) {
            found.push(("discards_work", "It can discard work (git checkout).".to_owned()));
        }
        if verb == "config" {
            found.extend(self.configures(rest));
        }
        found
    }

    /// Returns `true` if a setting may name a program that git runs.
    fn names_program(&self, setting: &str) -> bool {
        let setting = setting.to_lowercase();
        let mut beginnings = self.program_settings.iter();
        setting.contains('!') || beginnings.any(|begin| setting.starts_with(begin))
    }

    /// Returns the warnings for `git config`: git runs programs that some settings name.
    fn configures(&self, rest: &[String]) -> Vec<(&'static str, String)> {
        let edits = has_short(rest, "e") || has_long(rest, &["edit"]);
        let reads = has_short(rest, "l")
            || has_long(
                rest,
                &["get", "get-all", "get-regexp", "get-urlmatch", "get-color", "list"],
            );
        let mut names = rest.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
        let (first, second) = (names.next().unwrap_or_default(), names.next());
        let (name, writes) = match first {
            "get" | "list" => ("", false),
            "edit" => ("", true),
            "set" | "unset" | "rename-section" | "remove-section" => {
                (second.unwrap_or_default(), true)
            }
            _ => (first, second.is_some() || has_long(rest, &["unset", "unset-all", "add"])),
        };
        if reads || !(writes || edits) {
            return Vec::new();
        }
        let mut found = vec![("writes_configuration", "It changes settings of git.".to_owned())];
        if edits
            || first == "edit"
            || self.names_program(name)
            || rest.iter().any(|it| it.starts_with('!'))
        {
            found.push(("evaluates", RUNS_PROGRAMS.to_owned()));
        }
        found
    }
}

/// Returns `true` if a checkout is of files rather than of a branch, as far as the words show.
fn is_of_files(rest: &[String]) -> bool {
    let makes_branch = has_short(rest, "bt") || has_long(rest, &["orphan", "track"]);
    let names = || rest.iter().filter(|word| !word.starts_with('-'));
    let is_path = |word: &String| {
        word.starts_with(['.', ':']) || word.contains(['*', '?', '.']) || word.ends_with('/')
    };
    has(rest, &["--"]) || names().any(is_path) || (!makes_branch && names().count() > 1)
}
