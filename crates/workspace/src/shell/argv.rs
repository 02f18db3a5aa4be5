//! Words of a command: its name and its arguments, also of a command that another one runs.

use serde::Deserialize;

/// Folders with the programs of the system.
const OF_THE_SYSTEM: [&str; 6] =
    ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// Command that runs the command in its arguments.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WrapperCommand {
    /// Options of one letter whose value may be the next word.
    short: String,
    /// Long options whose value may be the next word, without dashes.
    long: Vec<String>,
    /// Number of its own operands before the command.
    operands: usize,
    /// `true` if `NAME=VALUE` may stand before the command.
    assigns: bool,
}

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
    /// Takes the words of a command as they are written, the name first.
    pub(super) fn of(words: &[&str]) -> Self {
        let mut words = words.iter();
        let name = words.next().copied().unwrap_or_default();
        Self::named(name, words.map(|word| unquoted(word)).collect())
    }

    pub(super) fn named(raw: &str, arguments: Vec<String>) -> Self {
        let is_computed = raw.contains(['$', '`']);
        // `/bin/rm` is `rm`.
        let path = unquoted(raw);
        let (folder, plain) = path.rsplit_once('/').unwrap_or(("", &path));
        let is_local = path.contains('/') && !OF_THE_SYSTEM.contains(&folder);
        let name = Some(plain.to_owned()).filter(|name| !name.is_empty() && !is_computed);
        Self { name, arguments, is_computed, is_local }
    }

    pub(super) fn has(&self, words: &[String]) -> bool {
        has(&self.arguments, words)
    }
}

impl WrapperCommand {
    /// Returns the words after the options and operands of this command.
    pub(super) fn rest<'a>(&self, words: &'a [String]) -> &'a [String] {
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

pub(super) fn has(arguments: &[String], words: &[impl AsRef<str>]) -> bool {
    arguments.iter().any(|word| words.iter().any(|it| it.as_ref() == word))
}

/// Returns `true` if one of `letters` is an option, alone or with others, as in `-fdx`.
pub(super) fn has_short(arguments: &[String], letters: &str) -> bool {
    let options = arguments.iter().take_while(|word| *word != "--");
    let of_letters = options.filter(|word| word.starts_with('-') && !word.starts_with("--"));
    of_letters.into_iter().any(|word| word.contains(|letter| letters.contains(letter)))
}

/// Returns `true` if one of these long options is an argument, also abbreviated or with a value.
pub(super) fn has_long(arguments: &[String], names: &[impl AsRef<str>]) -> bool {
    let options = arguments.iter().take_while(|word| *word != "--");
    options.filter_map(|word| word.strip_prefix("--")).any(|word| {
        let name = word.split('=').next().unwrap_or_default();
        // A prefix of two letters may stand for any option.
        let mut names = names.iter().map(AsRef::as_ref);
        names.any(|it: &str| it == name || (name.len() > 2 && it.starts_with(name)))
    })
}

/// Removes quotes, backslashes and ends of lines from a word as the shell does.
pub(super) fn unquoted(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '"' | '\'' | '\\' | '\n')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
