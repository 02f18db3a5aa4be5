//! Workspace that tools may use: opened, cleared of files that a crash left there, and the
//! supervisor of its commands.

#[cfg(target_os = "linux")]
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::cli::SuperviseArgs;
use crate::config::ServerConfig;
use crate::tools::ToolRegistry;
use crate::workspace::Workspace;

/// Delay before the second search for files that an earlier process left in the workspace.
const LEFT_OVER: Duration = Duration::from_secs(20);

/// Removes files that an earlier process left in the workspace by an interrupted write; and once
/// more, for files that were too young by then to be told from those that another server writes.
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

/// Runs `copydesk supervise`.
///
/// # Errors
/// The command cannot be run.
#[cfg(target_os = "linux")]
pub fn supervise(args: &SuperviseArgs) -> Result<()> {
    let supervised = crate::processes::supervisor::supervise(&args.mark, &args.command);
    supervised.context("cannot run the command")
}

/// Fails: commands are supervised on Linux only.
///
/// # Errors
/// Always: the command is not run.
#[cfg(not(target_os = "linux"))]
pub fn supervise(_: &SuperviseArgs) -> Result<()> {
    anyhow::bail!("commands are supervised on Linux only")
}

/// Returns the [`ToolRegistry`] of this server, with tools for the workspace only if there is one.
///
/// # Errors
/// The workspace cannot be used, or `--enable-bash` works only on another system.
pub fn tools(config: &ServerConfig) -> Result<ToolRegistry> {
    let Some(folder) = &config.workspace else { return Ok(ToolRegistry::default()) };
    // The server's own data and settings may be in it.
    let workspace = Workspace::open(folder, &[&config.data, &config.file])
        .context("cannot use the workspace")?;
    tokio::spawn(clear_left_over(workspace.clone()));
    let tools = ToolRegistry::default().in_workspace(workspace.clone());
    if !config.enable_bash {
        return Ok(tools);
    }
    tracing::warn!(
        "--enable-bash: the agent may propose shell commands; an owner decides about each"
    );
    #[cfg(target_os = "linux")]
    if let Some(program) = crate::config::own_program() {
        workspace.supervise_by(program);
    }
    #[cfg(unix)]
    return Ok(tools.with_commands());
    #[cfg(not(unix))]
    anyhow::bail!("--enable-bash works on Unix only");
}
