//! Stored form of a call that another server makes.

use serde::{Deserialize, Serialize};

use copydesk_agent::{AgentQuestion, AskKind, Run};
use copydesk_approvals::RequestSource;
use copydesk_ids::{DocumentId, RequestId, RunId, Version};
use copydesk_rooms::settings::model_access::AskedModel;
use copydesk_tools::{OtherServerCall, PlanMode, ToolCall, ToolContext, ToolOutcome, UnreadRanges};

/// Call of a run that another server makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForwardedCall {
    /// Call as the model made it.
    pub call: ToolCall,
    /// Id of the request, if there will be one. The run has chosen it.
    pub request: RequestId,
    /// Run that made the call.
    pub run: RunId,
    /// Document of the run's conversation, shared or private.
    pub conversation: DocumentId,
    /// Document that the call is about, if the model has read it in this run. `None` for the call
    /// of an outside program, which keeps track of that itself.
    #[serde(default)]
    pub read: Option<Vec<ReadVersion>>,
    /// Model that reads the result; `None` if a program outside made the call.
    #[serde(default)]
    pub model: Option<AskedModel>,
    /// Plan mode of the run.
    pub plan: PlanMode,
    /// Origin of the call.
    pub source: RequestSource,
    /// Time at which an outside caller gives up, in milliseconds since 1970.
    #[serde(default)]
    pub deadline_ms: Option<u64>,
    /// Earlier request that a person proposes again with the call.
    #[serde(default)]
    pub again_of: Option<RequestId>,
    /// Random tag that marks text of documents as data for the model.
    pub tag: String,
    /// Result, once the call is over.
    #[serde(default)]
    pub result: Option<ForwardedResult>,
}

/// Version of a document that a model has read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadVersion {
    /// The document.
    pub document: DocumentId,
    /// Version that was read.
    pub version: Version,
    /// Ranges of that version that were not read.
    pub unread: UnreadRanges,
}

/// Result of a forwarded call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForwardedResult {
    /// Outcome, as the people of the conversation may see it.
    pub outcome: ToolOutcome,
    /// Other document whose present text the model is sent.
    #[serde(default)]
    pub read: Option<ReadVersion>,
}

impl ForwardedCall {
    /// Reads the call that a stored run is.
    ///
    /// # Errors
    /// If it is none.
    pub fn of(run: &Run) -> Result<Self, serde_json::Error> {
        let AskKind::Forwarded(call) = &run.ask.kind else {
            return Err(serde::de::Error::custom("not a call of another run"));
        };
        Self::deserialize(call)
    }
}

impl ForwardedResult {
    /// Returns the result of a call that was not made; `text` is the reason.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { outcome: ToolOutcome::failed("", text), read: None }
    }
}

/// Returns the name of the run that stands for a call, which follows from its request.
pub fn name_of(request: &RequestId) -> RunId {
    format!("forwarded_{request}").into()
}

/// Returns the stored form of a call of the run that `ask` asked for.
pub fn question(
    ask: &AgentQuestion,
    place: &OtherServerCall,
    call: &ToolCall,
) -> Result<AgentQuestion, serde_json::Error> {
    let OtherServerCall { home, context } = place;
    let ToolContext { room, conversation_room, call: identity, environment, view, .. } = context;
    let conversation = conversation_room.as_ref().unwrap_or(room).document().clone();
    let target = room.document();
    let read = view.others.as_ref().map(|others| {
        let read = others.get(target).map(|(snapshot, unread)| ReadVersion {
            document: target.clone(),
            version: snapshot.version,
            unread: unread.clone(),
        });
        read.into_iter().collect()
    });
    let forwarded = ForwardedCall {
        call: call.clone(),
        request: identity.request.clone(),
        run: identity.run.clone(),
        conversation,
        read,
        model: environment.model.clone(),
        plan: environment.plan,
        source: identity.source,
        deadline_ms: context.approval.deadline_ms,
        again_of: identity.again_of.clone(),
        tag: environment.tag.to_string(),
        result: None,
    };
    let kind = AskKind::Forwarded(serde_json::to_value(forwarded)?);
    let (session, principal) = (ask.session.clone(), ask.principal.clone());
    Ok(AgentQuestion {
        run: name_of(&identity.request),
        document: Some(home.clone()),
        read_tools: ask.read_tools,
        permission_mode: ask.permission_mode,
        ..AgentQuestion::new(session, principal, ask.prompt.clone(), kind)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_came_later_may_be_missing_in_a_record() {
        let stored = json!({
            "call": {"id": "toolu_1", "name": "create_new_document", "input": {}},
            "request": "req_1", "run": "run_1", "conversation": "doc_1",
            "plan": "Off", "source": "sdk", "tag": "k9",
        });
        let forwarded: ForwardedCall = serde_json::from_value(stored).unwrap();
        assert_eq!((forwarded.read, forwarded.result), (None, None));
        assert_eq!(name_of(&"req_1".into()).as_str(), "forwarded_req_1");
    }
}
