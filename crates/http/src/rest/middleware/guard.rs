//! Host and Origin checks for every route, socket.io included.
//!
//! A page from anywhere can make a browser talk to `127.0.0.1`, and browsers apply no CORS to web
//! sockets (compare GHSA-mj22-23ff-2hrr). So a request must name a known host, which stops DNS
//! rebinding, and an Origin, if present, must be the host of the request. A request that names two
//! hosts is refused (RFC 9112, section 3.2): a proxy before the server may believe the other one.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header, uri::Authority};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::rest::problem::Problem;

/// Names by which the server may be reached, for [`check`].
#[derive(Clone, Debug)]
pub struct AllowedHosts {
    names: Arc<[String]>,
    /// True if the server is bound to every interface: then any IP address may be its own.
    /// Rebinding needs a name, so an address is safe.
    any_address: bool,
    /// True if the server speaks TLS: then no page of it has come over anything else.
    has_tls: bool,
}

impl AllowedHosts {
    /// Returns the loopback names, the bound address, and `more`.
    pub fn new(bound: SocketAddr, more: &[String]) -> Self {
        let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
        names.push(bound.ip().to_string());
        names.extend(more.iter().map(|name| name.trim().to_ascii_lowercase()));
        Self { names: names.into(), any_address: bound.ip().is_unspecified(), has_tls: false }
    }

    /// Returns the same names for a server with TLS.
    #[must_use]
    pub fn with_tls(self) -> Self {
        Self { has_tls: true, ..self }
    }

    fn knows(&self, host: &str) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        self.names.contains(&host) || (self.any_address && host.parse::<IpAddr>().is_ok())
    }
}

/// Lets a request through, or answers 403, or 400 if it names more than one host.
pub async fn check(State(hosts): State<AllowedHosts>, request: Request, next: Next) -> Response {
    match verdict(&hosts, request.headers(), request.uri()) {
        Ok(()) => next.run(request).await,
        Err(GuardRefusal::Forbidden(why)) => {
            Problem::new(StatusCode::FORBIDDEN, "forbidden_origin", why).into_response()
        }
        Err(GuardRefusal::Ambiguous(why)) => Problem::invalid(why).into_response(),
    }
}

/// Reason why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GuardRefusal {
    /// The host or the origin is not allowed.
    Forbidden(&'static str),
    /// The request names more than one host.
    Ambiguous(&'static str),
}

impl From<&'static str> for GuardRefusal {
    fn from(why: &'static str) -> Self {
        Self::Forbidden(why)
    }
}

/// Returns the host that a request names.
fn named_host(headers: &HeaderMap, uri: &Uri) -> Result<Authority, GuardRefusal> {
    let mut named = headers.get_all(header::HOST).iter();
    let (host, target) = (named.next(), uri.authority());
    if named.next().is_some() {
        return Err(GuardRefusal::Ambiguous("there is more than one Host header"));
    }
    let Some(host) = host else {
        return target.cloned().ok_or(GuardRefusal::Forbidden("there is no Host header"));
    };
    let unreadable = GuardRefusal::Forbidden("the Host header cannot be read");
    let host: Authority = host.to_str().map_err(|_| unreadable)?.parse().map_err(|_| unreadable)?;
    if let Some(target) = target {
        let default_port = if uri.scheme_str() == Some("https") { 443 } else { 80 };
        let port = |it: &Authority| it.port_u16().unwrap_or(default_port);
        if !target.host().eq_ignore_ascii_case(host.host()) || port(target) != port(&host) {
            return Err(GuardRefusal::Ambiguous("the address and the Host header differ"));
        }
    }
    Ok(host)
}

