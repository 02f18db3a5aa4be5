//! Warnings about calls of git, whose general options stand before the verb.

use super::argv::{CommandWords, has, has_long, has_short};

/// Options before the verb whose value may be the next word.
const TAKES: [&str; 10] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--config-env",
    "--attr-source",
    "--exec-path",
    "--list-cmds",
];
/// Beginnings of settings that name programs which git runs.
const RUNS: [&str; 19] = [
    "alias.",
    "browser.",
    "core.",
    "credential.",
    "diff.",
    "difftool.",
    "filter.",
    "gpg.",
    "include",
    "init.",
    "interactive.",
    "man.",
    "merge",
    "pager.",
    "protocol.",
    "remote.",
    "sendemail.",
    "sequence.",
    "uploadpack.",
];

/// Returns a code and a sentence for each effect to warn about.
pub(super) fn cautions(words: &CommandWords) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = words.arguments.get(at).filter(|it| it.starts_with('-')) {
        let value = words.arguments.get(at + 1);
        let settings = match word.as_str() {
            "-c" | "--config-env" => value.map(String::as_str),
            _ => word.strip_prefix("--config-env=").or_else(|| word.strip_prefix("-c")),
        };
        if settings.is_some_and(names_program) {
            found.push(("evaluates", "It gives git settings that may run programs.".to_owned()));
        }
        // `--exec-path` alone only prints the path; a new path would follow after `=`.
        at += 1 + usize::from(TAKES.contains(&word.as_str()) && word != "--exec-path");
    }
    let Some((verb, rest)) = words.arguments.get(at..).and_then(<[String]>::split_first) else {
        return found;
    };
    let verb = verb.as_str();
    if discards(verb, rest) {
        found.push(("discards_work", format!("It can discard work (git {verb}).")));
    }
    if deletes(verb, rest) {
        found.push(("deletes", format!("It deletes files (git {verb}).")));
    }
    if runs(verb, rest) {
        found.push(("evaluates", format!("It runs what it is given (git {verb}).")));
    }
    if verb == "config" {
        found.extend(configures(rest));
    }
    let verbs =
        ["push", "pull", "fetch", "clone", "remote", "submodule", "ls-remote", "send-email"];
    if verbs.contains(&verb) {
        found.push(("network", format!("It may talk to the network (git {verb}).")));
    }
    found
}

/// Returns `true` if a setting may name a program that git runs.
fn names_program(setting: &str) -> bool {
    setting.contains('!') || RUNS.iter().any(|begin| setting.to_lowercase().starts_with(begin))
}

/// Returns the warnings for `git config`: settings are permanent, and git runs programs that some
/// of them name at every call.
fn configures(rest: &[String]) -> Vec<(&'static str, String)> {
    let edits = has_short(rest, &['e']) || has_long(rest, &["edit"]);
    let reads = has_short(rest, &['l'])
        || has_long(rest, &["get", "get-all", "get-regexp", "get-urlmatch", "get-color", "list"]);
    let mut names = rest.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
    let (first, second) = (names.next().unwrap_or_default(), names.next());
    let (name, writes) = match first {
        "get" | "list" => ("", false),
        "edit" => ("", true),
        "set" | "unset" | "rename-section" | "remove-section" => (second.unwrap_or_default(), true),
        _ => (first, second.is_some() || has_long(rest, &["unset", "unset-all", "add"])),
    };
    if reads || !(writes || edits) {
        return Vec::new();
    }
    let mut found = vec![("writes_configuration", "It changes settings of git.".to_owned())];
    if edits || first == "edit" || names_program(name) || rest.iter().any(|it| it.starts_with('!'))
    {
        found.push(("evaluates", "It gives git settings that may run programs.".to_owned()));
    }
    found
}

/// Returns `true` if uncommitted changes, or commits without a branch afterwards, may be lost.
fn discards(verb: &str, rest: &[String]) -> bool {
    let short = |letters: &[char]| has_short(rest, letters);
    let long = |names: &[&str]| has_long(rest, names);
    let first = rest.iter().map(String::as_str).find(|word| !word.starts_with('-'));
    match verb {
        "restore" | "stash" | "rebase" | "filter-branch" | "filter-repo" | "read-tree" => true,
        "clean" => deletes(verb, rest),
        "reset" => long(&["hard", "merge", "keep"]),
        "checkout" => short(&['f', 'B', 'p']) || long(&["force", "patch"]) || is_of_files(rest),
        "checkout-index" | "rm" => short(&['f']) || long(&["force"]),
        "switch" => short(&['f', 'C']) || long(&["force", "force-create", "discard-changes"]),
        "branch" => short(&['f', 'd', 'D', 'M', 'C']) || long(&["force", "delete"]),
        "tag" => short(&['f', 'd']) || long(&["force", "delete"]),
        "push" => {
            short(&['f', 'd'])
                || long(&["force", "force-with-lease", "delete", "mirror", "prune"])
                // `+main` overwrites, `:main` deletes.
                || rest.iter().any(|word| word.starts_with(['+', ':']))
        }
        "fetch" | "pull" => {
            short(&['f']) || long(&["force", "rebase"]) || rest.iter().any(|it| it.starts_with('+'))
        }
        "commit" => long(&["amend"]),
        "update-ref" => short(&['d']),
        "reflog" => matches!(first, Some("expire" | "delete")),
        "worktree" => first == Some("remove"),
        "submodule" => first == Some("deinit") || short(&['f']) || long(&["force"]),
        "gc" | "prune" => verb == "prune" || long(&["prune"]),
        _ => false,
    }
}

/// Returns `true` if a checkout is of files rather than of a branch, as far as the words show.
fn is_of_files(rest: &[String]) -> bool {
    let makes_branch = has_short(rest, &['b', 't']) || has_long(rest, &["orphan", "track"]);
    let names = || rest.iter().filter(|word| !word.starts_with('-'));
    let is_path = |word: &String| {
        word.starts_with(['.', ':']) || word.contains(['*', '?', '.']) || word.ends_with('/')
    };
    has(rest, &["--"]) || names().any(is_path) || (!makes_branch && names().count() > 1)
}

/// Returns `true` if the call deletes files.
fn deletes(verb: &str, rest: &[String]) -> bool {
    match verb {
        "clean" => !has_short(rest, &['n']) && !has_long(rest, &["dry-run"]),
        "rm" => !has_long(rest, &["cached"]),
        _ => false,
    }
}

/// Returns `true` if the call runs a command from its arguments.
fn runs(verb: &str, rest: &[String]) -> bool {
    let first = rest.iter().map(String::as_str).find(|word| !word.starts_with('-'));
    match verb {
        "submodule" => first == Some("foreach"),
        "bisect" => first == Some("run"),
        "rebase" => has_short(rest, &['x']) || has_long(rest, &["exec"]),
        "difftool" => has_short(rest, &['x']) || has_long(rest, &["extcmd"]),
        "filter-branch" => true,
        _ => false,
    }
}
