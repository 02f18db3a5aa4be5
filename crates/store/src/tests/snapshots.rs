//! Snapshots: which are kept, and how far any version is from one.

use super::*;

/// A new document whose room kept a snapshot after each `(updates, bytes)` of its log; the versions
/// of those that are left.
async fn kept_after(
    database: &TestDatabase,
    text: &str,
    log: impl Iterator<Item = (u64, u64)>,
) -> Vec<u64> {
    let store = database.store().await;
    let id = DocumentId::generate();
    store.commit(create(id.as_str())).await.unwrap();
    let mut version = 0;
    for (updates, bytes) in log {
        version += updates;
        store.commit(snapshot(id.as_str(), version, text, bytes)).await.unwrap();
    }
    let kept = store.snapshots(&id).await.unwrap();
    store.close().await;
    kept.into_iter().map(|version| version.0).collect()
}

/// Between each two that follow each other, the widest.
fn widest_gap(versions: &[u64]) -> u64 {
    versions.windows(2).map(|two| two[1] - two[0]).max().unwrap_or(0)
}

async fn every_version_of_a_long_history_is_near_a_snapshot(database: TestDatabase) {
    let kept = kept_after(&database, "text", (0..50).map(|_| (2_000, 80_000))).await;
    assert_eq!(kept.first().copied(), Some(0));
    assert_eq!(kept[kept.len() - 4..], [94_000, 96_000, 98_000, 100_000]);
    assert!(widest_gap(&kept) <= PERMANENT_UPDATES, "{kept:?}");
    // A few for so many updates, not one for each time the room kept one.
    assert!(kept.len() <= 12, "{kept:?}");
}

async fn long_updates_bring_snapshots_closer_in_proportion_to_the_text(database: TestDatabase) {
    // Each update replaces the whole text: a snapshot after every eight of them.
    let text = "x".repeat(1 << 20);
    let kept = kept_after(&database, &text, (0..40).map(|_| (8, 8 << 20))).await;
    assert_eq!(widest_gap(&kept), 8, "{kept:?}");
    // A text that is longer than what was written has fewer: never more bytes than half of the
    // log's.
    let text = "x".repeat(6 << 20);
    let kept = kept_after(&database, &text, (0..40).map(|_| (1, 2 << 20))).await;
    let texts = kept.len() as u64 * (6 << 20);
    assert!(texts <= 40 * (2 << 20) / 2 + 5 * (6 << 20), "{kept:?}");
    assert!(widest_gap(&kept) <= 6, "{kept:?}");
}

async fn a_text_that_was_worked_out_for_an_older_version_stays(database: TestDatabase) {
    let store = database.store().await;
    store.commit(create("doc_a")).await.unwrap();
    for version in 1..=9 {
        store.commit(snapshot("doc_a", version * 100, "text", 10)).await.unwrap();
    }
    let StoreOp::PutSnapshot { document, version, text, replayed_bytes, .. } =
        snapshot("doc_a", 250, "older", 10)
    else {
        unreachable!()
    };
    let permanent =
        StoreOp::PutSnapshot { document, version, text, replayed_bytes, permanent: true };
    store.commit(permanent).await.unwrap();
    store.commit(snapshot("doc_a", 1_000, "text", 10)).await.unwrap();
    let kept = store.snapshots(&"doc_a".into()).await.unwrap();
    assert_eq!(kept, [0, 250, 700, 800, 900, 1_000].map(Version));
}

async fn a_log_is_read_in_pieces_bounded_by_bytes_and_by_number(database: TestDatabase) {
    let store = database.store().await;
    store.commit(WriteBatch::from(create("doc_a")).with(append("doc_a", 0, 9))).await.unwrap();
    let id = DocumentId::from("doc_a");
    let piece = |from: u64, updates: u64, bytes: u64| {
        let (store, id) = (store.clone(), id.clone());
        async move {
            let most = LogPiece { updates, bytes };
            store.piece(&id, Version(from), Version(9), most).await.unwrap().len()
        }
    };
    // `[3,[0,"é"]]` has twelve bytes.
    assert_eq!(piece(0, 100, 1_000).await, 9);
    assert_eq!(piece(0, 4, 1_000).await, 4);
    assert_eq!(piece(0, 100, 36).await, 3);
    assert_eq!(piece(0, 100, 47).await, 3);
    assert_eq!(piece(7, 100, 1).await, 1, "at least one");
    assert_eq!(piece(9, 100, 1_000).await, 0);
    let gap = store.piece(&id, Version(8), Version(11), LogPiece { updates: 9, bytes: 999 }).await;
    assert!(matches!(gap, Err(StoreError::Corrupt { .. })), "{gap:?}");
    let reach = |updates, bytes| store.reachable(&id, Version(9), LogPiece { updates, bytes });
    assert_eq!(reach(100, 1_000).await.unwrap(), Version(0));
    assert_eq!(reach(4, 1_000).await.unwrap(), Version(5));
    assert_eq!(reach(100, 25).await.unwrap(), Version(7));
}

on_both_databases! {
    every_version_of_a_long_history_is_near_a_snapshot,
    long_updates_bring_snapshots_closer_in_proportion_to_the_text,
    a_text_that_was_worked_out_for_an_older_version_stays,
    a_log_is_read_in_pieces_bounded_by_bytes_and_by_number,
}
