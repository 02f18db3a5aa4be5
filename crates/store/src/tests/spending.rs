//! Spending adds up by month, person and document, and limits replace each other.

use copydesk_ids::UserId;

use super::*;

on_both_databases!(
    calls_add_up_by_month_person_and_document,
    a_limit_replaces_the_one_before_and_is_removed,
    what_is_stored_is_measured,
);

/// 2026-11-30T23:59:59.999Z, the end of a month.
const LAST_OF_NOVEMBER: u64 = 1_796_083_199_999;

fn call(at_ms: u64, user: &str, document: Option<&str>, cost: Option<u64>) -> StoreOp {
    let (user, document) = (user.into(), document.map(DocumentId::from));
    let entry =
        SpendingEntry { at_ms, user, document, model: "story".to_owned(), tokens: 10, cost };
    StoreOp::AddSpending(entry)
}

async fn calls_add_up_by_month_person_and_document(database: TestDatabase) {
    let store = database.store().await;
    let now = LAST_OF_NOVEMBER;
    let calls = [
        call(now, "usr_anna", Some("doc_a"), Some(3)),
        call(now, "usr_anna", Some("doc_a"), Some(4)),
        call(now, "usr_anna", None, None),
        call(now, "usr_ben", Some("doc_a"), Some(u64::from(u32::MAX) * 9)),
        call(now + 1, "usr_ben", Some("doc_a"), Some(100)),
    ];
    // In one transaction and in several: both add up.
    let (first, rest) = calls.split_at(2);
    store.commit(WriteBatch::from_iter(first.to_vec())).await.unwrap();
    for op in rest {
        store.commit(op.clone()).await.unwrap();
    }
    let [november, december] = [now, now + 1].map(SpendingMonth::at);
    let (anna, ben) = (UserId::from("usr_anna"), UserId::from("usr_ben"));
    let large = u64::from(u32::MAX) * 9;
    assert_eq!(store.spent(november, Some(&anna), None).await.unwrap(), 7);
    assert_eq!(store.spent(november, None, Some(&"doc_a".into())).await.unwrap(), 7 + large);
    assert_eq!(store.spent(november, None, None).await.unwrap(), 7 + large);
    assert_eq!(store.spent(december, Some(&ben), None).await.unwrap(), 100);
    assert_eq!(store.spent(december, Some(&anna), None).await.unwrap(), 0);
    let people = store.spending_sums(november, SpendingGroup::People, 10).await.unwrap();
    let sum = |of: &SpendingSum| (of.subject.clone(), of.calls, of.unpriced, of.tokens, of.cost);
    let expected = [("usr_ben".to_owned(), 1, 0, 10, large), ("usr_anna".to_owned(), 3, 1, 30, 7)];
    assert_eq!(people.iter().map(sum).collect::<Vec<_>>(), expected);
    let documents = store.spending_sums(november, SpendingGroup::Documents, 10).await.unwrap();
    let subjects: Vec<_> = documents.iter().map(|of| of.subject.as_str()).collect();
    assert_eq!(subjects, ["doc_a", ""]);
    assert_eq!(store.spending_sums(november, SpendingGroup::People, 1).await.unwrap().len(), 1);
    let models = store.spending_sums(november, SpendingGroup::UnpricedModels, 10).await.unwrap();
    assert_eq!(models.iter().map(|of| (of.unpriced, of.tokens)).collect::<Vec<_>>(), [(1, 10)]);
    store.close().await;
}

async fn a_limit_replaces_the_one_before_and_is_removed(database: TestDatabase) {
    let store = database.store().await;
    let put = |scope: SpendingScope, amount| StoreOp::PutSpendingLimit { scope, amount };
    let (anna, ben) = (UserId::from("usr_anna"), UserId::from("usr_ben"));
    let of_anna = SpendingScope::Person(anna.clone());
    for (scope, amount) in [
        (SpendingScope::Server, Some(1)),
        (SpendingScope::Everyone, Some(2)),
        (of_anna.clone(), Some(3)),
        (of_anna.clone(), Some(4)),
        (SpendingScope::Document("doc_a".into()), Some(5)),
    ] {
        store.commit(put(scope, amount)).await.unwrap();
    }
    let mut all: Vec<_> =
        store.spending_limits().await.unwrap().into_iter().map(|it| it.amount).collect();
    all.sort_unstable();
    assert_eq!(all, [1, 2, 4, 5]);
    let kinds = |limits: Vec<SpendingLimit>| -> Vec<_> {
        limits.into_iter().map(|it| it.scope.kind()).collect()
    };
    let about = DocumentId::from("doc_a");
    let found = store.spending_limits_for(&anna, Some(&about)).await.unwrap();
    assert_eq!(kinds(found), ["document", "everyone", "person", "server"]);
    let found = store.spending_limits_for(&ben, None).await.unwrap();
    assert_eq!(kinds(found), ["everyone", "server"]);
    for _ in 0..2 {
        store.commit(put(of_anna.clone(), None)).await.unwrap();
    }
    let found = store.spending_limits_for(&anna, None).await.unwrap();
    assert_eq!(kinds(found), ["everyone", "server"]);
    store.close().await;
}

async fn what_is_stored_is_measured(database: TestDatabase) {
    let store = database.store().await;
    let empty = store.storage_sizes().await.unwrap();
    store.commit(create("doc_a")).await.unwrap();
    store.commit(append("doc_a", 0, 3)).await.unwrap();
    let deleted = DocumentRecord { deleted: true, ..record("doc_b") };
    store.commit(create("doc_b")).await.unwrap();
    store.commit(StoreOp::PutDocument(deleted)).await.unwrap();
    let sizes = store.storage_sizes().await.unwrap();
    assert_eq!((sizes.documents, sizes.deleted_documents), (1, 1));
    assert_eq!(sizes.text_bytes, 2 * "Dear reader,\n".len() as u64);
    // Bytes, not characters: "é" has two.
    assert_eq!((sizes.updates, sizes.update_bytes), (3, 3 * "[1,[0,\"é\"]]".len() as u64));
    assert!(sizes.database_bytes >= empty.database_bytes && sizes.database_bytes > 0);
    store.close().await;
}
