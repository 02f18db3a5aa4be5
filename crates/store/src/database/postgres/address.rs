//! Address of a PostgreSQL database. Its password is shown nowhere.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use sqlx::ConnectOptions as _;
use sqlx_postgres::PgConnectOptions;

use crate::{StoreError, StoreResult};

/// Parameters that an address may have behind its `?`. Others are refused: a password with a
/// misspelt name would be logged.
const PARAMETERS: [&str; 13] = [
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "host",
    "port",
    "user",
    "password",
];

/// Number of prepared statements that a connection keeps: more than there are.
const STATEMENTS: usize = 500;

/// Address of a PostgreSQL database, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.
#[derive(Clone)]
pub struct DatabaseUrl {
    options: Arc<PgConnectOptions>,
    name: String,
}

impl DatabaseUrl {
    pub(crate) fn options(&self) -> PgConnectOptions {
        PgConnectOptions::clone(&self.options)
    }
}

impl FromStr for DatabaseUrl {
    type Err = StoreError;

    fn from_str(url: &str) -> StoreResult<Self> {
        let refused = |reason: &str| StoreError::Address { reason: reason.to_owned() };
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(refused("it must begin with postgres://"));
        };
        if !matches!(scheme, "postgres" | "postgresql") {
            return Err(refused("it must begin with postgres://, the only kind that is supported"));
        }
        let parameters = rest.split_once('?').map_or("", |(_, parameters)| parameters);
        let named = parameters.split('&').filter_map(|it| it.split('=').next());
        if named.filter(|name| !name.is_empty()).any(|name| !PARAMETERS.contains(&name)) {
            return Err(refused(&format!("behind `?` it may have {} only", PARAMETERS.join(", "))));
        }
        // The error of the parser does not repeat the address.
        let options = PgConnectOptions::from_str(url)
            .map_err(|_| refused("it is not postgres://USER:PASSWORD@HOST:PORT/DATABASE"))?;
        let options = options
            .application_name(&format!("copydesk (process {})", std::process::id()))
            .statement_cache_capacity(STATEMENTS)
            .disable_statement_logging();
        let database = options.get_database().unwrap_or_else(|| options.get_username());
        let host = match options.get_socket() {
            Some(socket) => socket.display().to_string(),
            None => format!("{}:{}", options.get_host(), options.get_port()),
        };
        let name = format!("postgres://{host}/{database}");
        Ok(Self { options: Arc::new(options), name })
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DatabaseUrl").field(&self.name).finish()
    }
}
