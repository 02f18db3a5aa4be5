//! Messages between nodes over Redis: published and subscribed to, never stored there.
//!
//! Nothing waits for Redis. What is sent while it is away is found in the database.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use redis::aio::{MultiplexedConnection, PubSubStream};
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo as _,
};
use tokio::sync::{Mutex, mpsc};
use tokio::time::{Instant, MissedTickBehavior};

use copydesk_store::StoreError;

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

/// Address `redis://USER:PASSWORD@HOST:PORT/NUMBER`, whose password is shown nowhere.
#[derive(Clone)]
pub struct RedisUrl {
    info: Arc<ConnectionInfo>,
    name: String,
}

impl FromStr for RedisUrl {
    type Err = StoreError;

    fn from_str(url: &str) -> Result<Self, StoreError> {
        let refused = |reason: &str| StoreError::RedisAddress { reason: reason.to_owned() };
        match url.split_once("://") {
            Some(("redis", rest)) if rest.contains(['?', '#']) => {
                return Err(refused("it has nothing behind the number of the database"));
            }
            Some(("redis", _)) => {}
            Some(("rediss" | "valkeys", _)) => {
                return Err(refused("TLS is not supported; it must begin with redis://"));
            }
            _ => return Err(refused("it must begin with redis://")),
        }
        // The error of the parser is not shown: it may repeat a part of the address.
        let info = url
            .into_connection_info()
            .map_err(|_| refused("it is not redis://USER:PASSWORD@HOST:PORT/NUMBER"))?;
        let name = match info.addr() {
            ConnectionAddr::Tcp(host, port) if host.contains(':') => format!("[{host}]:{port}"),
            ConnectionAddr::Tcp(host, port) => format!("{host}:{port}"),
            _ => return Err(refused("it must begin with redis://")),
        };
        Ok(Self { info: Arc::new(info), name: format!("redis://{name}") })
    }
}

impl RedisUrl {
    /// Asks the server for a sign of life, and changes nothing.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let refused = |reason| StoreError::RedisUnreachable { address: self.to_string(), reason };
        let asked = async {
            let client = Client::open(ConnectionInfo::clone(&self.info))?;
            let mut connection = client.get_multiplexed_async_connection().await?;
            redis::cmd("PING").query_async::<()>(&mut connection).await
        };
        match tokio::time::timeout(REDIS_TIMEOUT, asked).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(refused(error.to_string())),
            Err(_) => Err(refused(format!("no answer within {} s", REDIS_TIMEOUT.as_secs()))),
        }
    }
}

impl fmt::Display for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RedisUrl").field(&self.name).finish()
    }
}

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
        let client = Client::open(ConnectionInfo::clone(&self.url.info))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_not_shown() {
        let url: RedisUrl = "redis://desk:s3cret@cache.example.org/2".parse().unwrap();
        assert_eq!(url.to_string(), "redis://cache.example.org:6379");
        assert_eq!(format!("{url:?}"), r#"RedisUrl("redis://cache.example.org:6379")"#);
        let url: RedisUrl = "redis://:s3cret@[::1]:7000".parse().unwrap();
        assert_eq!(url.to_string(), "redis://[::1]:7000");
    }

    #[test]
    fn an_address_that_cannot_be_used_is_refused_without_repeating_it() {
        for url in [
            "localhost:6379",
            "rediss://:s3cret@a",
            "redis://:s3cret@a/zero",
            "redis://:s3cret@a:port",
            "redis://:s3cret@a?password=s3cret",
            "postgres://:s3cret@a/desk",
            "redis:///s3cret",
        ] {
            let refusal = url.parse::<RedisUrl>().unwrap_err().to_string();
            assert!(refusal.starts_with("the address of Redis is not valid: "), "{refusal}");
            assert!(!refusal.contains("s3cret"), "{refusal}");
        }
    }
}
