//! Webhooks: waiting and resolved requests, sent to addresses that owners name.
//!
//! Deliveries are in the store's outbox, written in the transaction of the request. They are sent
//! one after the other for each receiver, signed after <https://www.standardwebhooks.com>, tried
//! again with growing pauses, and given up after a day, together with all later deliveries that
//! have waited as long. Rooms never wait for deliveries. A receiver may get a delivery twice, with
//! an equal `webhook-id`.

mod sending;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use copydesk_api::webhooks::{AddressPolicy, DeliveryOutcome, WebhookDelivery, WebhookOutbox};
use copydesk_clock::WallClock;
use copydesk_ids::WebhookId;

/// Time after its first attempt at which a delivery is given up, in ms.
const GIVE_UP_AFTER_MS: u64 = 24 * 60 * 60 * 1_000;
/// Pauses after the first attempts, in seconds; the last one is repeated.
const PAUSES_S: [u64; 8] = [1, 5, 30, 120, 600, 1_800, 3_600, 7_200];
/// Pause after the store could not be read or written.
const RETRY: Duration = Duration::from_secs(5);

/// Task that sends each [`WebhookDelivery`] in the outbox.
#[derive(Clone, Debug)]
pub struct DeliveryWorker {
    outbox: WebhookOutbox,
    clock: WallClock,
    address_policy: AddressPolicy,
}

impl DeliveryWorker {
    /// Returns a worker that sends nothing yet.
    pub fn new(outbox: WebhookOutbox, clock: WallClock, address_policy: AddressPolicy) -> Self {
        Self { outbox, clock, address_policy }
    }

    /// Sends until `stop` fires; a delivery interrupted by that is sent again at the next start.
    pub async fn run(self, stop: CancellationToken) {
        let worker = Arc::new(self);
        let mut changes = worker.outbox.changes();
        let mut on_the_way: HashSet<WebhookId> = HashSet::new();
        let mut in_flight: JoinSet<WebhookId> = JoinSet::new();
        loop {
            changes.mark_unchanged();
            let pause = match worker.outbox.deliveries().await {
                Ok(Some(deliveries)) => {
                    worker.dispatch(deliveries, &mut on_the_way, &mut in_flight)
                }
                Ok(None) => return,
                Err(error) => {
                    tracing::warn!(%error, "cannot read the outbox");
                    Some(RETRY)
                }
            };
            tokio::select! {
                () = stop.cancelled() => return,
                change = changes.changed() => if change.is_err() { return },
                Some(done) = in_flight.join_next() => match done {
                    Ok(hook) => { on_the_way.remove(&hook); }
                    // The failed delivery is unknown; all deliveries on the way are sent again.
                    Err(error) => {
                        tracing::error!(%error, "a delivery failed unexpectedly");
                        in_flight.abort_all();
                        while in_flight.join_next().await.is_some() {}
                        on_the_way.clear();
                        tokio::time::sleep(RETRY).await;
                    }
                },
                () = tokio::time::sleep(pause.unwrap_or(Duration::MAX)), if pause.is_some() => {}
            }
        }
    }

    /// Starts the due deliveries to receivers without one on the way; returns the time until the
    /// next is due.
    fn dispatch(
        self: &Arc<Self>,
        deliveries: Vec<WebhookDelivery>,
        on_the_way: &mut HashSet<WebhookId>,
        in_flight: &mut JoinSet<WebhookId>,
    ) -> Option<Duration> {
        let now_ms = self.clock.now_ms();
        let mut pause: Option<u64> = None;
        for delivery in deliveries {
            let hook = delivery.hook.id.clone();
            if on_the_way.contains(&hook) {
                continue;
            }
            if delivery.next_ms > now_ms {
                let wait = delivery.next_ms - now_ms;
                pause = Some(pause.map_or(wait, |pause| pause.min(wait)));
                continue;
            }
            on_the_way.insert(hook.clone());
            let worker = Arc::clone(self);
            in_flight.spawn(async move {
                worker.deliver(delivery).await;
                hook
            });
        }
        pause.map(Duration::from_millis)
    }

    async fn deliver(&self, delivery: WebhookDelivery) {
        let sent = sending::send(&delivery, self.address_policy, self.clock.now_ms()).await;
        let at_ms = self.clock.now_ms();
        let outcome = match sent {
            Ok(()) => DeliveryOutcome::Delivered,
            Err(error) => failed(&delivery, at_ms, error.to_string()),
        };
        if let DeliveryOutcome::GivenUp { error, .. } = &outcome {
            tracing::warn!(webhook = %delivery.hook.id, delivery = %delivery.id, %error, "gave up a delivery");
        }
        let (seq, hook) = (delivery.seq, delivery.hook.id);
        if let Err(error) = self.outbox.settle(seq, hook, at_ms, outcome).await {
            tracing::warn!(%error, "cannot store the result of a delivery; it may be sent again");
            tokio::time::sleep(RETRY).await;
        }
    }
}

/// Returns the outcome of a failed attempt: a later attempt, or giving up.
fn failed(delivery: &WebhookDelivery, at_ms: u64, error: String) -> DeliveryOutcome {
    let tried = usize::try_from(delivery.attempts).unwrap_or(usize::MAX);
    let pause_s = PAUSES_S.get(tried).copied().unwrap_or(PAUSES_S[PAUSES_S.len() - 1]);
    let next_ms = at_ms + pause_s * 1_000;
    let since_ms = delivery.since_ms.unwrap_or(at_ms);
    if next_ms.saturating_sub(since_ms) > GIVE_UP_AFTER_MS {
        // Deliveries that have waited as long behind it do not get another day.
        DeliveryOutcome::GivenUp { before_ms: at_ms.saturating_sub(GIVE_UP_AFTER_MS), error }
    } else {
        DeliveryOutcome::Later { next_ms, error }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use copydesk_api::webhooks::WebhookRecord;

    #[test]
    fn a_receiver_that_takes_nothing_is_tried_for_about_a_day() {
        let hook = WebhookRecord {
            id: "whk_1".into(),
            url: "https://hooks.example".into(),
            document: None,
            secret: String::new(),
            active: true,
            created_ms: 0,
        };
        let mut delivery = WebhookDelivery {
            seq: 1,
            id: "msg_1".into(),
            hook,
            event: "waiting".into(),
            body: json!({}),
            attempts: 0,
            since_ms: None,
            next_ms: 0,
        };
        let mut now_ms = 2 * GIVE_UP_AFTER_MS;
        let before_ms = loop {
            match failed(&delivery, now_ms, "no".into()) {
                DeliveryOutcome::Later { next_ms, .. } => {
                    assert!(next_ms > now_ms);
                    delivery.since_ms.get_or_insert(now_ms);
                    (now_ms, delivery.attempts) = (next_ms, delivery.attempts + 1);
                }
                DeliveryOutcome::GivenUp { before_ms, .. } => break before_ms,
                DeliveryOutcome::Delivered => panic!("it failed"),
            }
        };
        assert_eq!(before_ms, now_ms.saturating_sub(GIVE_UP_AFTER_MS));
        let hours = (now_ms - 2 * GIVE_UP_AFTER_MS) / 3_600_000;
        assert!((20..=24).contains(&hours), "{hours} hours");
        assert!((12..30).contains(&delivery.attempts), "{} tries", delivery.attempts);
    }
}
