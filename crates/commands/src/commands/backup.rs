//! `copydesk backup` and `copydesk restore`.

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::cli::{BackupArgs, RestoreArgs};
use copydesk_check::report;
use copydesk_store as store;
use copydesk_store::{
    ContentState, DamagedContent, ExistingData, RestoredDatabase, StorePlace, VerifiedBackup,
};

use super::migrate::counts_in_words;
use super::say;

/// Number of findings about a backup that are printed.
const MOST_FINDINGS: usize = 10;

/// Copies the whole store into one file; prints its path.
pub(super) async fn back_up(args: BackupArgs) -> Result<()> {
    let place = super::stored_data::place(args.data, args.database_url)?;
    super::stored_data::require_data(&place).await?;
    let target = if args.out.is_dir() { args.out.join(file_name()) } else { args.out };
    let copied = match &place {
        StorePlace::Directory(data) => store::back_up(data, &target).await,
        StorePlace::Postgres(url) => store::back_up_postgres(url, &target).await,
    };
    let bytes = copied.with_context(|| format!("cannot back up into {}", target.display()))?;
    say(&format!("{}  {bytes} bytes\n", target.display()))
}

/// Makes a data directory of a backup, or fills a PostgreSQL database; prints what was done.
pub(super) async fn restore(args: RestoreArgs) -> Result<()> {
    let place = super::stored_data::place(args.data.clone(), args.database_url.clone())?;
    let cannot = || format!("cannot restore {} into {place}", args.from.display());
    let backup = looked_through(&args).await.with_context(cannot)?;
    let (put_aside, needs_token) = match &place {
        StorePlace::Directory(data) => {
            let restored = backup.restore(data, args.replace).await;
            let put_aside = restored.with_context(cannot)?;
            (put_aside.map(|aside| aside.display().to_string()), !has_owner_token(data))
        }
        StorePlace::Postgres(url) => {
            let existing =
                if args.replace { ExistingData::SetAside } else { ExistingData::Refused };
            let restored = backup.restore_postgres(url, existing).await;
            let RestoredDatabase { counts, set_aside } = restored.with_context(cannot)?;
            say(&counts_in_words(&counts))?;
            (set_aside.map(|schema| format!("the schema {schema}")), true)
        }
    };
    let put_aside = put_aside.map(|aside| format!("what was there before is in {aside}\n"));
    let owner = "the owner gets a new token when the server starts, unless the data directory has one or --token names one\n";
    let owner = if needs_token { owner } else { "" };
    say(&format!("restored into {place}\n{}{owner}", put_aside.unwrap_or_default()))
}

/// Opens a backup and checks everything in it before anything is changed; prints doubts.
async fn looked_through(args: &RestoreArgs) -> Result<VerifiedBackup> {
    let damaged =
        if args.despite_damage { DamagedContent::Accepted } else { DamagedContent::Refused };
    let backup = VerifiedBackup::open(&args.from, damaged).await?;
    match backup.state() {
        ContentState::Whole => {}
        ContentState::Unknown => eprintln!(
            "copydesk: the backup has no sum over its content, as those of former versions: damage that `copydesk check` cannot find goes unnoticed"
        ),
        ContentState::Damaged => {
            eprintln!("copydesk: the content of the backup is not what was backed up");
        }
    }
    let store = backup.inspect().await?;
    let report = report(&store).await;
    store.close().await;
    let findings = report?.findings;
    for finding in findings.iter().take(MOST_FINDINGS) {
        eprintln!("copydesk: {finding}");
    }
    anyhow::ensure!(
        findings.is_empty() || args.despite_damage,
        "`copydesk check` finds {} wrong in it; --despite-damage restores it as it is",
        findings.len()
    );
    Ok(backup)
}

fn has_owner_token(data: &Path) -> bool {
    copydesk_auth::kept_owner_secret(data).is_ok_and(|kept| kept.is_some())
}

/// Returns a name like `copydesk-backup-20261120T140502Z.sqlite`.
fn file_name() -> String {
    let now = jiff::Timestamp::now();
    format!("copydesk-backup-{}.sqlite", now.strftime("%Y%m%dT%H%M%SZ"))
}
