//! Words of a command: its name and its arguments, also of a command that another one runs.

use tree_sitter::Node;

/// Largest number of nested commands that are analysed.
const LAYERS: usize = 8;

/// Folders with the programs of the system.
const OF_THE_SYSTEM: [&str; 6] =
    ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// Command that runs the command in its arguments.
struct WrapperCommand {
    name: &'static str,
    /// Options of one letter whose value may be the next word.
    short: &'static str,
    /// Long options whose value may be the next word, without dashes.
    long: &'static [&'static str],
    /// Number of its own operands before the command.
    operands: usize,
    /// `true` if `NAME=VALUE` may stand before the command.
    assigns: bool,
}

const fn wrapper(
    name: &'static str,
    short: &'static str,
    long: &'static [&'static str],
) -> WrapperCommand {
    WrapperCommand { name, short, long, operands: 0, assigns: false }
}

const WRAPPERS: [WrapperCommand; 29] = [
    WrapperCommand {
        assigns: true,
        ..wrapper(
            "sudo",
            "ugpCDRTrthaUc",
            &[
                "user",
                "group",
                "prompt",
                "close-from",
                "chdir",
                "chroot",
                "command-timeout",
                "role",
                "type",
                "host",
                "other-user",
                "auth-type",
                "login-class",
            ],
        )
    },
    wrapper("doas", "uCa", &[]),
    wrapper("pkexec", "", &["user"]),
    wrapper("runuser", "ugG", &["user", "group", "supp-group"]),
    WrapperCommand {
        assigns: true,
        ..wrapper("env", "uCSa", &["unset", "chdir", "split-string", "argv0"])
    },
    wrapper("nohup", "", &[]),
    wrapper("setsid", "", &[]),
    wrapper("time", "fo", &["format", "output"]),
    wrapper("nice", "n", &["adjustment"]),
    wrapper("ionice", "cnpPu", &["class", "classdata"]),
    WrapperCommand { operands: 1, ..wrapper("timeout", "sk", &["signal", "kill-after"]) },
    wrapper("stdbuf", "ioe", &["input", "output", "error"]),
    wrapper(
        "xargs",
        "adEILnPs",
        &["arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"],
    ),
    wrapper("command", "", &[]),
    wrapper("builtin", "", &[]),
    wrapper("exec", "a", &[]),
    wrapper("busybox", "", &[]),
    wrapper("coproc", "", &[]),
    wrapper("fakeroot", "lisb", &["lib", "faked"]),
    WrapperCommand { operands: 1, ..wrapper("chroot", "", &["groups", "userspec"]) },
    WrapperCommand {
        operands: 1,
        ..wrapper("flock", "wEc", &["timeout", "wait", "conflict-exit-code"])
    },
    WrapperCommand { operands: 1, ..wrapper("chrt", "TPD", &[]) },
    WrapperCommand { operands: 1, ..wrapper("taskset", "", &[]) },
    wrapper("unshare", "SGRw", &["setuid", "setgid", "root", "wd"]),
    wrapper("nsenter", "tSG", &["target", "setuid", "setgid"]),
    wrapper("setpriv", "", &["reuid", "regid", "groups", "pdeathsig"]),
    wrapper("watch", "nq", &["interval", "equexit"]),
    wrapper("strace", "oepsuEabIOPSX", &["output", "trace", "attach", "user", "env"]),
    wrapper(
        "systemd-run",
        "pMHuE",
        &["unit", "property", "machine", "host", "setenv", "slice", "uid"],
    ),
];

/// Name and arguments of a command as they are written, without quotes.
pub(super) struct CommandWords {
    pub(super) name: Option<String>,
    pub(super) arguments: Vec<String>,
    /// `true` if the name contains a part that is only known at run time.
    pub(super) is_computed: bool,
    /// `true` if the name is a path to a folder that is not one of the system's.
    pub(super) is_local: bool,
}

impl CommandWords {
    pub(super) fn of(command: Node<'_>, source: &str) -> Self {
        let text = |node: Node<'_>| source.get(node.byte_range()).unwrap_or_default();
        let raw = command.child_by_field_name("name").map(text).unwrap_or_default();
        let mut cursor = command.walk();
        let arguments = command
            .children_by_field_name("argument", &mut cursor)
            .map(|it| unquoted(text(it)))
            .collect();
        Self::named(raw, arguments)
    }

