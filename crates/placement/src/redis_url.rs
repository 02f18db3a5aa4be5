//! Address of a Redis server that carries messages between servers.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use redis::{Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo as _, RedisResult};

use copydesk_store::{StoreError, StoreResult};

/// Longest wait for an answer of Redis.
const REDIS_TIMEOUT: Duration = Duration::from_secs(2);

/// Address `redis://USER:PASSWORD@HOST:PORT/NUMBER`, whose password is shown nowhere.
#[derive(Clone)]
pub struct RedisUrl {
    info: Arc<ConnectionInfo>,
    name: String,
}

impl FromStr for RedisUrl {
    type Err = StoreError;

    fn from_str(url: &str) -> StoreResult<Self> {
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
    /// Returns a client of the server.
    pub fn client(&self) -> RedisResult<Client> {
        Client::open(ConnectionInfo::clone(&self.info))
    }

    /// Asks the server for a sign of life, and changes nothing.
    pub async fn ping(&self) -> StoreResult<()> {
        let refused = |reason| StoreError::RedisUnreachable { address: self.to_string(), reason };
        let asked = async {
            let mut connection = self.client()?.get_multiplexed_async_connection().await?;
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
