//! Settings that all HTTP clients of the server and of the command line share.

use reqwest::{ClientBuilder, redirect};
use rustls::crypto::ring;

/// Returns a builder of HTTP clients that name this program, follow no redirects, and use TLS with
/// the cryptography of `ring`.
///
/// A redirect would carry a document or a token to a host that nobody has checked.
pub fn http_client_builder() -> ClientBuilder {
    // Fails if it was installed before.
    drop(ring::default_provider().install_default());
    reqwest::Client::builder()
        .user_agent(concat!("copydesk/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
}
