//! `copydesk backup` and `copydesk restore`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::cli::{BackupArgs, RestoreArgs};
use crate::store::{self, StorePlace};

use super::say;

/// Copies the whole store into one file; prints its path.
pub(super) async fn back_up(args: BackupArgs) -> Result<()> {
    let data = directory(args.data, args.database_url, "pg_dump")?;
    super::require_data(&StorePlace::Directory(data.clone())).await?;
    let target = if args.out.is_dir() { args.out.join(file_name()) } else { args.out };
    let copied = store::back_up(&data, &target).await;
    let bytes = copied.with_context(|| format!("cannot back up into {}", target.display()))?;
    say(&format!("{}  {bytes} bytes\n", target.display()))
}

/// Makes a data directory of a backup; prints what was done.
pub(super) async fn restore(args: RestoreArgs) -> Result<()> {
    let data = directory(args.data, args.database_url, "pg_restore")?;
    let restored = store::restore(&args.from, &data, args.replace).await;
    let aside = restored.with_context(|| {
        format!("cannot restore {} into {}", args.from.display(), data.display())
    })?;
    let aside = aside.map(|aside| format!("what was there before is in {}\n", aside.display()));
    let owner =
        "the owner gets a new token when the server starts, or the one that --token names\n";
    let owner = if has_owner_token(&data) { "" } else { owner };
    say(&format!("restored into {}\n{}{owner}", data.display(), aside.unwrap_or_default()))
}

/// Returns the data directory, which must have the database; `tool` copies a PostgreSQL database.
fn directory(data: Option<PathBuf>, url: Option<String>, tool: &str) -> Result<PathBuf> {
    match super::place(data, url)? {
        StorePlace::Directory(data) => Ok(data),
        StorePlace::Postgres(url) => {
            bail!("the data is in {url}; use PostgreSQL's own {tool} for it (docs/postgresql.md)")
        }
    }
}

fn has_owner_token(data: &Path) -> bool {
    crate::auth::kept_owner_secret(data).is_ok_and(|kept| kept.is_some())
}

/// Returns a name like `copydesk-backup-20261120T140502Z.sqlite`.
fn file_name() -> String {
    let now = jiff::Timestamp::now();
    format!("copydesk-backup-{}.sqlite", now.strftime("%Y%m%dT%H%M%SZ"))
}
