//! Commands that only a server runs, as its worker processes.

#[cfg(any(unix, feature = "grammar"))]
use anyhow::Context as _;
use anyhow::Result;
#[cfg(not(feature = "grammar"))]
use anyhow::bail;

use crate::cli::{ClaudeToolsArgs, SuperviseArgs};
#[cfg(unix)]
use copydesk_llm::claude_cli;

#[cfg(target_os = "linux")]
pub(super) fn supervise(args: &SuperviseArgs) -> Result<()> {
    let supervised = copydesk_processes::supervisor::supervise(&args.mark, &args.command);
    supervised.context("cannot run the command")
}

/// Fails: commands are supervised on Linux only.
#[cfg(not(target_os = "linux"))]
pub(super) fn supervise(_: &SuperviseArgs) -> Result<()> {
    anyhow::bail!("commands are supervised on Linux only")
}

#[cfg(feature = "grammar")]
pub(super) fn grammar_worker() -> Result<()> {
    #[cfg(target_os = "linux")]
    copydesk_processes::lower_priority();
    copydesk_llm::harper::run_grammar_worker().context("cannot check grammar")
}

/// Fails: this build has no grammar checker.
#[cfg(not(feature = "grammar"))]
pub(super) fn grammar_worker() -> Result<()> {
    bail!("this build has no grammar checker (feature `grammar`)")
}

#[cfg(unix)]
pub(super) fn claude_tools(args: &ClaudeToolsArgs) -> Result<()> {
    let connected = claude_cli::connect(&args.socket, &args.secret, args.of.clone());
    connected.context("cannot reach the server that started the Claude CLI")
}

/// Fails: the Claude CLI runs on Unix only.
#[cfg(not(unix))]
pub(super) fn claude_tools(_: &ClaudeToolsArgs) -> Result<()> {
    anyhow::bail!("the Claude CLI is run on Unix only")
}
