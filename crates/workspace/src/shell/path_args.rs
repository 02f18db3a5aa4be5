//! Finds the arguments of a command that name paths outside the workspace.

use super::argv::CommandWords;

/// Commands that only print their arguments.
const REPEAT: [&str; 2] = ["echo", "printf"];
/// Commands whose first argument is a pattern or a program, which may begin with a slash.
const FIRST_IS_PATTERN: [&str; 14] = [
    "sed", "gsed", "awk", "gawk", "mawk", "nawk", "grep", "egrep", "fgrep", "zgrep", "rg", "ag",
    "jq", "perl",
];
/// Devices that keep nothing.
const HARMLESS: [&str; 6] =
    ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero"];

/// Returns the first argument that is a path outside the workspace.
pub(super) fn outside(words: &CommandWords) -> Option<String> {
    let name = words.name.as_deref().unwrap_or_default();
    if REPEAT.contains(&name) {
        return None;
    }
    let mut passes_pattern = FIRST_IS_PATTERN.contains(&name);
    words.arguments.iter().find_map(|word| {
        if let Some(option) = word.strip_prefix('-') {
            let value = option.split_once('=').map(|(_, value)| value)?;
            return Some(value.to_owned()).filter(|it| is_outside(it));
        }
        if std::mem::take(&mut passes_pattern) {
            return None;
        }
        Some(word.clone()).filter(|it| is_outside(it))
    })
}

/// Returns the files that `sed` edits: its arguments without options and programs.
pub(super) fn edited(words: &CommandWords) -> impl Iterator<Item = &String> {
    let options = || words.arguments.iter().filter(|word| word.starts_with('-'));
    // Without such an option the first argument is the program.
    let mut passes = options().all(|word| program_of(word).is_none());
    words.arguments.iter().filter(move |word| {
        let is_option = word.starts_with('-');
        passes |= is_option && program_of(word) == Some("");
        !is_option && !std::mem::take(&mut passes)
    })
}

/// Returns the program in an option of `sed`, or its file; empty if that is the next word.
fn program_of(option: &str) -> Option<&str> {
    if let Some(long) = option.strip_prefix("--") {
        let (name, program) = long.split_once('=').unwrap_or((long, ""));
        return ["expression", "file"].contains(&name).then_some(program);
    }
    // After `-i` the rest is a suffix for the backup file.
    let at = option.find(['i', 'e', 'f']).filter(|at| !option[*at..].starts_with('i'))?;
    Some(&option[at + 1..])
}

/// Returns `true` if a path leads out of the workspace, as far as its text shows.
pub(super) fn is_outside(path: &str) -> bool {
    let begins = ["/", "~", "$HOME", "${HOME"].iter().any(|it| path.starts_with(it));
    !HARMLESS.contains(&path) && (begins || path.split('/').any(|name| name == ".."))
}
