//! Probe of a running server through its proxy: if it answers, if it passes on connections of
//! `WebSocket`, and the headers that it sets.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use serde_json::Value;

use super::findings::{self, DoctorFinding};
use crate::config::ServerConfig;
use copydesk_auth::kept_owner_secret;
use copydesk_client::socketio::SocketIoServer;
use copydesk_client::{ClientResult, ServerClient};

/// Longest wait for each answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Page of the documentation with proxies that work.
const RECIPES: &str = "compare the proxy with docs/proxies.md";
/// Code of the server for a host name that it does not know.
const UNKNOWN_HOST: &str = "forbidden_origin";

/// Asks the server at the address that browsers use.
pub(super) async fn examine(config: &ServerConfig, url: &str) -> Vec<DoctorFinding> {
    let client = match ServerClient::patient(url, owner_token(config).as_deref()) {
        Ok(client) => client,
        Err(error) => return vec![DoctorFinding::wrong("url", error.to_string(), "correct --url")],
    };
    let date = match answered(client.readiness()).await {
        Ok(date) => date,
        Err(error) => return vec![unreached(&error)],
    };
    let mut findings = vec![DoctorFinding::ok("url", format!("the server answers at {url}"))];
    findings.extend(date.as_deref().and_then(clock));
    findings.push(websocket(&answered(upgrade(url)).await));
    match answered(client.get(&["server", "proxy-headers"], &[])).await {
        Ok(headers) => findings.extend(headers_of(url, &headers)),
        Err(error) => findings.push(DoctorFinding::remark(
            "headers",
            format!("only an owner may see which headers arrive: {error}"),
            "give --token, or --data with the server's owner.token",
        )),
    }
    findings
}

/// Returns the owner's token: the one that was given, or the one in the data directory.
fn owner_token(config: &ServerConfig) -> Option<String> {
    let kept = || kept_owner_secret(&config.data).ok().flatten();
    config.token.clone().or_else(|| kept().map(|secret| secret.expose().to_owned()))
}

async fn upgrade(url: &str) -> ClientResult<()> {
    SocketIoServer::new(url)?.check_upgrade().await
}

async fn answered<T>(request: impl Future<Output = ClientResult<T>>) -> Result<T, ProbeFailure> {
    let Ok(answer) = tokio::time::timeout(ANSWER_TIMEOUT, request).await else {
        let text = format!("no answer within {} s", ANSWER_TIMEOUT.as_secs());
        return Err(ProbeFailure { code: None, text });
    };
    answer.map_err(|error| ProbeFailure {
        code: error.code().map(str::to_owned),
        text: super::super::error_text(&error.into()),
    })
}

/// Failure of a request through the proxy.
#[derive(Clone, Debug)]
struct ProbeFailure {
    /// Code of the server, if the server has refused.
    code: Option<String>,
    /// Failure in words.
    text: String,
}

impl std::fmt::Display for ProbeFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

fn unreached(failure: &ProbeFailure) -> DoctorFinding {
    let remedy = if failure.code.as_deref() == Some(UNKNOWN_HOST) {
        "start the server with --public-url and this address, and let the proxy pass Host on"
    } else {
        "start the server, and let the proxy send to the address of --listen"
    };
    DoctorFinding::wrong("url", failure.text.clone(), remedy)
}

/// Compares the clock with a header `Date`.
fn clock(date: &str) -> Option<DoctorFinding> {
    let other = rfc2822::parse(date).ok()?.timestamp();
    let offset_ms = Timestamp::now().as_millisecond() - other.as_millisecond();
    Some(findings::clock("the server or its proxy", offset_ms))
}

fn websocket(upgraded: &Result<(), ProbeFailure>) -> DoctorFinding {
    match upgraded {
        Ok(()) => DoctorFinding::ok("websocket", "WebSockets come through"),
        Err(failure) => DoctorFinding::wrong(
            "websocket",
            format!("WebSockets do not come through: {failure}"),
            format!("pass Upgrade and Connection on: {RECIPES}"),
        ),
    }
}

/// Examines the headers that have arrived at the server, see `ProxyHeaders`.
fn headers_of(url: &str, arrived: &Value) -> Vec<DoctorFinding> {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = authority.split('/').next().unwrap_or_default();
    let header = |name: &str| arrived[name].as_str();
    let host = match header("host") {
        Some(host) if host.eq_ignore_ascii_case(authority) => {
            DoctorFinding::ok("host", format!("Host arrives as {host}"))
        }
        host => DoctorFinding::wrong(
            "host",
            format!("Host arrives as {}, not as {authority}", host.unwrap_or("nothing")),
            format!("browsers are refused so; pass Host on unchanged: {RECIPES}"),
        ),
    };
    let forwarded = [("X-Forwarded-For", "forwardedFor"), ("X-Forwarded-Proto", "forwardedProto")];
    let forwarded = forwarded.map(|(name, field)| match header(field) {
        Some(value) => DoctorFinding::ok("headers", format!("{name} arrives as {value}")),
        None => DoctorFinding::remark(
            "headers",
            format!("{name} does not arrive"),
            format!("nothing in Copydesk needs it; to have it, {RECIPES}"),
        ),
    });
    [host].into_iter().chain(forwarded).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::findings::FindingState;
    use super::*;

    fn states(arrived: &Value) -> Vec<FindingState> {
        let found = headers_of("https://desk.example.org/", arrived);
        found.iter().map(|it| it.state).collect()
    }

    #[test]
    fn headers_arrive_or_it_is_said_which_does_not() {
        use FindingState::{Ok, Remark, Wrong};
        let all = json!({"host": "desk.example.org", "forwardedFor": "203.0.113.9",
            "forwardedProto": "https"});
        assert_eq!(states(&all), [Ok, Ok, Ok]);
        let bare = json!({"host": "127.0.0.1:4680", "forwardedFor": null});
        assert_eq!(states(&bare), [Wrong, Remark, Remark]);
        let said = headers_of("https://desk.example.org", &bare);
        assert_eq!(said[0].message, "Host arrives as 127.0.0.1:4680, not as desk.example.org");
    }

    #[test]
    fn a_host_that_the_server_does_not_know_has_its_own_remedy() {
        let failure = |code: Option<&str>| ProbeFailure {
            code: code.map(str::to_owned),
            text: "the server refused".to_owned(),
        };
        let unknown = unreached(&failure(Some(UNKNOWN_HOST)));
        assert!(unknown.remedy.unwrap().contains("--public-url"));
        assert!(unreached(&failure(None)).remedy.unwrap().contains("--listen"));
        let blocked = websocket(&Err(failure(None)));
        assert_eq!(blocked.state, FindingState::Wrong);
        assert!(blocked.remedy.unwrap().contains("docs/proxies.md"));
    }

    #[test]
    fn the_header_date_is_read() {
        let now = Timestamp::now().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        assert_eq!(clock(&now).unwrap().state, FindingState::Ok);
        assert_eq!(clock("Sat, 01 Jan 2000 00:00:00 GMT").unwrap().state, FindingState::Wrong);
        assert_eq!(clock("soon"), None);
    }
}
