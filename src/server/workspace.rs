//! Workspace that tools may use: opened, taken if several servers need it, and cleared of files
//! that a crash left there.

use std::time::Duration;

use anyhow::{Context as _, Result};

use copydesk_commands::config::ServerConfig;
use copydesk_tools::ToolRegistry;
use copydesk_workspace::Workspace;

use super::Server;

/// Delay before the second search for files that an earlier process left in the workspace.
const LEFT_OVER: Duration = Duration::from_secs(20);

/// Removes files that an earlier process left in the workspace by an interrupted write; and once
/// more, for files that were then too young to be distinguished from another server's.
async fn clear_left_over(workspace: Workspace) {
    for pause in [Duration::ZERO, LEFT_OVER] {
        tokio::time::sleep(pause).await;
        let workspace = workspace.clone();
        let cleared = tokio::task::spawn_blocking(move || workspace.clear_left_over()).await;
        if let Ok(files @ 1..) = cleared {
            tracing::info!(files, "removed temporary files of interrupted writes");
        }
    }
}

/// Returns the [`ToolRegistry`] of this server, with tools for the workspace only if there is one.
pub fn tools(config: &ServerConfig) -> Result<ToolRegistry> {
    let Some(folder) = &config.workspace else { return Ok(ToolRegistry::default()) };
    // The server's own data and settings may be in it.
    let workspace = Workspace::open(folder, &[&config.data, &config.file])
        .context("cannot use the workspace")?;
    let tools = ToolRegistry::default().in_workspace(workspace.clone());
    if !config.enable_bash {
        return Ok(tools);
    }
    tracing::warn!(
        "--enable-bash: the agent may propose shell commands; an owner decides about each"
    );
    #[cfg(target_os = "linux")]
    if let Some(program) = copydesk_commands::config::own_program() {
        workspace.supervise_by(program);
    }
    #[cfg(unix)]
    return Ok(tools.with_commands());
    #[cfg(not(unix))]
    anyhow::bail!("--enable-bash works on Unix only");
}

impl Server {
    /// Begins the work that needs no connection. Takes the workspace that this server was given; if
    /// another one of several has it, this one takes it later.
    pub(super) async fn begin_work(&self) -> Result<()> {
        self.rooms.recall_workspace().await?;
        if self.files.is_some() && self.rooms.take_workspace().await? {
            self.serve_workspace().await?;
        }
        self.welcome().await?;
        self.agents.resume().await?;
        self.rooms.announce_workspace().await;
        Ok(())
    }

    /// Begins to work on the workspace, which no other server does from here on.
    pub(super) async fn serve_workspace(&self) -> Result<()> {
        if let (Some(workspace), Some(files)) = (self.agents.tools().workspace(), &self.files) {
            files.begin().await?;
            tokio::spawn(clear_left_over(workspace.clone()));
        }
        Ok(self.rooms.serve_workspace().await?)
    }
}