fn verdict(hosts: &AllowedHosts, headers: &HeaderMap, uri: &Uri) -> Result<(), GuardRefusal> {
    let host = named_host(headers, uri)?;
    if !hosts.knows(host.host()) {
        return Err("this host name is not allowed; see --allowed-host".into());
    }
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let Some(origin) = origins.next() else { return Ok(()) };
    if origins.next().is_some() {
        return Err("there is more than one Origin header".into());
    }
    let origin: Option<Uri> = origin.to_str().ok().and_then(|text| text.parse().ok());
    let origin = origin.ok_or("the Origin header cannot be read")?;
    let default_port = match origin.scheme_str() {
        Some("http") if !hosts.has_tls => 80,
        Some("https") => 443,
        _ => return Err("this origin is not allowed".into()),
    };
    let Some(from) = origin.authority() else { return Err("this origin is not allowed".into()) };
    let same_name = from.host().eq_ignore_ascii_case(host.host());
    let same_port =
        from.port_u16().unwrap_or(default_port) == host.port_u16().unwrap_or(default_port);
    if same_name && same_port { Ok(()) } else { Err("this origin is not allowed".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(host: &str, origin: Option<&str>) -> Result<(), GuardRefusal> {
        let hosts = AllowedHosts::new("127.0.0.1:4680".parse().unwrap(), &["desk.example".into()]);
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        verdict(&hosts, &headers, &Uri::from_static("/"))
    }

    #[test]
    fn our_own_page_and_native_clients_come_in() {
        assert_eq!(ask("127.0.0.1:4680", None), Ok(()));
        assert_eq!(ask("127.0.0.1:4680", Some("http://127.0.0.1:4680")), Ok(()));
        assert_eq!(ask("localhost:4680", Some("http://localhost:4680")), Ok(()));
        assert_eq!(ask("[::1]:4680", Some("http://[::1]:4680")), Ok(()));
        assert_eq!(ask("desk.example", Some("https://desk.example")), Ok(()));
        assert_eq!(ask("Desk.Example", Some("https://desk.example:443")), Ok(()));
    }

    #[test]
    fn with_tls_no_page_without_tls_comes_in() {
        let hosts = AllowedHosts::new("127.0.0.1:4680".parse().unwrap(), &[]).with_tls();
        for (origin, is_allowed) in
            [("https://127.0.0.1:4680", true), ("http://127.0.0.1:4680", false)]
        {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, "127.0.0.1:4680".parse().unwrap());
            headers.insert(header::ORIGIN, origin.parse().unwrap());
            assert_eq!(verdict(&hosts, &headers, &Uri::from_static("/")).is_ok(), is_allowed);
        }
    }

    #[test]
    fn a_rebound_name_is_refused() {
        assert!(ask("evil.example:4680", None).is_err());
        assert!(ask("127.0.0.1.evil.example:4680", None).is_err());
        assert!(ask("localhost.:4680", Some("http://localhost:4680")).is_err());
    }

    #[test]
    fn a_request_that_names_two_hosts_is_refused() {
        let hosts = AllowedHosts::new("127.0.0.1:4680".parse().unwrap(), &["desk.example".into()]);
        let asks = |named: &[&str], target: &'static str| {
            let mut headers = HeaderMap::new();
            for host in named {
                headers.append(header::HOST, host.parse().unwrap());
            }
            verdict(&hosts, &headers, &Uri::from_static(target))
        };
        let ambiguous = |it| matches!(it, Err(GuardRefusal::Ambiguous(_)));
        assert!(ambiguous(asks(&["localhost:4680", "localhost:4680"], "/")));
        assert!(ambiguous(asks(&["localhost:4680", "evil.example"], "/")));
        assert!(ambiguous(asks(&["localhost:4680"], "http://evil.example/")));
        assert!(ambiguous(asks(&["localhost:4680"], "http://localhost:4681/")));
        assert!(ambiguous(asks(&["evil.example"], "http://desk.example/")));
        assert_eq!(asks(&["localhost:4680"], "http://LOCALHOST:4680/x"), Ok(()));
        assert_eq!(asks(&["desk.example"], "https://desk.example:443/"), Ok(()));
        assert_eq!(asks(&[], "http://desk.example/"), Ok(()));
        assert!(!ambiguous(asks(&["evil.example"], "http://evil.example/")), "and refused");
        assert!(asks(&["evil.example"], "http://evil.example/").is_err());
    }

    #[test]
    fn another_origin_is_refused_whatever_it_looks_like() {
        for origin in [
            "http://evil.example",
            "http://127.0.0.1:3000",
            "http://127.0.0.1:4680.evil.example",
            "http://127.0.0.1",
            "https://127.0.0.1:4680@evil.example",
            "null",
            "file://127.0.0.1:4680",
            "http://localhost:4680",
        ] {
            assert!(ask("127.0.0.1:4680", Some(origin)).is_err(), "{origin}");
        }
    }

    #[test]
    fn on_all_interfaces_an_address_is_known_but_a_name_is_not() {
        let hosts = AllowedHosts::new("0.0.0.0:4680".parse().unwrap(), &[]);
        assert!(hosts.knows("192.168.1.20"));
        assert!(!hosts.knows("evil.example"));
    }
}
