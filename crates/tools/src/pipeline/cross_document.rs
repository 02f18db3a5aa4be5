//! Calls about other documents than the conversation's own: the person who asks must be allowed to
//! open them, and their words are shown only to people who may read them.
//!
//! A call that names another document works in the room of that document, so its people see and
//! decide the request. The people of the asking document are sent the title and the status of the
//! call, never its words: they may not be allowed to read them.

use serde_json::{Value, json};

use copydesk_approvals::RequestStatus;
use copydesk_ids::DocumentId;
use copydesk_ids::permissions::Action;
use copydesk_placement::NotHere;
use copydesk_rooms::RoomError;
use copydesk_rooms::event::{AgentObject, RunEvent, RunEventKind};

use crate::document::str_replace_based_edit_tool;
use crate::{
    DocumentView, EditableRange, FinishedCall, ToolCall, ToolContext, ToolEffect, ToolError,
    ToolResult,
};

impl ToolCall {
    /// Returns the input as everyone in the conversation's document may see it. If the call is
    /// about another document, only the fields that name the place remain: the words of a document
    /// are shown only to people who may read it.
    pub fn shown_input(&self) -> Value {
        let mut input = self.input.clone();
        let elsewhere = self.elsewhere().is_some();
        if let Some(fields) = input.as_object_mut().filter(|_| elsewhere) {
            fields.retain(|name, _| ["document_id", "path", "command", "range"].contains(&&**name));
        }
        input
    }

    /// Returns the document that the call names, if that is not the conversation's own. Every path
    /// that is not the path of the conversation's own document counts as another document, however
    /// it is written.
    pub fn elsewhere(&self) -> Option<DocumentId> {
        let named = self.input.get("document_id").map(|id| id.as_str().unwrap_or_default().into());
        named.or_else(|| str_replace_based_edit_tool::other_document_of(self))
    }
}

/// Returns the context of the call in the room of the document it names, or `None` if that is the
/// conversation's own. If another server of several has that room, the context only reads: what it
/// would propose is refused as [`RoomError::NotHere`], and is proposed there instead
/// ([`super::other_servers`]).
///
/// # Errors
///
/// If the person may not read that document or may not ask for changes of it.
pub(crate) async fn enter(
    context: &ToolContext,
    document: Option<DocumentId>,
    effect: ToolEffect,
    only_reads: bool,
) -> ToolResult<Option<ToolContext>> {
    let Some(id) = document.filter(|id| id != context.room.document()) else { return Ok(None) };
    let unknown = || ToolError::NoSuchDocument(id.clone());
    let action = if effect == ToolEffect::OnlyAnswers { Action::Read } else { Action::Ask };
    let requester = context.environment.rooms.with_current_rights(&context.call.requester).await?;
    if !requester.may(Action::Read, Some(&id)) {
        return Err(unknown());
    }
    if !requester.may(action, Some(&id)) {
        return Err(ToolError::Denied(
            "The person may not ask for changes of that document".into(),
        ));
    }
    let rooms = &context.environment.rooms;
    let opened = match rooms.open(&id).await {
        Err(RoomError::NotHere(NotHere::NoWorkspaceServer)) if !only_reads => {
            let words = "That document is a file of the workspace, and no server that has the workspace is running at the moment; ask again once it is back";
            return Err(ToolError::Denied(words.into()));
        }
        Err(RoomError::NotHere(_)) => rooms.open_to_read(&id).await,
        opened => opened,
    };
    let room = opened.map_err(|_| unknown())?;
    if room.unlisted_owner().is_some() {
        return Err(unknown());
    }
    let read = context.view.others.as_ref().and_then(|read| read.get(&id));
    let (base, unread) = read.cloned().unzip();
    let unread = unread.unwrap_or_default();
    let view = DocumentView {
        base_unread: unread.clone(),
        latest_unread: unread,
        latest: base.clone(),
        base,
        others: context.view.others.clone(),
        // The selection in this document does not apply to the other one.
        selection: None,
        editable: EditableRange::Everything,
    };
    let conversation_room = Some(context.room.clone());
    Ok(Some(ToolContext { room, conversation_room, view, ..context.clone() }))
}

/// Returns the documents whose titles the model may learn here (ids and titles, last changed
/// first), and the number of documents that are left out because a person who reads the
/// conversation may not know of them.
pub(crate) async fn listed(
    context: &ToolContext,
) -> ToolResult<(Vec<(DocumentId, String)>, usize)> {
    let requester = context.environment.rooms.with_current_rights(&context.call.requester).await?;
    let mut listed = context.environment.rooms.listed(&requester).await?;
    let open = listed.len();
    if context.room.unlisted_owner().is_none() {
        let readers = context.environment.rooms.readers(context.room.document()).await?;
        listed.retain(|(id, _)| readers.may_all_read(id));
    }
    let omitted = open - listed.len();
    Ok((listed, omitted))
}

/// Returns the sentence about documents that are not listed; empty if there are none.
pub(crate) fn omitted_note(count: usize) -> String {
    if count == 0 {
        return String::new();
    }
    format!(
        "\n({count} more are not listed, because not everybody here may read them; the person can name one by its id)"
    )
}

/// Tells the people of the asking document that a call waits in another one.
pub async fn notify_asking_document(context: &ToolContext, call: &ToolCall) {
    let Some(asking) = &context.conversation_room else { return };
    let id = context.room.document();
    let title = context.view.base.as_ref().map_or("?", |it| &it.title);
    let details = json!({
        "tool": call.name,
        "tool_use_id": call.id,
        "document_id": id,
        "title": title,
        "request_id": context.call.request,
        "status": RequestStatus::Pending.as_str(),
        "text": format!("“{title}” ({id}): {}.", RequestStatus::Pending.as_str()),
    });
    let is_shared = asking.unlisted_owner().is_none();
    let event = RunEvent {
        session: context.call.session.clone(),
        run: context.call.run.clone(),
        document: is_shared.then(|| asking.document().clone()),
        at_ms: context.environment.clock.now_ms(),
        saying: RunEventKind::Agent(AgentObject::waiting(details)),
    };
    asking.publish(event).await;
}

/// Fields of an outcome that the people of the asking document may see.
const TOLD: [&str; 3] = ["permissionDecision", "request_id", "status"];

/// Reduces the outcome of a call about another document to what the people of the asking document
/// may learn.
pub(crate) fn redact(context: &ToolContext, mut finished: FinishedCall) -> FinishedCall {
    if context.conversation_room.is_none() {
        return finished;
    }
    let id = context.room.document();
    let title = finished.now.as_ref().or(context.view.base.as_ref()).map_or("?", |it| &it.title);
    let outcome = &mut finished.outcome;
    let became = match outcome.change.take() {
        Some(change) => change.status.as_str(),
        None if outcome.is_error => "not possible",
        None => "read",
    };
    let report = std::mem::replace(&mut outcome.text, format!("“{title}” ({id}): {became}."));
    outcome.note = Some(match outcome.note.take() {
        Some(note) => format!("{report}\n{note}"),
        None => report,
    });
    // All other fields may contain words of the document.
    outcome.about.retain(|name, _| TOLD.contains(&name.as_str()));
    outcome.about.insert("updateType".into(), "none".into());
    outcome.about.insert("document_id".into(), id.as_str().into());
    outcome.explanation = None;
    outcome.of = vec![id.clone()];
    finished.read = finished.now.take().map(|now| (id.clone(), now));
    finished
}
