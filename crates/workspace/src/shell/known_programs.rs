//! Known programs, and the warnings about their calls, as the table `programs.toml`.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::argv::{CommandWords, WrapperCommand, has_short};
use super::conditions::ProgramRule;
use super::git::GitWarnings;

/// Largest number of nested commands that are analysed.
const LAYERS: usize = 8;

/// Table of the known programs; a test reads all of it.
pub(super) static PROGRAMS: LazyLock<KnownPrograms> =
    LazyLock::new(|| toml::from_str(include_str!("programs.toml")).unwrap_or_default());

/// Content of `programs.toml`, which explains each field.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct KnownPrograms {
    shells: Vec<String>,
    interpreters: Vec<String>,
    print_only: Vec<String>,
    network: Vec<String>,
    writers: Vec<String>,
    rules: Vec<ProgramRule>,
    wrappers: HashMap<String, WrapperCommand>,
    pub(super) git: GitWarnings,
}

impl KnownPrograms {
    /// Returns a code and a sentence for each effect to warn about.
    pub(super) fn warnings(&self, name: &str, words: &CommandWords) -> Vec<(&str, &str)> {
        let rules = self.rules.iter().filter(|rule| rule.applies(name, &words.arguments));
        let rules = rules.map(|rule| (rule.code.as_str(), rule.sentence.as_str()));
        let runs_arguments = (self.is_shell(name) && !words.arguments.is_empty())
            || (self.is_versioned_interpreter(name)
                && words.arguments.iter().any(|word| !self.print_only.contains(word)));
        // What a program of the workspace does is not known.
        let evaluates =
            (runs_arguments || words.is_local).then_some(("evaluates", "It runs what it is given"));
        let network = self.is_network(name).then_some(("network", "It may talk to the network"));
        rules.chain(evaluates).chain(network).collect()
    }

    /// Returns a command, and the commands that it runs: each runs the next one.
    pub(super) fn layers(&self, command: CommandWords) -> Vec<CommandWords> {
        let mut layers = vec![command];
        while layers.len() < LAYERS
            && let Some(inner) = layers.last().and_then(|outer| self.inner(outer))
        {
            layers.push(inner);
        }
        layers
    }

    fn inner(&self, outer: &CommandWords) -> Option<CommandWords> {
        let name = outer.name.as_deref()?;
        let wrapper = self.wrappers.get(name)?;
        // `command -v` only shows the location of a command.
        if name == "command" && has_short(&outer.arguments, "vV") {
            return None;
        }
        let (name, arguments) = wrapper.rest(&outer.arguments).split_first()?;
        Some(CommandWords::named(name, arguments.to_vec()))
    }

    pub(super) fn writes_arguments(&self, name: &str) -> bool {
        self.writers.iter().any(|it| it == name)
    }

    pub(super) fn is_interpreter(&self, name: &str) -> bool {
        self.is_shell(name) || self.is_versioned_interpreter(name)
    }

    pub(super) fn runs_input(&self, name: &str, words: &CommandWords) -> bool {
        self.is_interpreter(name) && !words.has(&self.print_only)
    }

    /// Returns `true` if no one has seen the output of a program before.
    pub(super) fn downloads_or_decodes(&self, name: &str) -> bool {
        self.is_network(name) || matches!(name, "base64" | "xxd")
    }

    fn is_shell(&self, name: &str) -> bool {
        self.shells.iter().any(|it| it == name)
    }

    /// Returns `true` for an interpreter, with or without a version: `python3.12` is `python`.
    fn is_versioned_interpreter(&self, name: &str) -> bool {
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        self.interpreters.iter().any(|it| it == name)
    }

    fn is_network(&self, name: &str) -> bool {
        self.network.iter().any(|it| it == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn innermost(words: &str) -> (String, Vec<String>) {
        let mut words = words.split(' ').map(str::to_owned);
        let name = words.next().unwrap_or_default();
        let command = CommandWords::named(&name, words.collect());
        let last = PROGRAMS.layers(command).pop().unwrap();
        (last.name.unwrap_or_default(), last.arguments)
    }

    #[test]
    fn the_command_that_is_run_is_found_behind_what_its_runners_are_given() {
        for words in [
            "sudo rm x",
            "sudo -u bob rm x",
            "sudo -nu bob rm x",
            "sudo -ubob rm x",
            "sudo --user bob rm x",
            "sudo --user=bob -E A=1 rm x",
            "sudo -u bob -- rm x",
            "env -u X rm x",
            "env -i -u X -C /tmp A=1 B= rm x",
            "env --unset X rm x",
            "env --uns X rm x",
            "timeout 5 rm x",
            "timeout -s KILL 5 rm x",
            "timeout -sKILL -k 1 5 rm x",
            "timeout --signal KILL -- 5 rm x",
            "nice -n 5 ionice -c 3 rm x",
            "nice -5 rm x",
            "nohup setsid time -f %e rm x",
            "xargs -0 -n 1 rm x",
            "stdbuf -oL rm x",
            "exec -a other rm x",
            "flock -w 5 lock rm x",
            "chroot --userspec=a:b /new rm x",
            "busybox rm x",
            "coproc rm x",
            "fakeroot -i state -- rm x",
            "sudo -u bob env -u X timeout -s KILL 5 /bin/rm x",
        ] {
            assert_eq!(innermost(words), ("rm".into(), vec!["x".into()]), "{words}");
        }
        assert_eq!(innermost("command -v rm").0, "command");
        assert_eq!(innermost("sudo -l").0, "sudo");
        assert_eq!(innermost("timeout 5").0, "timeout");
    }

    #[test]
    fn the_table_of_programs_can_be_read() {
        let read: Result<KnownPrograms, _> = toml::from_str(include_str!("programs.toml"));
        read.unwrap();
    }
}
