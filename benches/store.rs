//! Durable commits per second: rooms that each wait for their own commit before the next one.
//!
//! `cargo bench --bench store`; with `COPYDESK_BENCH_POSTGRES=postgres://…`, an empty database, on
//! SQLite and PostgreSQL in turns.

#![expect(clippy::print_stdout, clippy::expect_used, reason = "a program that prints figures")]

use std::time::{Duration, Instant};

use copydesk_ids::{DocumentId, Version};
use copydesk_store::{DocumentRecord, Store, StoreAccess, StoreOp, StorePlace, UpdateRecord};
use serde_json::json;

const LENGTH: Duration = Duration::from_secs(2);

#[tokio::main]
async fn main() {
    let postgres = std::env::var("COPYDESK_BENCH_POSTGRES").ok();
    let postgres = postgres.map(|url| StorePlace::Postgres(url.parse().expect("an address")));
    println!(
        "{:>6} {:>10} {:>12} {:>18} {:>14}",
        "rooms", "database", "commits/s", "transactions/s", "mean wait ms"
    );
    for rooms in [1, 4, 16, 64, 256, 1_024] {
        let directory = tempfile::tempdir().expect("a directory");
        let sqlite = measure("SQLite", directory.path().into(), rooms).await;
        if let Some(place) = &postgres {
            let commits = measure("PostgreSQL", place.clone(), rooms).await;
            println!("{rooms:>6} {:>10} {:>11.2}x", "", commits / sqlite);
        }
    }
}

/// Measures commits for each second.
async fn measure(name: &str, place: StorePlace, rooms: usize) -> f64 {
    let store = Store::open(place, StoreAccess::Serve).await.expect("a store");
    let run = uuid::Uuid::new_v4().simple().to_string();
    for room in 0..rooms {
        store.commit(create(id(&run, room))).await.expect("a document");
    }
    let (before, began) = (store.counts(), Instant::now());
    let mut typing = tokio::task::JoinSet::new();
    for room in 0..rooms {
        typing.spawn(type_on(store.clone(), id(&run, room), began + LENGTH));
    }
    typing.join_all().await;
    let (after, seconds) = (store.counts(), began.elapsed().as_secs_f64());
    let commits = (after.batches - before.batches) as f64 / seconds;
    let transactions = (after.transactions - before.transactions) as f64 / seconds;
    let wait_ms = rooms as f64 / commits * 1_000.0;
    println!("{rooms:>6} {name:>10} {commits:>12.0} {transactions:>18.0} {wait_ms:>14.2}");
    store.close().await;
    commits
}

async fn type_on(store: Store, document: DocumentId, until: Instant) {
    let mut version = Version(0);
    while Instant::now() < until {
        let update = UpdateRecord {
            client: "c_1".into(),
            changes: format!("[{},[0,\"a\"]]", version.0).into(),
            author: "usr_anna".into(),
            at_ms: version.0,
            origin: None,
        };
        let document = document.clone();
        let op = StoreOp::AppendUpdates { document, from: version, updates: vec![update] };
        store.commit(op).await.expect("durable");
        version = version.next();
    }
}

fn create(id: DocumentId) -> StoreOp {
    let record = DocumentRecord {
        id,
        title: "Typing".to_owned(),
        created_ms: 0,
        updated_ms: 0,
        version: Version(0),
        settings: json!({}),
        unlisted_owner: None,
        deleted: false,
        purged: false,
    };
    StoreOp::CreateDocument { record, text: String::new() }
}

fn id(run: &str, room: usize) -> DocumentId {
    format!("doc_{run}_{room}").into()
}
