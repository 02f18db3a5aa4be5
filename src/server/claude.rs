//! Claude CLI as one of the models. On Unix only.

use std::sync::Arc;

#[cfg(unix)]
use anyhow::Context as _;
use anyhow::Result;

use copydesk_commands::config::ServerConfig;
use copydesk_llm::Model;
#[cfg(unix)]
use copydesk_llm::claude_cli;

/// Returns the installed CLI as a [`Model`], set to use the model `name`.
#[cfg(unix)]
pub fn model(config: &ServerConfig, name: Option<&str>) -> Result<Arc<dyn Model>> {
    let cli = config.claude.clone().context("there is no Claude CLI")?;
    let may_see = |(name, _): &(_, _)| claude_cli::may_see(name);
    let settings = claude_cli::ClaudeCliSettings {
        program: cli.program.into(),
        link: cli.own,
        environment: cli.environment.into_iter().filter(may_see).collect(),
        folder: config.data.join("claude"),
    };
    Ok(Arc::new(
        claude_cli::ClaudeCliModel::new(settings, name).context("cannot prepare the Claude CLI")?,
    ))
}

/// Fails: the Claude CLI runs on Unix only.
#[cfg(not(unix))]
pub fn model(_: &ServerConfig, _: Option<&str>) -> Result<Arc<dyn Model>> {
    anyhow::bail!("the Claude CLI is run on Unix only")
}
