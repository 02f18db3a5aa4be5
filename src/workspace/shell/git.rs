//! Warnings about calls of git, whose general options stand before the verb.

use super::argv::{CommandWords, has, has_long, has_short};
use super::conditions::ArgumentCondition::{Always, Any, Begins, First, Long, Short, Test, Unless};
use super::conditions::{ArgumentCondition, ProgramNames, ProgramRule, applying};

/// Options before the verb whose value may be the next word.
const OPTIONS_WITH_VALUE: [&str; 10] = [
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
const PROGRAM_SETTINGS: [&str; 19] = [
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

const DISCARDS: &str = "It can discard work";
const RUNS: &str = "It runs what it is given";

const fn rule(
    code: &'static str,
    sentence: &'static str,
    verbs: &'static [&'static str],
    condition: ArgumentCondition,
) -> ProgramRule {
    ProgramRule { names: ProgramNames::Of(verbs), condition, code, sentence }
}

/// Warnings about the verbs of git. Work is lost if uncommitted changes are, or commits that are on
/// no branch afterwards.
#[rustfmt::skip]
const RULES: &[ProgramRule] = &[
    rule("discards_work", DISCARDS,
        &["restore", "stash", "rebase", "filter-branch", "filter-repo", "read-tree", "prune"], Always),
    rule("discards_work", DISCARDS, &["clean"], Unless(&[Short("n"), Long(&["dry-run"])])),
    rule("discards_work", DISCARDS, &["reset"], Long(&["hard", "merge", "keep"])),
    rule("discards_work", DISCARDS, &["checkout"], Any(&[Short("fBp"), Long(&["force", "patch"]), Test(is_of_files)])),
    rule("discards_work", DISCARDS, &["checkout-index", "rm"], Any(&[Short("f"), Long(&["force"])])),
    rule("discards_work", DISCARDS, &["switch"],
        Any(&[Short("fC"), Long(&["force", "force-create", "discard-changes"])])),
    rule("discards_work", DISCARDS, &["branch"], Any(&[Short("fdDMC"), Long(&["force", "delete"])])),
    rule("discards_work", DISCARDS, &["tag"], Any(&[Short("fd"), Long(&["force", "delete"])])),
    // `+main` overwrites, `:main` deletes.
    rule("discards_work", DISCARDS, &["push"], Any(&[
        Short("fd"), Long(&["force", "force-with-lease", "delete", "mirror", "prune"]), Begins(&['+', ':']),
    ])),
    rule("discards_work", DISCARDS, &["fetch", "pull"],
        Any(&[Short("f"), Long(&["force", "rebase"]), Begins(&['+'])])),
    rule("discards_work", DISCARDS, &["commit"], Long(&["amend"])),
    rule("discards_work", DISCARDS, &["update-ref"], Short("d")),
    rule("discards_work", DISCARDS, &["reflog"], First(&["expire", "delete"])),
    rule("discards_work", DISCARDS, &["worktree"], First(&["remove"])),
    rule("discards_work", DISCARDS, &["submodule"], Any(&[First(&["deinit"]), Short("f"), Long(&["force"])])),
    rule("discards_work", DISCARDS, &["gc"], Long(&["prune"])),
    rule("deletes", "It deletes files", &["clean"], Unless(&[Short("n"), Long(&["dry-run"])])),
    rule("deletes", "It deletes files", &["rm"], Unless(&[Long(&["cached"])])),
    rule("evaluates", RUNS, &["submodule"], First(&["foreach"])),
    rule("evaluates", RUNS, &["bisect"], First(&["run"])),
    rule("evaluates", RUNS, &["rebase"], Any(&[Short("x"), Long(&["exec"])])),
    rule("evaluates", RUNS, &["difftool"], Any(&[Short("x"), Long(&["extcmd"])])),
    rule("evaluates", RUNS, &["filter-branch"], Always),
    rule("network", "It may talk to the network",
        &["push", "pull", "fetch", "clone", "remote", "submodule", "ls-remote", "send-email"], Always),
];

/// Returns a code and a sentence for each effect to warn about.
pub(super) fn warnings(words: &CommandWords) -> Vec<(&'static str, String)> {
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
        at += 1 + usize::from(OPTIONS_WITH_VALUE.contains(&word.as_str()) && word != "--exec-path");
    }
    let Some((verb, rest)) = words.arguments.get(at..).and_then(<[String]>::split_first) else {
        return found;
    };
    for rule in applying(RULES, verb, rest) {
        found.push((rule.code, format!("{} (git {verb}).", rule.sentence)));
    }
    if verb == "config" {
        found.extend(configures(rest));
    }
    found
}

/// Returns `true` if a setting may name a program that git runs.
fn names_program(setting: &str) -> bool {
    setting.contains('!')
        || PROGRAM_SETTINGS.iter().any(|begin| setting.to_lowercase().starts_with(begin))
}

/// Returns the warnings for `git config`: settings are permanent, and git runs programs that some
/// of them name at every call.
fn configures(rest: &[String]) -> Vec<(&'static str, String)> {
    let edits = has_short(rest, "e") || has_long(rest, &["edit"]);
    let reads = has_short(rest, "l")
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

/// Returns `true` if a checkout is of files rather than of a branch, as far as the words show.
fn is_of_files(rest: &[String]) -> bool {
    let makes_branch = has_short(rest, "bt") || has_long(rest, &["orphan", "track"]);
    let names = || rest.iter().filter(|word| !word.starts_with('-'));
    let is_path = |word: &String| {
        word.starts_with(['.', ':']) || word.contains(['*', '?', '.']) || word.ends_with('/')
    };
    has(rest, &["--"]) || names().any(is_path) || (!makes_branch && names().count() > 1)
}
