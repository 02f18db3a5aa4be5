//! Migrations of both databases, which are compiled in.

use std::borrow::Cow;
use std::sync::LazyLock;

use sqlx::SqlSafeStr as _;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};

use crate::StoreError;

type MigrationFile = (&'static str, &'static str);

macro_rules! migration_files {
    ($folder:literal: $($file:literal)*) => {
        &[$(($file, include_str!(concat!("../migrations/", $folder, "/", $file)))),*]
    };
}

const SQLITE_FILES: &[MigrationFile] = migration_files!["sqlite":
    "0001_first.sql"
    "0004_token_use.sql"
    "0005_rules.sql"
    "0010_audit_head.sql"
    "0011_provenance.sql"
    "0020_runs_heard.sql"
    "0021_live_files.sql"
    "0022_idempotency.sql"
    "0023_webhooks.sql"
    "0024_answers.sql"
    "0030_undos.sql"
    "0031_said_about.sql"
    "0032_tokens_of.sql"
    "0042_budgets.sql"
    "0050_trash.sql"
    "0060_request_parts.sql"
    "0061_update_log.sql"
    "0063_logins.sql"
    "0064_administration.sql"
    "0071_document_roles.sql"
    "0072_deleted_people.sql"
    "0073_update_journal.sql"
    "0074_pending_updates.sql"
    "0080_comments.sql"
    "0082_mentions.sql"
    "0083_decided_times.sql"
];

const POSTGRES_FILES: &[MigrationFile] = migration_files!["postgres":
    "0001_first.sql"
    "0050_trash.sql"
    "0060_request_parts.sql"
    "0061_nodes.sql"
    "0062_node_messages.sql"
    "0063_logins.sql"
    "0064_administration.sql"
    "0070_lease_terms.sql"
    "0071_document_roles.sql"
    "0072_deleted_people.sql"
    "0080_comments.sql"
    "0082_mentions.sql"
    "0083_decided_times.sql"
];

pub(crate) static SQLITE: LazyLock<Migrator> = LazyLock::new(|| migrator(SQLITE_FILES));

pub(crate) static POSTGRES: LazyLock<Migrator> = LazyLock::new(|| migrator(POSTGRES_FILES));

pub(crate) fn newest(migrations: &Migrator) -> i64 {
    migrations.iter().map(|migration| migration.version).max().unwrap_or(0)
}

pub(crate) fn error(migrations: &Migrator, error: MigrateError) -> StoreError {
    match error {
        MigrateError::VersionMissing(found) if found > newest(migrations) => {
            StoreError::Newer { found, known: newest(migrations) }
        }
        error => StoreError::Migration(error),
    }
}

/// Reads version and description from file names as `sqlx::migrate!` does, which earlier versions
/// were built with. The macro would compile a second TLS library and runtime for the build machine.
fn migrator(files: &[MigrationFile]) -> Migrator {
    let migrations = files.iter().filter_map(|(name, sql)| {
        let (version, description) = name.strip_suffix(".sql")?.split_once('_')?;
        let description = Cow::Owned(description.replace('_', " "));
        let sql = sql.into_sql_str();
        Some(Migration::new(version.parse().ok()?, description, MigrationType::Simple, sql, false))
    });
    Migrator::with_migrations(migrations.collect())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_of_the_folders_is_a_migration() {
        for (folder, files, migrator) in
            [("sqlite", SQLITE_FILES, &SQLITE), ("postgres", POSTGRES_FILES, &POSTGRES)]
        {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/migrations").join(folder);
            let entries = path.read_dir().unwrap();
            let mut found: Vec<_> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            found.sort();
            let listed: Vec<_> = files.iter().map(|(name, _)| (*name).to_owned()).collect();
            assert_eq!(found, listed, "{folder}");
            assert_eq!(
                migrator.iter().count(),
                files.len(),
                "{folder}: names of files are NUMBER_WORDS.sql"
            );
        }
    }

    /// A changed checksum would make old databases unreadable.
    #[test]
    fn a_migration_is_known_by_what_the_first_version_stored() {
        let first = SQLITE.iter().next().unwrap();
        assert_eq!((first.version, &*first.description), (1, "first"));
        assert_eq!(first.checksum[..6], [0xff, 0xbc, 0x32, 0xd8, 0xd8, 0x06]);
    }
}
