//! Offer to sign in.

use axum::Json;
use axum::extract::State;

use crate::rest::http_state::HttpState;
use copydesk_protocol::rest::SignInOffer;

/// Returns where a browser can sign in; needs no token.
pub async fn sign_in_offer(State(app): State<HttpState>) -> Json<SignInOffer> {
    Json(SignInOffer { url: app.application.sign_in_url().map(str::to_owned) })
}
