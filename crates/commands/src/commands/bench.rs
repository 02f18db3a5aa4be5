//! `copydesk bench`: a load test, and its results on standard output.

use anyhow::{Context as _, Result, bail};

use super::{CommandOutcome, say, stop_signal};
use crate::cli::{BenchArgs, SwitchArg};
use crate::config::own_program;
use copydesk_load_test::{LoadPlan, LoadTest, TestedServer, open_file_limit};

/// Files that the load test and the server need besides their connections.
const OTHER_FILES: u64 = 64;

pub(super) async fn run(args: BenchArgs) -> Result<CommandOutcome> {
    let plan = LoadPlan {
        documents: args.documents,
        writers: args.writers,
        readers: args.readers,
        reviewers: args.reviewers,
        edits_per_second: args.edits,
        decisions_per_minute: args.decisions,
        text_length: args.text,
        seconds: args.seconds,
        capabilities: args.capabilities == SwitchArg::On,
    };
    if let Err(why) = plan.check() {
        eprintln!("copydesk: {why}");
        return Ok(CommandOutcome::Misunderstood);
    }
    let (needed, limit) = (plan.clients() + OTHER_FILES, open_file_limit());
    if let Some(limit) = limit.filter(|limit| (*limit as u64) < needed) {
        bail!(
            "{} clients need {needed} open files, and the system permits {limit}; raise that with `ulimit -n`",
            plan.clients()
        );
    }
    let server = if args.url.is_empty() {
        let program = own_program().context("the path of this program is unknown")?;
        TestedServer::Own { program, parent: args.data }
    } else {
        let token = args.token.unwrap_or_default().trim().to_owned();
        TestedServer::Running { urls: args.url, token, processes: args.server_process }
    };
    let report = LoadTest::run(plan, server, stop_signal()?).await?;
    if args.json {
        say(&format!("{}\n", serde_json::to_string(&report)?))?;
    } else {
        say(&report.to_string())?;
    }
    let is_complete = report.is_complete();
    Ok(if is_complete { CommandOutcome::Fine } else { CommandOutcome::Incomplete })
}
