//! Stories about what is remembered.

mod answers;
mod audit;
mod backup;
mod comments;
mod commits;
mod deleted_people;
mod durability;
mod fixture;
mod lists;
mod pending;
mod postgres;
mod records;
mod replacements;
mod snapshots;
mod spending;
mod transfers;
mod webhooks;

use serde_json::json;

use copydesk_ids::{ClientId, DeliveryId, DocumentId, Version};

use super::*;
use fixture::{TestDatabase, on_both_databases};

fn record(id: &str) -> DocumentRecord {
    DocumentRecord {
        id: id.into(),
        title: format!("About {id}"),
        created_ms: 1_000,
        updated_ms: 1_000,
        version: Version(0),
        settings: json!({"policy": "any"}),
        unlisted_owner: None,
        deleted: false,
        purged: false,
    }
}

fn create(id: &str) -> StoreOp {
    StoreOp::CreateDocument { record: record(id), text: "Dear reader,\n".to_owned() }
}

/// `count` updates that can be distinguished by the version they make.
fn append(id: &str, from: u64, count: u64) -> StoreOp {
    let update = |version: u64| UpdateRecord {
        client: "c_1".into(),
        changes: format!("[{version},[0,\"é\"]]").into(),
        author: "usr_anna".into(),
        at_ms: 1_000 + version,
        origin: None,
    };
    StoreOp::AppendUpdates {
        document: id.into(),
        from: Version(from),
        updates: (from + 1..=from + count).map(update).collect(),
    }
}

fn snapshot(id: &str, version: u64, text: &str, replayed_bytes: u64) -> StoreOp {
    StoreOp::PutSnapshot {
        document: id.into(),
        version: Version(version),
        text: text.to_owned(),
        replayed_bytes,
        permanent: false,
    }
}

fn line(action: &str) -> StoreOp {
    StoreOp::Audit(AuditEntry {
        at_ms: 5,
        actor: "usr_anna".to_owned(),
        action: action.to_owned(),
        document: Some("doc_a".into()),
        request: None,
        detail: json!({"z": 1, "a": "ß", "n": 0.1}),
    })
}

fn setting(key: &str) -> StoreOp {
    StoreOp::PutSetting { key: key.to_owned(), value: "1".to_owned() }
}

/// Copies the data of a server as a kill at this moment would leave it.
fn copy_of_a_crash(data: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir(to).unwrap();
    for name in ["copydesk.sqlite", "copydesk.sqlite-wal"] {
        std::fs::copy(data.join(name), to.join(name)).unwrap();
    }
}

/// Restores a backup that must be intact into a data directory.
async fn restore(
    from: &std::path::Path,
    data: &std::path::Path,
    replace: bool,
) -> StoreResult<Option<std::path::PathBuf>> {
    let backup = VerifiedBackup::open(from, DamagedContent::Refused).await?;
    backup.restore(data, replace).await
}

/// Restores a backup that must be intact into a PostgreSQL database.
async fn restore_postgres(
    from: &std::path::Path,
    url: &DatabaseUrl,
    existing: ExistingData,
) -> StoreResult<RestoredDatabase> {
    let backup = VerifiedBackup::open(from, DamagedContent::Refused).await?;
    backup.restore_postgres(url, existing).await
}

async fn version(store: &Store, id: &str) -> u64 {
    let id = DocumentId::from(id);
    store.load(&id).await.expect("readable").expect("there").record.version.0
}
