//! The workspace that tools may use: opened, tidied of what a crash left there, and the supervisor of its commands.

#[cfg(target_os = "linux")]
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::cli::SuperviseArgs;
use crate::config::ServerConfig;
use crate::tools::ToolRegistry;
use crate::workspace::Workspace;

/// When it is looked once more for what an earlier process left in the workspace.
const LEFT_OVER: Duration = Duration::from_secs(20);
/// This very program, also if its file was replaced meanwhile.
#[cfg(target_os = "linux")]
const OWN_PROGRAM: &str = "/proc/self/exe";

/// Removes what an earlier process left in the workspace in the middle of writing; and once more, for what was too young by then
/// to be told from what another server writes.
async fn clear_left_over(workspace: Workspace) {
    for pause in [Duration::ZERO, LEFT_OVER] {
        tokio::time::sleep(pause).await;
        let workspace = workspace.clone();
        let cleared = tokio::task::spawn_blocking(move || workspace.clear_left_over()).await;
        if let Ok(files @ 1..) = cleared {
            tracing::info!(files, "left-over files of interrupted writes were removed");
        }
    }
}

/// `copydesk supervise`.
#[cfg(target_os = "linux")]
pub fn supervise(args: &SuperviseArgs) -> Result<()> {
    let supervised = crate::processes::supervisor::supervise(&args.mark, &args.command);
    supervised.context("cannot run the command")
}

/// There is none.
#[cfg(not(target_os = "linux"))]
pub fn supervise(_: &SuperviseArgs) -> Result<()> {
    anyhow::bail!("commands are supervised on Linux only")
}

/// The tools of this server: those for the workspace only if there is one.
pub fn tools(config: &ServerConfig) -> Result<ToolRegistry> {
    let Some(folder) = &config.workspace else { return Ok(ToolRegistry::default()) };
    // The server's own data and settings may lie in it.
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
    workspace.supervise_by(PathBuf::from(OWN_PROGRAM));
    #[cfg(unix)]
    return Ok(tools.with_commands());
    #[cfg(not(unix))]
    anyhow::bail!("--enable-bash works on Unix only");
}
