//! Messages between nodes over Redis: published and subscribed to, never stored there.
//!
//! Nothing waits for Redis. What is sent while it is away is found in the database.

use std::time::Duration;

use futures_util::StreamExt as _;
use redis::AsyncConnectionConfig;
use redis::aio::{MultiplexedConnection, PubSubStream};
use tokio::sync::{Mutex, mpsc};
use tokio::time::{Instant, MissedTickBehavior};

use copydesk_placement::RedisUrl;

/// Longest wait for a connection to Redis, and for its answer.
const REDIS_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval at which a node sends something to itself, to find out if Redis is there.
const PULSE: Duration = Duration::from_secs(2);
/// Time without anything from Redis after which the connection counts as lost.
const SILENT: Duration = Duration::from_secs(6);
/// First and longest pause before the connection is opened again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));
/// Number of messages that wait to be published; more are left to the database.
const WAITING: usize = 1_024;

/// Channel of Redis in which the nodes of one database meet.
#[derive(Debug)]
pub(super) struct RedisChannel {
    url: RedisUrl,
    name: String,
    /// Channel in which only this node is.
    own: String,
    outgoing: mpsc::Sender<String>,
    waiting: Mutex<mpsc::Receiver<String>>,
}

struct RedisLink {
    publisher: MultiplexedConnection,
    arriving: PubSubStream,
}

impl RedisChannel {
    pub(super) fn new(url: RedisUrl, name: String, number: i64) -> Self {
        let (outgoing, waiting) = mpsc::channel(WAITING);
        let own = format!("{name}:{number}");
        Self { url, name, own, outgoing, waiting: Mutex::new(waiting) }
    }

    pub(super) fn tell(&self, message: String) {
        self.outgoing.try_send(message).ok();
    }

    /// Publishes messages of this node and receives those of others; never ends.
    pub(super) async fn attend(&self, arrived: impl Fn(&str)) {
        let mut waiting = self.waiting.lock().await;
        let (mut pause, mut is_lost) = (PAUSES.0, false);
        loop {
            let began = Instant::now();
            let why = match tokio::time::timeout(REDIS_TIMEOUT, self.connect()).await {
                Ok(Ok(link)) => {
                    if is_lost {
                        is_lost = false;
                        tracing::info!(redis = %self.url, "Redis is back");
                    }
                    self.carry(link, &mut waiting, &arrived).await
                }
                Ok(Err(error)) => error.to_string(),
                Err(_) => "it does not answer".to_owned(),
            };
            if !is_lost {
                is_lost = true;
                tracing::warn!(redis = %self.url, why, "Redis is lost; nodes find out by looking");
            }
            if began.elapsed() > SILENT {
                pause = PAUSES.0;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    async fn connect(&self) -> redis::RedisResult<RedisLink> {
        let client = self.url.client()?;
        let mut subscribed = client.get_async_pubsub().await?;
        subscribed.subscribe(&[&self.name, &self.own]).await?;
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(REDIS_TIMEOUT))
            .set_response_timeout(Some(REDIS_TIMEOUT));
        let publisher = client.get_multiplexed_async_connection_with_config(&config).await?;
        Ok(RedisLink { publisher, arriving: subscribed.into_on_message() })
    }

    async fn carry(
        &self,
        link: RedisLink,
        waiting: &mut mpsc::Receiver<String>,
        arrived: impl Fn(&str),
    ) -> String {
        let RedisLink { mut publisher, mut arriving } = link;
        let mut pulse = tokio::time::interval(PULSE);
        pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut heard = Instant::now();
        loop {
            let published = tokio::select! {
                message = arriving.next() => {
                    let Some(message) = message else { return "it has closed the connection".into() };
                    heard = Instant::now();
                    if message.get_channel_name() == self.name
                        && let Ok(message) = message.get_payload::<String>()
                    {
                        arrived(&message);
                    }
                    continue;
                }
                Some(message) = waiting.recv() => (&self.name, message),
                _ = pulse.tick() => {
                    if heard.elapsed() > SILENT {
                        return "it does not answer".into();
                    }
                    (&self.own, String::new())
                }
            };
            let (channel, message) = published;
            let publish = redis::cmd("PUBLISH").arg(channel).arg(message).to_owned();
            if let Err(error) = publish.query_async::<()>(&mut publisher).await {
                return error.to_string();
            }
        }
    }
}
