//! Answers that programs did not receive are there again after a restart, for as long as they are
//! of use, and for no one else.

use super::*;

fn answer(user: &str, key: &str, used_ms: u64, words: &str) -> StoreOp {
    let (user, key) = (user.into(), key.to_owned());
    StoreOp::PutAnswer(AnswerRecord { user, key, used_ms, body: json!(words) })
}

async fn kept(store: &Store, user: &str, since_ms: u64) -> Vec<String> {
    let keys: Vec<_> = (0..1_200).map(|n| format!("k{n}")).collect();
    let found = store.answers(&user.into(), &keys, since_ms).await.expect("readable");
    let mut found: Vec<_> = found.into_iter().map(|record| record.key).collect();
    found.sort_unstable();
    found
}

async fn an_answer_is_its_persons_own(database: TestDatabase) {
    let store = database.store().await;
    store.commit(answer("ana", "k1", 5, "hers")).await.expect("kept");
    store.commit(answer("ben", "k1", 5, "his")).await.expect("kept");
    store.commit(answer("ana", "k1100", 5, "far away")).await.expect("kept");
    assert_eq!(kept(&store, "ana", 0).await, ["k1", "k1100"]);
    let found = store.answers(&"ben".into(), &["k1".to_owned()], 5).await.expect("readable");
    assert_eq!(found[0].body, json!("his"));
    assert!(
        store.answers(&"ana".into(), &["k2".to_owned()], 0).await.expect("readable").is_empty()
    );
    assert!(store.answers(&"ana".into(), &[], 0).await.expect("readable").is_empty());
    assert!(kept(&store, "ana", 6).await.is_empty(), "too long ago");
}

async fn what_is_not_used_is_forgotten_and_what_is_used_stays(database: TestDatabase) {
    let store = database.store().await;
    for (key, used_ms) in [("k1", 1), ("k2", 2), ("k3", 3)] {
        store.commit(answer("ana", key, used_ms, "x")).await.expect("kept");
    }
    let used = StoreOp::UseAnswers { user: "ana".into(), keys: vec!["k1".to_owned()], at_ms: 9 };
    store.commit(used).await.expect("kept");
    let forget =
        |most_bytes| StoreOp::ForgetAnswers { user: "ana".into(), before_ms: 3, most_bytes };
    store.commit(forget(1_000)).await.expect("kept");
    assert_eq!(kept(&store, "ana", 0).await, ["k1", "k3"]);
    // Each has three bytes.
    store.commit(answer("ben", "k1", 3, "x")).await.expect("kept");
    store.commit(forget(5)).await.expect("kept");
    assert_eq!(kept(&store, "ana", 0).await, ["k1"]);
    assert_eq!(kept(&store, "ben", 0).await, ["k1"], "no one crowds out the others");
}

on_both_databases! {
    an_answer_is_its_persons_own,
    what_is_not_used_is_forgotten_and_what_is_used_stays,
}
