//! Known effects of programs, by their names and options.

use super::argv::CommandWords;

/// Commands whose name alone is a reason for a warning: names, code and sentence.
const TELLING: [(&[&str], &str, &str); 7] = [
    (&["sudo", "doas", "su", "pkexec", "runuser"], "privileges", "It asks for more rights"),
    (&["rm", "rmdir", "unlink", "shred"], "deletes", "It deletes files"),
    (&["dd", "fdisk", "parted", "wipefs", "mount", "umount"], "disk", "It works on whole disks"),
    (
        &["chmod", "chown", "chgrp", "setfacl"],
        "permissions",
        "It changes who may do what with files",
    ),
    (
        &["kill", "pkill", "killall", "shutdown", "reboot", "poweroff", "halt", "systemctl"],
        "kills",
        "It ends other programs",
    ),
    (
        &["nohup", "setsid", "coproc", "disown", "at", "batch", "crontab", "systemd-run"],
        "background",
        "It leaves something running",
    ),
    (
        &["make", "gmake", "just", "ninja", "rake", "ant", "mvn", "gradle", "tox"],
        "evaluates",
        "It runs what a file of the workspace says",
    ),
];
pub(super) const SHELLS: [&str; 7] = ["sh", "bash", "zsh", "dash", "ksh", "fish", "busybox"];
/// Programs that run a program from their arguments, by their names without a version.
pub(super) const INTERPRETERS: [&str; 15] = [
    "python",
    "pypy",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "expect",
    "Rscript",
    "osascript",
];
const AWKS: [&str; 5] = ["awk", "gawk", "mawk", "nawk", "original-awk"];
const EVALUATES: [&str; 9] =
    ["eval", "source", ".", "exec", "xargs", "parallel", "command", "builtin", "trap"];
pub(super) const NETWORK: [&str; 34] = [
    "curl", "wget", "nc", "ncat", "netcat", "socat", "ssh", "scp", "sftp", "rsync", "ftp",
    "telnet", "dig", "nslookup", "npm", "npx", "pip", "pip3", "pipx", "uv", "uvx", "yarn", "pnpm",
    "gem", "apt", "apt-get", "dnf", "yum", "apk", "brew", "gh", "docker", "podman", "kubectl",
];

/// Returns a name without its version: `python` for `python3.12`.
pub(super) fn family(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// Returns a code and a sentence for each effect to warn about.
pub(super) fn cautions(name: &str, words: &CommandWords) -> Vec<(&'static str, &'static str)> {
    let mut found: Vec<_> = TELLING
        .iter()
        .filter(|(names, ..)| names.contains(&name))
        .map(|(_, code, what)| (*code, *what))
        .collect();
    if name.starts_with("mkfs") {
        found.push(("disk", "It formats a disk"));
    }
    if deletes(name, words) {
        found.push(("deletes", "It may delete or run something for every file it finds"));
    }
    if overwrites(name, words) {
        found.push(("overwrites", "It changes files or may write over others"));
    }
    if matches!(name, "env" | "printenv" | "set") && words.arguments.is_empty() {
        found.push(("environment", "It shows the environment"));
    }
    if evaluates(name, words) {
        found.push(("evaluates", "It runs what it is given"));
    }
    if NETWORK.contains(&name) {
        found.push(("network", "It may talk to the network"));
    }
    found
}

/// Returns `true` if the command deletes the files that it finds, or runs a program for each.
fn deletes(name: &str, words: &CommandWords) -> bool {
    match name {
        "find" => words.has(&["-delete", "-exec", "-execdir", "-ok", "-okdir"]),
        "fd" | "fdfind" => words.has_short(&['x', 'X']) || words.has_long(&["exec", "exec-batch"]),
        "rsync" => {
            words.has_long(&["delete", "delete-after", "delete-excluded", "remove-source-files"])
        }
        _ => false,
    }
}

/// Returns `true` if the command changes existing files, or replaces them.
pub(super) fn overwrites(name: &str, words: &CommandWords) -> bool {
    let in_place = || words.has_short(&['i']);
    match name {
        "mv" | "cp" => !words.has_short(&['n']) && !words.has_long(&["no-clobber"]),
        "tee" => !words.has_short(&['a']) && !words.has_long(&["append"]),
        "ln" => words.has_short(&['f']) || words.has_long(&["force"]),
        "truncate" | "install" | "patch" => true,
        "sed" | "gsed" => in_place() || words.has_long(&["in-place"]),
        "perl" | "ruby" => in_place(),
        "gawk" | "awk" => words.has(&["inplace"]),
        "sort" => words.has_short(&['o']) || words.has_long(&["output"]),
        "unzip" => words.has_short(&['o']),
        _ => false,
    }
}

/// Options with which a program only prints its version or its help.
const ONLY_TELL: [&str; 6] = ["--version", "-version", "-V", "-v", "--help", "-h"];

/// Returns `true` if the program runs its input as a program.
pub(super) fn runs_input(name: &str, words: &CommandWords) -> bool {
    let is_known = SHELLS.contains(&name) || INTERPRETERS.contains(&family(name));
    is_known && !words.has(&ONLY_TELL)
}

/// Returns `true` if the arguments determine the effect: a script, a file, a program after `-c` or
/// `-e`.
fn evaluates(name: &str, words: &CommandWords) -> bool {
    if words.is_local || EVALUATES.contains(&name) {
        return true;
    }
    if SHELLS.contains(&name) {
        return !words.arguments.is_empty();
    }
    if INTERPRETERS.contains(&family(name)) || name == "java" {
        return words.arguments.iter().any(|word| !ONLY_TELL.contains(&word.as_str()));
    }
    match name {
        // A program in the arguments is usual; one that starts others is not.
        _ if AWKS.contains(&name) => {
            words.has_short(&['f'])
                || words.arguments.iter().any(|it| it.contains("system") || it.contains(['|', '>']))
        }
        "su" | "runuser" | "flock" | "script" => {
            words.has_short(&['c']) || words.has_long(&["command"])
        }
        // To build and to test is usual; `run` also runs the program.
        "cargo" | "go" | "dotnet" | "swift" => words.has(&["run"]),
        "tar" | "gtar" | "bsdtar" => {
            let programs =
                ["to-command", "use-compress-program", "checkpoint-action", "rsh-command"];
            words.has_short(&['I', 'F']) || words.has_long(&programs)
        }
        "env" => words.has_short(&['S']) || words.has_long(&["split-string"]),
        "vim" | "vi" | "ex" | "ed" | "emacs" => true,
        "sed" | "gsed" => words.has_short(&['f']) || words.has_long(&["file"]),
        _ => false,
    }
}
