//! `copydesk migrate`: moves what is stored between a data directory and a PostgreSQL database.

use std::fmt::Write as _;

use anyhow::{Context as _, Result};

use crate::cli::MigrateArgs;
use copydesk_store::{Store, StoreError, StorePlace, TransferCounts, TransferReport, transfer};

use super::say;
use super::stored_data::require_data;

pub(super) async fn run(args: MigrateArgs) -> Result<()> {
    let (from, to) = (place(&args.from)?, place(&args.to)?);
    require_data(&from).await?;
    if let Err(StoreError::Incomplete { .. }) = Store::is_at(&to).await {
        say(&format!("an earlier copy into {to} was interrupted; it is made anew\n"))?;
    }
    let moved = transfer(&from, &to).await;
    let TransferReport { counts, audit } =
        moved.with_context(|| format!("cannot migrate {from} to {to}"))?;
    let mut told = counts_in_words(&counts);
    // Writing to a string cannot fail.
    writeln!(told, "migrated {from} to {to}, which reads the same").ok();
    say(&told)?;
    let audit = audit.context(
        "everything was copied, but the audit log does not hold together; `copydesk check` of both says more",
    )?;
    say(&format!("the audit log holds together up to line {}\n", audit.seq))
}

/// Formats what was copied, one table on each line.
pub(super) fn counts_in_words(counts: &TransferCounts) -> String {
    let mut told = String::new();
    for (table, rows) in &counts.rows {
        writeln!(told, "{rows:>10}  {table}").ok();
    }
    if counts.replaced > 0 {
        let replaced = counts.replaced;
        writeln!(told, "{replaced} texts with a NUL character have U+FFFD in its place").ok();
    }
    told
}

/// Reads the name of a place: the address of a PostgreSQL database, or else a directory.
fn place(name: &str) -> Result<StorePlace> {
    if name.starts_with("postgres://") || name.starts_with("postgresql://") {
        return Ok(StorePlace::Postgres(name.parse()?));
    }
    Ok(StorePlace::Directory(name.into()))
}
