//! Known programs, and the warnings about their calls, as a table.

use super::argv::CommandWords;
use super::conditions::ArgumentCondition::{
    Always, Any, Contains, Long, NoArguments, OtherThan, Short, Unless, Word,
};
use super::conditions::ProgramNames::{Of, Prefix, Versions};
use super::conditions::{ArgumentCondition, ProgramNames, ProgramRule, applying, without_version};

const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "fish", "busybox"];
/// Programs that run a program from their arguments, by their names without a version.
const INTERPRETERS: &[&str] = &[
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
const NETWORK: &[&str] = &[
    "curl", "wget", "nc", "ncat", "netcat", "socat", "ssh", "scp", "sftp", "rsync", "ftp",
    "telnet", "dig", "nslookup", "npm", "npx", "pip", "pip3", "pipx", "uv", "uvx", "yarn", "pnpm",
    "gem", "apt", "apt-get", "dnf", "yum", "apk", "brew", "gh", "docker", "podman", "kubectl",
];
/// Programs that write to the paths in their arguments.
const WRITERS: &[&str] =
    &["mv", "cp", "tee", "truncate", "install", "ln", "rsync", "touch", "mkdir"];
/// Options with which a program only prints its version or its help.
const PRINT_ONLY: &[&str] = &["--version", "-version", "-V", "-v", "--help", "-h"];

/// Options of `tar` that name a program.
const TAR_PROGRAMS: &[&str] =
    &["to-command", "use-compress-program", "checkpoint-action", "rsh-command"];

const fn rule(
    code: &'static str,
    sentence: &'static str,
    names: ProgramNames,
    condition: ArgumentCondition,
) -> ProgramRule {
    ProgramRule { names, condition, code, sentence }
}

const DELETES: &str = "It may delete or run something for every file it finds";
const OVERWRITES: &str = "It changes files or may write over others";
const EVALUATES: &str = "It runs what it is given";

/// Warnings about known programs. Of several with one code, the first is shown.
#[rustfmt::skip]
const RULES: &[ProgramRule] = &[
    rule("privileges", "It asks for more rights", Of(&["sudo", "doas", "su", "pkexec", "runuser"]), Always),
    rule("deletes", "It deletes files", Of(&["rm", "rmdir", "unlink", "shred"]), Always),
    rule("disk", "It works on whole disks", Of(&["dd", "fdisk", "parted", "wipefs", "mount", "umount"]), Always),
    rule("disk", "It formats a disk", Prefix("mkfs"), Always),
    rule("permissions", "It changes who may do what with files", Of(&["chmod", "chown", "chgrp", "setfacl"]), Always),
    rule("kills", "It ends other programs",
        Of(&["kill", "pkill", "killall", "shutdown", "reboot", "poweroff", "halt", "systemctl"]), Always),
    rule("background", "It leaves something running",
        Of(&["nohup", "setsid", "coproc", "disown", "at", "batch", "crontab", "systemd-run"]), Always),
    rule("evaluates", "It runs what a file of the workspace says",
        Of(&["make", "gmake", "just", "ninja", "rake", "ant", "mvn", "gradle", "tox"]), Always),
    rule("deletes", DELETES, Of(&["find"]), Word(&["-delete", "-exec", "-execdir", "-ok", "-okdir"])),
    rule("deletes", DELETES, Of(&["fd", "fdfind"]), Any(&[Short("xX"), Long(&["exec", "exec-batch"])])),
    rule("deletes", DELETES, Of(&["rsync"]),
        Long(&["delete", "delete-after", "delete-excluded", "remove-source-files"])),
    rule("overwrites", OVERWRITES, Of(&["mv", "cp"]), Unless(&[Short("n"), Long(&["no-clobber"])])),
    rule("overwrites", OVERWRITES, Of(&["tee"]), Unless(&[Short("a"), Long(&["append"])])),
    rule("overwrites", OVERWRITES, Of(&["ln"]), Any(&[Short("f"), Long(&["force"])])),
    rule("overwrites", OVERWRITES, Of(&["truncate", "install", "patch"]), Always),
    rule("overwrites", OVERWRITES, Of(&["sed", "gsed"]), Any(&[Short("i"), Long(&["in-place"])])),
    rule("overwrites", OVERWRITES, Of(&["perl", "ruby"]), Short("i")),
    rule("overwrites", OVERWRITES, Of(&["gawk", "awk"]), Word(&["inplace"])),
    rule("overwrites", OVERWRITES, Of(&["sort"]), Any(&[Short("o"), Long(&["output"])])),
    rule("overwrites", OVERWRITES, Of(&["unzip"]), Short("o")),
    rule("environment", "It shows the environment", Of(&["env", "printenv", "set"]), NoArguments),
    rule("evaluates", EVALUATES,
        Of(&["eval", "source", ".", "exec", "xargs", "parallel", "command", "builtin", "trap"]), Always),
    rule("evaluates", EVALUATES, Of(SHELLS), Unless(&[NoArguments])),
    rule("evaluates", EVALUATES, Versions(INTERPRETERS), OtherThan(PRINT_ONLY)),
    rule("evaluates", EVALUATES, Of(&["java"]), OtherThan(PRINT_ONLY)),
    // A program in the arguments is usual; one that starts others is not.
    rule("evaluates", EVALUATES, Of(&["awk", "gawk", "mawk", "nawk", "original-awk"]),
        Any(&[Short("f"), Contains(&["system", "|", ">"])])),
    rule("evaluates", EVALUATES, Of(&["su", "runuser", "flock", "script"]), Any(&[Short("c"), Long(&["command"])])),
    // To build and to test is usual; `run` also runs the program.
    rule("evaluates", EVALUATES, Of(&["cargo", "go", "dotnet", "swift"]), Word(&["run"])),
    rule("evaluates", EVALUATES, Of(&["tar", "gtar", "bsdtar"]), Any(&[Short("IF"), Long(TAR_PROGRAMS)])),
    rule("evaluates", EVALUATES, Of(&["env"]), Any(&[Short("S"), Long(&["split-string"])])),
    rule("evaluates", EVALUATES, Of(&["vim", "vi", "ex", "ed", "emacs"]), Always),
    rule("evaluates", EVALUATES, Of(&["sed", "gsed"]), Any(&[Short("f"), Long(&["file"])])),
    rule("network", "It may talk to the network", Of(NETWORK), Always),
];

/// Returns a code and a sentence for each effect to warn about.
pub(super) fn warnings(name: &str, words: &CommandWords) -> Vec<(&'static str, &'static str)> {
    let rules = applying(RULES, name, &words.arguments).map(|rule| (rule.code, rule.sentence));
    // What a program of the workspace does is not known.
    rules.chain(words.is_local.then_some(("evaluates", EVALUATES))).collect()
}

/// Returns `true` if the command writes to the paths in its arguments.
pub(super) fn writes_arguments(name: &str) -> bool {
    WRITERS.contains(&name)
}

/// Returns `true` if the program runs a program from its arguments or its input.
pub(super) fn is_interpreter(name: &str) -> bool {
    SHELLS.contains(&name) || INTERPRETERS.contains(&without_version(name))
}

/// Returns `true` if the program runs its input as a program.
pub(super) fn runs_input(name: &str, words: &CommandWords) -> bool {
    is_interpreter(name) && !words.has(PRINT_ONLY)
}

/// Returns `true` if the output of a program is something that nobody has seen.
pub(super) fn downloads_or_decodes(name: &str) -> bool {
    NETWORK.contains(&name) || matches!(name, "base64" | "xxd")
}
