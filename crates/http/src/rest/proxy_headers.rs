//! Headers that a proxy in front of the server sets, as they arrived.

use axum::Json;
use axum::http::HeaderMap;

use copydesk_protocol::rest::ProxyHeaders;

/// Returns the headers of this request that a proxy sets.
pub async fn read(headers: HeaderMap) -> Json<ProxyHeaders> {
    // Each proxy adds a line of its own, or its address to the line.
    let lines = |name: &str| {
        let lines: Vec<_> =
            headers.get_all(name).iter().map(|it| String::from_utf8_lossy(it.as_bytes())).collect();
        (!lines.is_empty()).then(|| lines.join(", "))
    };
    Json(ProxyHeaders {
        host: lines("host"),
        forwarded_for: lines("x-forwarded-for"),
        forwarded_proto: lines("x-forwarded-proto"),
    })
}
