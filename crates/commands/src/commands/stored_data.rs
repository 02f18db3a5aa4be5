//! Data that a command opens itself, beside a running server or without one.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::config;
use copydesk_store::{Store, StoreAccess, StorePlace};

/// Opens the data of a server that may be running.
pub(super) async fn visit(data: Option<PathBuf>, database_url: Option<String>) -> Result<Store> {
    let place = place(data, database_url)?;
    require_data(&place).await?;
    Ok(Store::open(place, StoreAccess::Visit).await?)
}

pub(super) fn place(data: Option<PathBuf>, database_url: Option<String>) -> Result<StorePlace> {
    Ok(match config::database(database_url)? {
        Some(url) => StorePlace::Postgres(url),
        None => StorePlace::Directory(data.unwrap_or_else(|| PathBuf::from(config::DEFAULT_DATA))),
    })
}

/// Fails unless there is data at `place`.
pub(super) async fn require_data(place: &StorePlace) -> Result<()> {
    if Store::is_at(place).await? {
        return Ok(());
    }
    match place {
        StorePlace::Directory(data) => {
            bail!("there is no copydesk data in {}; use --data", data.display())
        }
        StorePlace::Postgres(url) => bail!("there is no copydesk data in {url}"),
    }
}
