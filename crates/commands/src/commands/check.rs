//! `copydesk check`: examines everything in the store, and reports errors.

use std::io::Write;

use anyhow::Result;

use super::{CommandOutcome, error_text};
use crate::cli::CheckArgs;
use copydesk_check::{CheckCounts, CheckReport, report};
use copydesk_store::{Store, StoreAccess};

/// Prints the findings. Fails only if nothing can be printed.
pub(super) async fn run(args: CheckArgs) -> Result<CommandOutcome> {
    let report = match checked(&args).await {
        Ok(report) => report,
        Err(error) => {
            eprintln!("copydesk: cannot check the data: {}", error_text(&error));
            return Ok(CommandOutcome::Unreadable);
        }
    };
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        for finding in &report.findings {
            writeln!(out, "{finding}")?;
        }
        let CheckCounts { documents, updates, requests, rules, threads } = report.seen;
        let count = match report.findings.len() {
            0 => "nothing wrong".to_owned(),
            count => format!("{count} found"),
        };
        let (documents, updates) = (many(documents, "document"), many(updates, "update"));
        let (requests, rules) = (many(requests, "request"), many(rules, "rule"));
        let threads = many(threads, "thread");
        writeln!(out, "{count} in {documents}, {updates}, {requests}, {rules}, {threads}")?;
    }
    out.flush()?;
    Ok(if report.findings.is_empty() { CommandOutcome::Fine } else { CommandOutcome::Findings })
}

/// Formats a count with its noun: `1 update`, `3 updates`.
fn many(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

async fn checked(args: &CheckArgs) -> Result<CheckReport> {
    let place = super::stored_data::place(args.data.clone(), args.database_url.clone())?;
    super::stored_data::require_data(&place).await?;
    let store = Store::open(place, StoreAccess::Inspect).await?;
    let report = report(&store).await;
    store.close().await;
    Ok(report?)
}
