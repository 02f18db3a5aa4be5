//! Workspace that tools may use: opened, taken if several servers need it, and cleared of files
//! that a crash left there.

use std::time::Duration;

use anyhow::{Context as _, Result};

use copydesk_commands::config::ServerConfig;
use copydesk_ids::SessionId;
use copydesk_tools::ToolRegistry;
use copydesk_workspace::Workspace;

use super::Server;

/// Delay before the second search for files that an earlier process left in the workspace.
const LEFT_OVER: Duration = Duration::from_secs(20);
/// Pause after an attempt to take over the workspace that failed.
const TAKE_OVER_AGAIN: Duration = Duration::from_secs(1);

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
    /// another one of several has it, this one takes it later, as [`Self::take_over_workspace`]
    /// says.
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
    async fn serve_workspace(&self) -> Result<()> {
        if let (Some(workspace), Some(files)) = (self.agents.workspace(), &self.files) {
            files.begin().await?;
            tokio::spawn(clear_left_over(workspace.clone()));
        }
        Ok(self.rooms.serve_workspace().await?)
    }

    /// Waits until no other server has the workspace that this one was given, takes it, and goes on
    /// with what was asked there. Waits for ever if there is nothing to take.
    pub(super) async fn take_over_workspace(&self) {
        if self.files.is_some() && !self.rooms.has_workspace_here() {
            self.rooms.await_workspace().await;
            while let Err(error) = self.serve_workspace().await {
                tracing::warn!(%error, "cannot take over the workspace yet");
                tokio::time::sleep(TAKE_OVER_AGAIN).await;
            }
            // Before the others hear of it: who comes then finds the runs that it listens to.
            if let Err(error) = self.agents.resume().await {
                tracing::warn!(%error, "cannot take over the runs of another server yet");
            }
            tracing::info!("this server has the workspace now");
            self.rooms.announce_workspace().await;
        }
        std::future::pending::<()>().await;
    }

    /// Hands over what belongs to the workspace, because another server has it.
    pub(super) async fn hand_over_workspace(&self) {
        let is_at_work = |session: &SessionId| self.agents.works_in_private(session);
        if let Err(error) = self.rooms.hand_over_workspace(is_at_work).await {
            tracing::warn!(%error, "cannot hand over the workspace inbox yet");
        }
    }
}
