//! Settings that all HTTP clients of the server and of the command line share.

use std::error::Error;

use reqwest::{ClientBuilder, redirect};
use rustls::crypto::ring;

/// Returns a builder of HTTP clients that name this program, use TLS with the cryptography of
/// `ring`, and follow no redirects, which would carry a document or a token to an unchecked host.
pub fn http_client_builder() -> ClientBuilder {
    // Fails if it was installed before.
    drop(ring::default_provider().install_default());
    reqwest::Client::builder()
        .user_agent(concat!("copydesk/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
}

/// Returns the message of an error with its causes, such as an untrusted certificate: the error
/// itself often says only that a request failed.
pub fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        message = format!("{message}: {next}");
        cause = next.source();
    }
    message
}
