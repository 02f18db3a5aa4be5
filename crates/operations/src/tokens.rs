//! Tokens and logins.

use copydesk_api::{ApiResult, Caller};
use copydesk_ids::permissions::Action::Administer;
use copydesk_operation_table::{
    Anyone, BodyKind, OnServer, Operation, operation, socket_handled, transport_handled,
};
use copydesk_protocol::client::{IssueToken, NameToken, Nothing, RevokeToken, TieToken};
use copydesk_protocol::rest::SignInOffer;
use copydesk_protocol::server::{IssuedToken, NamedPerson, TokenList};
use copydesk_protocol_conversion as wire;

/// Operations of this file.
#[rustfmt::skip]
pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("All tokens, without their secrets", OnServer(Administer), list).event("token:list").get("/tokens", "listTokens"),
        operation("Issue a token; its secret is shown once", OnServer(Administer), issue).event("token:issue").post("/tokens", "issueToken").body(BodyKind::Secret).creates("/tokens").secret(),
        socket_handled::<_, NameToken, NamedPerson>("Name yourself, in your token", OnServer(Administer)).event("token:name"),
        operation("Revoke a token", OnServer(Administer), revoke).event("token:revoke").delete("/tokens/{id}", "revokeToken"),
        operation("Tie a token to a login: both are one person", OnServer(Administer), tie).event("token:tie").post("/tokens/{id}/tie", "tieToken"),
        transport_handled::<_, Nothing, SignInOffer>("Where a browser can sign in", Anyone).get("/sign-in", "getSignIn").body(BodyKind::NoBodyNoToken),
        operation("Revoke your own token, if it came from signing in", Anyone, sign_out).post("/sign-out", "signOut"),
    ]
}

async fn issue(caller: Caller, (): (), input: IssueToken) -> ApiResult<IssuedToken> {
    let (auth, now_ms) = (&caller.application.auth, caller.application.clock.now_ms());
    let grant = wire::grant(input, now_ms)?;
    let issued = auth.issue(grant, &caller.principal.user, now_ms).await?;
    Ok(wire::issued(&issued, &caller.reached_at))
}

async fn list(caller: Caller, (): (), _: Nothing) -> ApiResult<TokenList> {
    let (auth, now_ms) = (&caller.application.auth, caller.application.clock.now_ms());
    let (tokens, logins) = (auth.tokens().await?, auth.logins().await?);
    Ok(wire::token_list(tokens, logins, &caller.token, now_ms))
}

async fn revoke(caller: Caller, (): (), input: RevokeToken) -> ApiResult<()> {
    let (auth, now_ms) = (&caller.application.auth, caller.application.clock.now_ms());
    Ok(auth.revoke(&input.id.into(), &caller.principal.user, now_ms).await?)
}

async fn tie(caller: Caller, (): (), input: TieToken) -> ApiResult<()> {
    let (auth, now_ms) = (&caller.application.auth, caller.application.clock.now_ms());
    let TieToken { id, login } = input;
    Ok(auth.tie(&id.into(), &login.into(), &caller.principal.user, now_ms).await?)
}

async fn sign_out(caller: Caller, (): (), _: Nothing) -> ApiResult<()> {
    let (auth, now_ms) = (&caller.application.auth, caller.application.clock.now_ms());
    Ok(auth.sign_out(&caller.token, &caller.principal.user, now_ms).await?)
}
