//! Addresses at which browsers and other servers reach this one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::sign_in::SignInConfigError;
use super::{ConfigError, ServerConfig};

impl ServerConfig {
    /// Returns the address at which other servers reach this one, which listens on `bound`.
    pub fn node_address(&self, bound: SocketAddr) -> String {
        let url = self.node_url.clone().unwrap_or_else(|| self.own_address(bound));
        url.trim_end_matches('/').to_owned()
    }

    /// Checks that the options of several servers fit together.
    pub(super) fn check_cluster(&self) -> Result<(), ConfigError> {
        if !self.cluster {
            return match (&self.redis, &self.node_ca) {
                (Some(_), _) => Err(ConfigError::NobodyToTell),
                (None, Some(_)) => Err(ConfigError::NobodyToTrust),
                (None, None) => Ok(()),
            };
        }
        if self.database.is_none() {
            return Err(ConfigError::NothingShared);
        }
        match &self.node_url {
            None if self.listen.ip().is_unspecified() => {
                Err(ConfigError::NoNodeAddress(self.listen))
            }
            Some(url) if node_host(url).is_none() => Err(ConfigError::NodeAddress(url.clone())),
            _ => Ok(()),
        }
    }

    /// Returns the address at which browsers reach the server, which listens on `bound`.
    pub fn public_address(&self, bound: SocketAddr) -> String {
        self.public_url.clone().unwrap_or_else(|| self.own_address(bound))
    }

    /// Returns the address for the link that the owner opens on the server's own machine, unless
    /// there is a public one.
    pub fn linked_address(&self, bound: SocketAddr) -> String {
        // A certificate is for a name rather than for an address.
        let name = self.allowed_hosts.first().filter(|_| self.tls.is_some());
        match (&self.public_url, name) {
            (Some(url), _) => url.clone(),
            (None, Some(name)) => format!("https://{name}:{}", bound.port()),
            (None, None) => self.own_address(reachable(bound)),
        }
    }

    /// Returns the address of the server itself, which listens on `bound`.
    pub fn own_address(&self, bound: SocketAddr) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{bound}")
    }

    /// Checks that people can come back from the identity provider.
    pub(super) fn check_sign_in(&self) -> Result<(), ConfigError> {
        match &self.public_url {
            Some(url) if node_host(url).is_none() => {
                return Err(ConfigError::PublicUrl(url.clone()));
            }
            None if self.sign_in.is_some() && !self.listen.ip().is_loopback() => {
                return Err(SignInConfigError::NoPublicUrl(self.listen).into());
            }
            _ => {}
        }
        if self.sign_in.is_some() && self.no_auth {
            return Err(SignInConfigError::NoAuth.into());
        }
        Ok(())
    }
}

/// Returns the address by which programs on the same machine reach a server that listens on
/// `bound`: one of all addresses is none that a browser can open everywhere.
fn reachable(bound: SocketAddr) -> SocketAddr {
    let loopback: IpAddr = match bound.ip() {
        ip if !ip.is_unspecified() => return bound,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    SocketAddr::new(loopback, bound.port())
}

/// Returns the host of an address such as `http://10.0.0.5:4680`; `None` if it is no such one.
pub(super) fn node_host(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"))?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let is_host = !rest.is_empty() && !rest.contains(['/', '?', '#', '@', ' ']);
    let end = rest.rfind(':').filter(|at| !rest[*at..].contains(']')).unwrap_or(rest.len());
    is_host.then(|| &rest[..end])
}
