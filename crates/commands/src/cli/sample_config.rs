//! Sample of the settings file, made of the options themselves, so that it lacks none of them.

use std::any::TypeId;
use std::fmt::Write as _;

use clap::{Arg, ArgAction, CommandFactory as _};

use super::CommandLine;

/// Options that are not in the settings file: where it is, and what clap adds.
const NOT_IN_FILE: [&str; 3] = ["config", "help", "version"];

/// Columns of a comment.
const COLUMNS: usize = 90;

/// First lines of the file.
const HEAD: &str = "\
# Settings of Copydesk. Each line that begins with # and a letter is an option with its default or
# an example: remove the # to set it. An option that is absent has its default. A flag wins over
# its COPYDESK_… variable, a variable over this file.
";

/// Returns a `copydesk.toml` with every option, its help and its default, commented out.
pub fn sample_config() -> String {
    let mut text = HEAD.to_owned();
    for option in CommandLine::command().get_arguments() {
        if NOT_IN_FILE.contains(&option.get_id().as_str()) {
            continue;
        }
        // Written for a terminal and for the documentation of the code.
        let help = option.get_help().map(ToString::to_string).unwrap_or_default();
        let help = help.replace(['`', '<', '>'], "");
        let (sentence, default) = split_default(&help);
        text.push('\n');
        for line in wrapped(&sentence) {
            // Writing to a string cannot fail.
            writeln!(text, "# {line}").ok();
        }
        writeln!(text, "#{} = {}", key(option), value(option, default.as_deref())).ok();
    }
    text
}

/// Splits a help text at `[default: …]`. The default stays in words where it is no value.
fn split_default(help: &str) -> (String, Option<String>) {
    let Some((sentence, rest)) = help.split_once("[default: ") else {
        return (format!("{help}."), None);
    };
    let default = rest.trim_end_matches(']');
    (format!("{}. Default: {default}.", sentence.trim_end()), Some(default.to_owned()))
}

/// Returns the name of an option in the file: that of the flag, in the plural for a list.
fn key(option: &Arg) -> String {
    let flag = option.get_long().unwrap_or_default();
    if is_list(option) { format!("{flag}s") } else { flag.to_owned() }
}

fn is_list(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::Append)
}

/// Returns the default as TOML if it is one value, else an example of the right type.
fn value(option: &Arg, default: Option<&str>) -> String {
    let placeholder = option.get_value_names().and_then(|names| names.first());
    let example = default
        .filter(|it| !it.contains(' '))
        .map_or_else(|| placeholder.map(ToString::to_string).unwrap_or_default(), str::to_owned);
    if matches!(option.get_action(), ArgAction::SetTrue) {
        return "false".to_owned();
    }
    if is_list(option) {
        return match default {
            Some(names) => format!("{:?}", names.split(", ").collect::<Vec<_>>()),
            None => format!("[{example:?}]"),
        };
    }
    let kind = option.get_value_parser().type_id();
    if kind == TypeId::of::<u64>() || kind == TypeId::of::<u32>() {
        // Of a default in words, its number.
        let numbers = default.unwrap_or_default().split(|c: char| !c.is_ascii_digit());
        return numbers.into_iter().find(|it| !it.is_empty()).unwrap_or("0").to_owned();
    }
    format!("{example:?}")
}

/// Breaks a sentence into lines.
fn wrapped(sentence: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in sentence.split_whitespace() {
        let is_full =
            lines.last().is_some_and(|line| !line.is_empty() && line.len() + word.len() >= COLUMNS);
        if is_full {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli::ServeArgs;

    /// Removes the comment sign of every option.
    fn with_every_option() -> String {
        let lines = sample_config();
        let lines = lines.lines().map(|line| match line.strip_prefix('#') {
            Some(option) if option.starts_with(|c: char| c.is_ascii_lowercase()) => option,
            _ => line,
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_server_reads_it_as_it_is_and_with_every_option() {
        assert!(toml::from_str::<toml::Table>(&sample_config()).unwrap().is_empty());
        let all: ServeArgs = toml::from_str(&with_every_option()).unwrap();
        assert_eq!(all.listen, "127.0.0.1:4680".parse().ok());
        assert_eq!(all.connection_memory, Some(1024));
        assert_eq!(all.oidc_scope, ["profile", "email"]);
        assert!(!all.no_auth && !all.open);
        assert!(sample_config().lines().all(|line| line.len() <= 100));
    }

    #[test]
    fn it_has_the_options_of_the_documentation() {
        let page = include_str!("../../../../docs/configuration.md");
        let rows = page.lines().filter(|line| line.starts_with("| `--"));
        let keys = rows.filter_map(|row| row.split(" | ").nth(2)?.strip_prefix('`'));
        let documented: BTreeSet<_> =
            keys.map(|key| key.trim_end_matches('`').to_owned()).collect();
        let all: toml::Table = toml::from_str(&with_every_option()).unwrap();
        assert_eq!(all.keys().cloned().collect::<BTreeSet<_>>(), documented);
        assert!(documented.len() > 25, "{documented:?}");
    }
}
