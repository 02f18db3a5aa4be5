//! Rules: those that people remember for a tool, and those that owners make.

use copydesk_api::{ApiError, ApiResult, Caller};
use copydesk_ids::permissions::Action::Manage;
use copydesk_ids::{DocumentId, SessionId};
use copydesk_operation_table::{Anyone, OnServer, Operation, operation};
use copydesk_protocol::rules::{AddRule, ListRules, RevokeRule, RuleAdded, Rules};
use copydesk_protocol_conversion as wire;

/// Operations of this file.
#[rustfmt::skip]
pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("Remembered rules in force", Anyone, list).event("rules:list").get("/rules", "listRules"),
        operation("Create an owner's rule: deny, ask or allow; if an equal rule exists, it is returned instead", OnServer(Manage), add).event("rules:add").post("/rules", "addRule"),
        operation("End a rule", Anyone, revoke).event("rules:revoke").delete("/rules/{id}", "revokeRule"),
    ]
}

async fn list(caller: Caller, (): (), input: ListRules) -> ApiResult<Rules> {
    let document = input.document_id.map(DocumentId::from);
    let rules = caller.rules(document.as_ref()).await?;
    Ok(Rules { rules: wire::rules(&rules) })
}

async fn add(caller: Caller, (): (), input: AddRule) -> ApiResult<RuleAdded> {
    // A rule names the session in which it was made; a program without sessions gets a new one for
    // it.
    let session = caller.session.clone().unwrap_or_else(SessionId::generate);
    let (document, rule) = wire::new_rule(input, session).map_err(ApiError::unprocessable)?;
    Ok(RuleAdded { rule: wire::rule(&*caller.add_rule(&document, rule).await?) })
}

async fn revoke(caller: Caller, (): (), input: RevokeRule) -> ApiResult<()> {
    caller.revoke_rule(input.id.into()).await
}
