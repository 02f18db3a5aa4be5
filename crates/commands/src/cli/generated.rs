//! Texts that are made of the options themselves: completions for shells, and man pages.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory as _, ValueEnum};
use clap_complete::Shell;

use super::CommandLine;

/// Options of `copydesk completions`.
#[derive(Clone, Debug, Args)]
pub struct CompletionsArgs {
    /// Shell to complete for
    #[arg(value_enum)]
    pub shell: ShellArg,
}

/// Shell on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ShellArg {
    /// source <(copydesk completions bash)
    Bash,
    /// copydesk completions zsh > DIRECTORY-OF-FPATH/_copydesk
    Zsh,
    /// copydesk completions fish | source
    Fish,
}

impl ShellArg {
    /// Returns the script that completes every command and option.
    pub fn completions(self) -> Vec<u8> {
        let shell = match self {
            Self::Bash => Shell::Bash,
            Self::Zsh => Shell::Zsh,
            Self::Fish => Shell::Fish,
        };
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut for_people(), "copydesk", &mut script);
        script
    }
}

/// Returns the command line without the subcommands that only programs and packages start.
fn for_people() -> clap::Command {
    let whole = CommandLine::command();
    let shown = whole.get_subcommands().filter(|it| !it.is_hide_set()).cloned();
    clap::Command::new("copydesk")
        .version(env!("CARGO_PKG_VERSION"))
        .about(whole.get_about().cloned().unwrap_or_default())
        .args(whole.get_arguments().cloned())
        .subcommands(shown)
}

/// Options of `copydesk man`.
#[derive(Clone, Debug, Args)]
pub struct ManArgs {
    /// Folder for the pages, which is there
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// Writes a man page of the program and one of each command into a folder.
pub fn write_man_pages(folder: &Path) -> io::Result<()> {
    clap_mangen::generate_to(for_people(), folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_is_shown_has_a_man_page() {
        let folder = tempfile::tempdir().unwrap();
        write_man_pages(folder.path()).unwrap();
        let page = |name: &str| std::fs::read_to_string(folder.path().join(name));
        for command in for_people().get_subcommands() {
            let text = page(&format!("copydesk-{}.1", command.get_name())).unwrap();
            assert!(text.contains(".SH OPTIONS"), "{}", command.get_name());
        }
        let whole = page("copydesk.1").unwrap();
        assert!(whole.contains("COPYDESK_LISTEN") && whole.contains("reviewed"), "{whole}");
        for hidden in ["claude-tools", "supervise", "grammar-worker", "man"] {
            assert!(page(&format!("copydesk-{hidden}.1")).is_err(), "{hidden}");
        }
    }
}
