//! Files that people have open as documents: a call about one works in its room, so that its people see and decide it, and
//! nothing they have written is overwritten by way of the disk.

use serde_json::json;

use crate::document::Text;
use crate::files::Files;
use crate::review::RequestStatus;
use crate::room::RoomHandle;
use crate::room::event::{Said, Saying};

use super::{Call, Context, Finished, Prepared, Proposal, ToolError, Verdict, caution, changes};

/// The same call in the room of the file it names.
pub(super) async fn enter(
    context: &Context,
    files: &Files,
    path: &str,
    room: RoomHandle,
) -> Result<Context, ToolError> {
    let now = room.read().await?;
    // What the model has read of it counts: people may have written since.
    let base = context.read.get(room.document()).cloned().unwrap_or_else(|| now.clone());
    let path = files.path_of(room.document()).unwrap_or_else(|| path.to_owned());
    Ok(Context {
        room,
        shown: Some(base.clone()),
        base: Some(base),
        selection: None,
        live: Some(path),
        ..context.clone()
    })
}

/// A change of the file's text, for its people; `told`: what the model is told if they take all of it.
pub(super) async fn propose(
    context: &Context,
    path: &str,
    new: &str,
    told: String,
) -> Result<Prepared, ToolError> {
    let base = context.document()?;
    let warnings = caution::of_file(path, new);
    let proposal = changes::propose(base, text(new), None, warnings).await?;
    Ok(Prepared::Propose(Proposal { told: Some(told), ..proposal }))
}

/// Tells the desk where a call waits that would otherwise wait there.
pub(super) async fn tell_desk(context: &Context, call: &Call) {
    let Some(path) = &context.live else { return };
    let told = json!({
        "tool": call.name,
        "tool_use_id": call.id,
        "request_id": context.request,
        "status": RequestStatus::Pending.as_str(),
        "file_path": path,
        "document_id": context.room.document(),
        "text": format!("{path} is open as a document; what is to change waits there."),
    });
    let said = Said {
        session: context.session.clone(),
        run: context.run.clone(),
        document: None,
        at_ms: context.clock.now_ms(),
        saying: Saying::Agent("system", "waiting", told),
    };
    context.desk.say(said).await;
}

/// The text of a file, as documents have it.
pub(super) fn text(content: &str) -> Text {
    Text::new(content.strip_prefix('\u{feff}').unwrap_or(content))
}

/// What the model is told of a call that worked in the room of a file: where people took it as it was, the words that it
/// is told of any file.
pub(super) fn told(
    context: &Context,
    mut finished: Finished,
    decided: Option<(&Verdict, Option<String>)>,
) -> Finished {
    if context.live.is_none() {
        return finished;
    }
    // The conversation is about no document, so it has no changes of its own.
    finished.outcome.change = None;
    finished.outcome.about.insert("updateType".into(), "none".into());
    let document = context.room.document().clone();
    finished.outcome.about.insert("document_id".into(), document.as_str().into());
    finished.read = finished.now.take().map(|now| (document, now));
    if let Some((verdict, Some(told))) = decided
        && verdict.as_proposed
        && verdict.resolution.status == RequestStatus::Approved
    {
        finished.outcome.text = told;
    }
    finished
}