    fn named(raw: &str, arguments: Vec<String>) -> Self {
        let is_computed = raw.contains(['$', '`']);
        // `/bin/rm` is `rm`.
        let path = unquoted(raw);
        let (folder, plain) = path.rsplit_once('/').unwrap_or(("", &path));
        let is_local = path.contains('/') && !OF_THE_SYSTEM.contains(&folder);
        let name = Some(plain.to_owned()).filter(|name| !name.is_empty() && !is_computed);
        Self { name, arguments, is_computed, is_local }
    }

    /// Returns the command that this one runs, if there is one.
    fn inner(&self) -> Option<Self> {
        let name = self.name.as_deref()?;
        let wrapper = WRAPPERS.iter().find(|it| it.name == name)?;
        // `command -v` only shows the location of a command.
        if name == "command" && has_short(&self.arguments, "vV") {
            return None;
        }
        let (name, arguments) = wrapper.rest(&self.arguments).split_first()?;
        Some(Self::named(name, arguments.to_vec()))
    }

    /// Returns the command, the one it runs, and so on, at most [`LAYERS`].
    pub(super) fn layers(self) -> Vec<Self> {
        let mut layers = vec![self];
        while layers.len() < LAYERS
            && let Some(inner) = layers.last().and_then(Self::inner)
        {
            layers.push(inner);
        }
        layers
    }

    /// Returns `true` if one of `words` is an argument.
    /// Returns `true` if one of `words` is an argument.
    pub(super) fn has(&self, words: &[&str]) -> bool {
        has(&self.arguments, words)
    }
}

impl WrapperCommand {
    /// Returns the words after the options and operands of this command.
    fn rest<'a>(&self, words: &'a [String]) -> &'a [String] {
        let mut at = 0;
        let mut operands = self.operands;
        while let Some(word) = words.get(at) {
            if word == "--" {
                // The remaining operands stand after `--`.
                at += 1 + operands;
                break;
            } else if let Some(long) = word.strip_prefix("--") {
                // A value after `=` belongs to the option's own word.
                let takes = !long.contains('=') && self.long.iter().any(|it| it.starts_with(long));
                at += 1 + usize::from(takes);
            } else if let Some(letters) = word.strip_prefix('-').filter(|it| !it.is_empty()) {
                // The first letter that takes a value gets the rest of the word, or the next word.
                let takes = letters.find(|letter| self.short.contains(letter));
                let is_last = takes.is_some_and(|it| letters[it..].chars().nth(1).is_none());
                at += 1 + usize::from(is_last);
            } else if self.assigns && is_assignment(word) {
                at += 1;
            } else if operands > 0 {
                operands -= 1;
                at += 1;
            } else {
                break;
            }
        }
        words.get(at..).unwrap_or_default()
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'))
}

/// Returns `true` if one of `words` is an argument.
pub(super) fn has(arguments: &[String], words: &[&str]) -> bool {
    arguments.iter().any(|word| words.contains(&word.as_str()))
}

/// Returns `true` if one of `letters` is an option, alone or with others, as in `-fdx`.
pub(super) fn has_short(arguments: &[String], letters: &str) -> bool {
    let options = arguments.iter().take_while(|word| *word != "--");
    let of_letters = options.filter(|word| word.starts_with('-') && !word.starts_with("--"));
    of_letters.into_iter().any(|word| word.contains(|letter| letters.contains(letter)))
}

/// Returns `true` if one of these long options is an argument, complete, abbreviated or with a
/// value.
pub(super) fn has_long(arguments: &[String], names: &[&str]) -> bool {
    let options = arguments.iter().take_while(|word| *word != "--");
    options.filter_map(|word| word.strip_prefix("--")).any(|word| {
        let name = word.split('=').next().unwrap_or_default();
        // A prefix of two letters may stand for any option.
        names.iter().any(|it| *it == name || (name.len() > 2 && it.starts_with(name)))
    })
}

/// Removes quotes and backslashes from a word, as the shell does; expansions stay as written.
pub(super) fn unquoted(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn innermost(words: &str) -> (String, Vec<String>) {
        let mut words = words.split(' ').map(str::to_owned);
        let name = words.next().unwrap_or_default();
        let last = CommandWords::named(&name, words.collect()).layers().pop().unwrap();
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
    fn options_are_found_alone_together_and_cut_short() {
        let has = |words: &str| {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            (has_short(&words, "f"), has_long(&words, &["force"]))
        };
        assert_eq!(has("-f"), (true, false));
        assert_eq!(has("-dfx"), (true, false));
        assert_eq!(has("--force"), (false, true));
        assert_eq!(has("--for --x=f"), (false, true));
        assert_eq!(has("--force=yes"), (false, true));
        assert_eq!(has("--fo -x f -- -f --force"), (false, false));
    }
}
