//! Files of the editor, embedded in the binary.

use axum::Router;
use axum::extract::Request;
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};

/// Path, content and content hash of each file, sorted by path; written by `build.rs`.
static FILES: &[(&str, &[u8], &str)] = include!(concat!(env!("OUT_DIR"), "/editor_files.rs"));

/// Content security policy: CodeMirror and Preact write style attributes; scripts come from files
/// only.
const POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self' ws: wss:; \
     img-src 'self' data: https:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/// Caching of files with hashed names, whose content never changes.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
const ASK_EACH_TIME: &str = "no-cache";

/// Returns the router of the editor for every path without another route: files by their name, and
/// the editor's page for any path without a dot.
pub fn router() -> Router {
    // Fonts are compressed already.
    let worth_it = DefaultPredicate::new().and(NotForContentType::const_new("font/"));
    Router::new().fallback(serve).layer(CompressionLayer::new().compress_when(worth_it))
}

async fn serve(request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "GET, HEAD")]).into_response();
    }
    let path = request.uri().path().trim_start_matches('/');
    // A stale tab that asks for a script of an earlier build must not get a page instead.
    let name = if path.contains('.') { path } else { "index.html" };
    match find(name) {
        Some((content, hash)) => answer(name, content, hash, request.headers()),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn find(name: &str) -> Option<(&'static [u8], &'static str)> {
    let at = FILES.binary_search_by_key(&name, |file| file.0).ok()?;
    let (_, content, hash) = FILES[at];
    Some((content, hash))
}

fn answer(name: &str, content: &'static [u8], hash: &str, asked: &HeaderMap) -> Response {
    // Weak, because the bytes on the wire depend on the compression.
    let tag = format!("W/\"{hash}\"");
    let mut headers = HeaderMap::new();
    let cached = if name.starts_with("assets/") { FOR_EVER } else { ASK_EACH_TIME };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cached));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(name)));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    let tags = asked.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = tags.flat_map(|tags| tags.split(',')).map(str::trim);
    let known = tags.any(|one| one == tag || one == "*");
    if let Ok(value) = HeaderValue::try_from(tag) {
        headers.insert(ETAG, value);
    }
    if known {
        headers.remove(CONTENT_TYPE);
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, content).into_response()
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "woff2" => "font/woff2",
        "json" | "webmanifest" => "application/json",
        "png" => "image/png",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use tower::ServiceExt;

    use super::*;

    async fn get(path: &str, header: Option<(&str, &str)>) -> Response {
        let request = axum::http::Request::get(path);
        let request =
            header.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        router().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
    }

    async fn text(response: Response) -> String {
        String::from_utf8_lossy(&to_bytes(response.into_body(), usize::MAX).await.unwrap())
            .into_owned()
    }

    #[tokio::test]
    async fn any_place_in_the_editor_is_its_page() {
        for path in ["/", "/d/doc_1", "/somewhere/else"] {
            let response = get(path, None).await;
            assert_eq!(response.status(), StatusCode::OK, "{path}");
            assert_eq!(response.headers()[CACHE_CONTROL], ASK_EACH_TIME);
            assert!(text(response).await.to_lowercase().starts_with("<!doctype html>"), "{path}");
        }
    }

    #[tokio::test]
    async fn an_unknown_file_is_not_the_page() {
        for path in ["/assets/gone-1.js", "/../Cargo.toml", "/.env", "/favicon.ico"] {
            assert_eq!(get(path, None).await.status(), StatusCode::NOT_FOUND, "{path}");
        }
    }

    #[tokio::test]
    async fn hashed_files_are_kept_for_ever() {
        for (name, content, _) in FILES.iter().filter(|file| file.0.starts_with("assets/")) {
            let response = get(&format!("/{name}"), None).await;
            assert_eq!(response.headers()[CACHE_CONTROL], FOR_EVER);
            assert_ne!(response.headers()[CONTENT_TYPE], "application/octet-stream", "{name}");
            assert!(!content.is_empty(), "{name}");
        }
    }

    #[tokio::test]
    async fn what_the_browser_has_is_not_sent_again() {
        let first = get("/", None).await;
        let tag = first.headers()[ETAG].to_str().unwrap_or_default().to_owned();
        let again = get("/", Some(("if-none-match", &format!("\"other\", {tag}")))).await;
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        assert!(text(again).await.is_empty());
    }

    #[tokio::test]
    async fn the_page_may_run_only_its_own_scripts() {
        let response = get("/", None).await;
        let policy =
            response.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap_or_default().to_owned();
        assert!(
            policy.contains("default-src 'self'") && !policy.contains("script-src"),
            "{policy}"
        );
        assert_eq!(response.headers()[X_CONTENT_TYPE_OPTIONS], "nosniff");
        let page = text(response).await;
        assert!(!page.contains("<script>"), "an inline script would not run");
    }

    #[tokio::test]
    async fn nothing_can_be_posted_here() {
        let request = axum::http::Request::post("/").body(Body::empty());
        let response = router().oneshot(request.unwrap()).await.unwrap();
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
    }

    #[test]
    fn files_can_be_found() {
        assert!(FILES.is_sorted_by_key(|file| file.0));
        assert!(find("index.html").is_some());
    }
}
