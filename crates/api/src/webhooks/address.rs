//! Addresses of webhooks: an owner's address must not make the server send to a host that only the
//! server can reach.
//!
//! Without `--allow-private-webhooks` the address is `https`, and every IP address of its host is a
//! public one; the connection goes to an IP address that was checked, so a name that resolves
//! differently the second time gains nothing.

use copydesk_macros::boxed;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;

/// Longest address, in bytes.
const LONGEST: usize = 2_000;

/// Policy that decides which [`WebhookAddress`] is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressPolicy {
    /// Public addresses over `https`.
    Public,
    /// Public, loopback and private addresses over `https` or `http`.
    Everywhere,
}

/// Reason why a [`WebhookAddress`] is refused.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// The text is no web address.
    #[error("a webhook's address must be https://HOST/PATH, without a user name or password")]
    NoUrl,
    /// The address is not encrypted.
    #[error("a webhook's address must begin with https://; http:// needs --allow-private-webhooks")]
    NotEncrypted,
    /// The address leads into a private network.
    #[error("{0} is not a public address; private ones need --allow-private-webhooks")]
    Private(IpAddr),
    /// The host name has no address.
    #[error("the host name cannot be resolved")]
    Unknown,
}

/// Address of a webhook, checked as far as possible without a DNS query.
#[derive(Clone, Debug)]
pub struct WebhookAddress(Url);

impl WebhookAddress {
    /// Returns the address as a URL.
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// Parses and checks an address.
    ///
    /// # Errors
    /// [`AddressError::NoUrl`], [`AddressError::NotEncrypted`] or [`AddressError::Private`].
    pub fn read(text: &str, address_policy: AddressPolicy) -> Result<Self, AddressError> {
        let url = Url::parse(text).map_err(|_| AddressError::NoUrl)?;
        let named = url.host_str().is_some_and(|host| !host.is_empty());
        let quiet = url.username().is_empty() && url.password().is_none();
        if text.len() > LONGEST || !named || !quiet || !matches!(url.scheme(), "http" | "https") {
            return Err(AddressError::NoUrl);
        }
        if url.scheme() == "http" && address_policy == AddressPolicy::Public {
            return Err(AddressError::NotEncrypted);
        }
        // The parser has normalised every notation: 127.1, 0x7f000001, [::ffff:127.0.0.1].
        if let Some(address) = literal(&url) {
            check(address, address_policy)?;
        }
        Ok(Self(url))
    }

    /// Returns the sockets of the address, all of them allowed.
    ///
    /// # Errors
    /// [`AddressError::Unknown`] if the host name cannot be resolved, [`AddressError::Private`] if
    /// one of its addresses is in a private network, [`AddressError::NoUrl`] without a host or
    /// port.
    #[boxed]
    pub async fn find(
        &self,
        address_policy: AddressPolicy,
    ) -> Result<Vec<SocketAddr>, AddressError> {
        let port = self.0.port_or_known_default().ok_or(AddressError::NoUrl)?;
        let host = self.0.host_str().ok_or(AddressError::NoUrl)?;
        if let Some(address) = literal(&self.0) {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let found = tokio::net::lookup_host((host, port)).await;
        let found: Vec<_> = found.map_err(|_| AddressError::Unknown)?.collect();
        if found.is_empty() {
            return Err(AddressError::Unknown);
        }
        for address in &found {
            check(address.ip(), address_policy)?;
        }
        Ok(found)
    }
}

fn literal(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn check(address: IpAddr, address_policy: AddressPolicy) -> Result<(), AddressError> {
    if address_policy == AddressPolicy::Everywhere || is_public(address) {
        Ok(())
    } else {
        Err(AddressError::Private(address))
    }
}

/// Returns `true` if the address is public; one not known to be public is private.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => is_public_v4(mapped),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_local = address.is_private() || address.is_loopback() || address.is_link_local();
    !(is_local
        || address.is_documentation()
        || a == 0
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19))
        || a >= 224)
}

/// Returns `true` for global unicast (RFC 4291), without the ranges of other networks: Teredo,
/// 6to4, documentation, benchmarks.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    (0x2000..0x4000).contains(&a)
        && !(a == 0x2001 && b < 0x200)
        && !(a == 0x2001 && b == 0xdb8)
        && a != 0x2002
        && a != 0x3fff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_addresses_are_reached_by_https() {
        for right in [
            "https://hooks.example/x?y",
            "https://1.1.1.1/",
            "https://[2606:4700::1111]:8443/",
            "https://172.32.0.1",
        ] {
            assert!(WebhookAddress::read(right, AddressPolicy::Public).is_ok(), "{right}");
        }
    }

    #[test]
    fn what_only_the_server_can_reach_is_refused_however_it_is_written() {
        for wrong in [
            "https://127.0.0.1/",
            "https://127.1/",
            "https://0x7f000001/",
            "https://2130706433/",
            "https://0/",
            "https://10.0.0.7",
            "https://172.31.255.255",
            "https://192.168.1.1",
            "https://169.254.169.254/latest/meta-data",
            "https://100.64.0.1",
            "https://[::1]/",
            "https://[::]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[fe80::1]/",
            "https://[fd00::1]/",
            "https://[64:ff9b::7f00:1]/",
            "https://[2002:7f00:1::]/",
            "https://224.0.0.1",
            "https://255.255.255.255",
        ] {
            let refused = WebhookAddress::read(wrong, AddressPolicy::Public);
            assert!(matches!(refused, Err(AddressError::Private(_))), "{wrong}: {refused:?}");
            assert!(WebhookAddress::read(wrong, AddressPolicy::Everywhere).is_ok(), "{wrong}");
        }
    }

    #[test]
    fn what_is_no_address_of_the_web_is_refused_everywhere() {
        let long = format!("https://hooks.example/{}", "x".repeat(LONGEST));
        for wrong in [
            "",
            "hooks.example",
            "file:///etc/passwd",
            "ftp://hooks.example",
            "https://",
            "https://me:secret@hooks.example",
            "https://me@hooks.example",
            "data:text/plain,x",
            &long,
        ] {
            assert!(WebhookAddress::read(wrong, AddressPolicy::Everywhere).is_err(), "{wrong}");
        }
        let plain = WebhookAddress::read("http://hooks.example", AddressPolicy::Public);
        assert!(matches!(plain, Err(AddressError::NotEncrypted)));
    }

    #[tokio::test]
    async fn a_name_that_leads_home_is_refused_when_it_is_looked_up() {
        let address = WebhookAddress::read("https://localhost/", AddressPolicy::Public).unwrap();
        assert!(matches!(address.find(AddressPolicy::Public).await, Err(AddressError::Private(_))));
        assert!(!address.find(AddressPolicy::Everywhere).await.unwrap().is_empty());
    }
}
