//! Deliveries that a receiver is still to be sent, and those that it will never be sent.

use super::*;

fn hook() -> WebhookRecord {
    WebhookRecord {
        id: "whk_1".into(),
        url: "https://hooks.example".into(),
        document: None,
        secret: "whsec_".to_owned(),
        active: true,
        created_ms: 1_000,
    }
}

fn request(id: &str, open: bool) -> StoreOp {
    StoreOp::PutRequest(RequestRecord {
        id: id.into(),
        document: Some("doc_a".into()),
        session: "ses_1".into(),
        run: "run_1".into(),
        status: if open { "pending" } else { "rejected" }.to_owned(),
        open,
        created_ms: 1_000,
        expires_ms: None,
        decided_ms: None,
        body: json!({"name": id}).to_string(),
        changed: Vec::new(),
    })
}

async fn with_hook(database: &TestDatabase) -> Store {
    let store = database.store().await;
    store
        .commit(WriteBatch::from(create("doc_a")).with(StoreOp::PutWebhook(hook())))
        .await
        .unwrap();
    store
}

/// Returns the number of deliveries that wait, and of those that were dropped.
async fn counts(store: &Store) -> (u64, u64) {
    let state = store.webhooks().await.unwrap().remove(0);
    (state.waiting, state.dropped)
}

async fn oldest(store: &Store) -> WebhookDelivery {
    store.deliveries().await.unwrap().remove(0)
}

async fn a_thousand_deliveries_wait_and_what_comes_then_is_dropped_and_counted(
    database: TestDatabase,
) {
    let store = with_hook(&database).await;
    for number in 0..501 {
        let name = format!("req_{number}");
        store
            .commit(WriteBatch::from(request(&name, true)).with(request(&name, false)))
            .await
            .unwrap();
    }
    assert_eq!(counts(&store).await, (1_000, 2));
    let first = oldest(&store).await;
    assert_eq!((first.event.as_str(), &first.body["name"]), ("waiting", &json!("req_0")));
    let hook = first.hook.id.clone();
    let settle =
        StoreOp::Settle { seq: first.seq, hook, at_ms: 2_000, outcome: DeliveryOutcome::Delivered };
    store.commit(settle).await.unwrap();
    // There is room again.
    store.commit(request("req_more", true)).await.unwrap();
    assert_eq!(counts(&store).await, (1_000, 2));
}

async fn a_person_who_registers_is_told_from_then_on_and_after_a_restart(database: TestDatabase) {
    let store = database.open(StoreAccess::Serve).await;
    let mut news = store.outbox_changes();
    store
        .commit(WriteBatch::from(create("doc_a")).with(request("req_before", true)))
        .await
        .unwrap();
    assert!(!news.has_changed().unwrap(), "no delivery is due");
    // In one batch, and in the next one.
    store
        .commit(WriteBatch::from(StoreOp::PutWebhook(hook())).with(request("req_1", true)))
        .await
        .unwrap();
    assert!(news.has_changed().unwrap());
    news.mark_unchanged();
    store.commit(request("req_2", true)).await.unwrap();
    assert!(news.has_changed().unwrap());
    assert_eq!(counts(&store).await, (2, 0));
    store.close().await;
    let store = database.open(StoreAccess::Serve).await;
    let news = store.outbox_changes();
    store.commit(request("req_3", true)).await.unwrap();
    assert!(news.has_changed().unwrap());
    assert_eq!(counts(&store).await, (3, 0));
}

async fn with_what_is_given_up_goes_everything_that_has_waited_too_long(database: TestDatabase) {
    let store = with_hook(&database).await;
    let give_up = |delivery: WebhookDelivery, before_ms| StoreOp::Settle {
        seq: delivery.seq,
        hook: delivery.hook.id,
        at_ms: 2_000,
        outcome: DeliveryOutcome::GivenUp { before_ms, error: "silence".to_owned() },
    };
    for name in ["req_1", "req_2", "req_3"] {
        store.commit(request(name, true)).await.unwrap();
    }
    // Nothing else is as old.
    store.commit(give_up(oldest(&store).await, 0)).await.unwrap();
    assert_eq!(counts(&store).await, (2, 1));
    assert_eq!(oldest(&store).await.body["name"], "req_2");
    let other = WebhookRecord { id: "whk_2".into(), ..hook() };
    store.commit(StoreOp::PutWebhook(other)).await.unwrap();
    store.commit(request("req_4", true)).await.unwrap();
    let later = u64::MAX >> 20;
    store.commit(give_up(oldest(&store).await, later)).await.unwrap();
    assert_eq!(counts(&store).await, (0, 4));
    // Another person's wait.
    assert_eq!(oldest(&store).await.hook.id, "whk_2".into());
}

#[test]
fn a_time_stands_between_the_names_of_what_came_before_and_after() {
    let now = DeliveryId::generate();
    let name = now.as_str().trim_start_matches("msg_");
    let at_ms = u64::from_str_radix(&name[..12], 16).unwrap();
    assert!(DeliveryId::first_of(at_ms) < now && now < DeliveryId::first_of(at_ms + 1));
}

on_both_databases! {
    a_thousand_deliveries_wait_and_what_comes_then_is_dropped_and_counted,
    a_person_who_registers_is_told_from_then_on_and_after_a_restart,
    with_what_is_given_up_goes_everything_that_has_waited_too_long,
}
