//! Streaming previews: show people the calls of the model while it writes them, a few times a
//! second and never faster than they can read.
//!
//! One preview is computed at a time, on a blocking thread, and the next one begins only when the
//! room has shown it. Nothing of a call is executed from here.

use std::collections::{BTreeMap, HashMap};
use std::future::pending;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep_until};

use copydesk_approvals::Person;
use copydesk_document::Text;
use copydesk_document::diff::{DiffLimits, DraftPart, HunkDraft, PartialDraft, diff_so_far};
use copydesk_ids::RequestId;
use copydesk_llm::AssistantMessage;
use copydesk_rooms::RoomHandle;
use copydesk_rooms::event::{StreamingPreview, StreamingPreviewScope};
use copydesk_tools::pipeline::input_hooks::CONTENT_LIMIT;
use copydesk_tools::{
    CallIdentity, EditableRange, PartialInput, PlanMode, StreamedField, ToolCall, ToolContext,
    ToolRegistry,
};

/// Minimum interval between two previews of a call.
const PAUSE: Duration = Duration::from_millis(100);
/// Maximum bytes of text per millisecond that people are sent of one call.
const BYTES_PER_MS: u64 = 64;
/// Time limit of the comparison with the old text.
const BUDGET: Duration = Duration::from_millis(50);
/// Ratio of the interval to the duration of a comparison, which bounds the time for comparing.
const SHARE: u32 = 10;
/// Maximum number of calls of one answer that are shown.
const MOST_SHOWN: usize = 16;
/// Size in bytes of a text that would be denied anyway.
const TEXT_LIMIT: usize = 4 * CONTENT_LIMIT;

/// Streaming previews of the calls of one answer of the model.
pub struct CallPreviews<'a> {
    tools: &'a ToolRegistry,
    /// Context that the calls will have.
    context: ToolContext,
    calls: BTreeMap<usize, StreamedCall>,
    drawing: Option<BoxFuture<'static, (usize, Duration)>>,
}

struct StreamedCall {
    id: String,
    tool: String,
    request: RequestId,
    streams: StreamedField,
    input: PartialInput,
    /// Size in bytes of the text that people have been shown.
    shown: Option<usize>,
    due: Instant,
}

impl<'a> CallPreviews<'a> {
    /// Creates previews of calls that will be made in `context`.
    pub fn new(tools: &'a ToolRegistry, context: ToolContext) -> Self {
        Self { tools, context, calls: BTreeMap::new(), drawing: None }
    }

    /// Starts the preview of a call.
    pub fn begin(&mut self, index: usize, id: String, tool: String) {
        let Some(streams) = self.tools.streamed_field(&tool) else { return };
        // In plan mode the call would be refused.
        let in_vain =
            self.context.view.base.is_none() || self.context.environment.plan == PlanMode::Planning;
        if in_vain || self.calls.len() >= MOST_SHOWN {
            return;
        }
        let (StreamedField::Document(field) | StreamedField::Range(field)) = streams;
        let (request, input) = (RequestId::generate(), PartialInput::new(field));
        let written =
            StreamedCall { id, tool, request, streams, input, shown: None, due: Instant::now() };
        self.calls.insert(index, written);
    }

    /// Adds a piece of a call's input.
    pub fn grow(&mut self, index: usize, partial_json: &str) {
        let written = self.calls.get_mut(&index);
        if let Some(written) = written.filter(|it| it.input.text().len() <= TEXT_LIMIT) {
            written.input.feed(partial_json);
        }
    }

    /// Shows previews as they become due; never returns. Cancel-safe between two polls.
    pub async fn draw(&mut self) {
        loop {
            if let Some(drawing) = &mut self.drawing {
                let (index, took) = drawing.await;
                self.drawing = None;
                if let Some(written) = self.calls.get_mut(&index) {
                    written.due = Instant::now() + written.pause(took);
                }
            } else if let Some((index, due)) = self.next() {
                sleep_until(due).await;
                self.drawing = self.picture(index).map(FutureExt::boxed);
            } else {
                return pending().await;
            }
        }
    }

    fn next(&self) -> Option<(usize, Instant)> {
        let unseen = self.calls.iter().filter(|(_, it)| it.shown != Some(it.input.text().len()));
        unseen.map(|(index, it)| (*index, it.due)).min_by_key(|(_, due)| *due)
    }

    /// Removes all previews, because the model begins its answer again.
    pub async fn start_again(&mut self) {
        self.end(None).await;
        self.calls.clear();
    }

    /// Returns the ids that the requests of the calls will have, by the ids of the calls.
    pub fn names(&self) -> HashMap<String, RequestId> {
        self.calls.values().map(|it| (it.id.clone(), it.request.clone())).collect()
    }

    /// Ends the previews, because the answer is complete or failed. Calls in `answer` keep theirs
    /// until their turn.
    pub async fn end(&mut self, answer: Option<&AssistantMessage>) {
        self.drawing = None;
        let calls = || answer.iter().flat_map(|it| &it.content).filter_map(ToolCall::of);
        let first = calls().next().map(|call| call.id);
        for index in self.calls.keys().copied().collect::<Vec<_>>() {
            let written = &self.calls[&index];
            let is_made = calls().any(|call| call.id == written.id);
            let waits = is_made && first.as_ref() != Some(&written.id);
            if !is_made && written.shown.is_some() {
                self.context
                    .room
                    .end_previews(StreamingPreviewScope::One(written.request.clone()))
                    .await;
            } else if waits && let Some(picture) = self.picture(index) {
                picture.await;
            }
        }
    }

    fn picture(
        &mut self,
        index: usize,
    ) -> Option<impl Future<Output = (usize, Duration)> + Send + use<>> {
        let written = self.calls.get_mut(&index)?;
        let CallIdentity { session, run, requester, .. } = &self.context.call;
        let base = self.context.view.base.clone()?;
        let text = written.input.text().to_owned();
        written.shown = Some(text.len());
        let place = place(self.tools, &self.context, written, &base.text);
        let streaming_preview = StreamingPreview {
            id: written.request.clone(),
            tool: written.tool.clone(),
            tool_use: written.id.as_str().into(),
            session: session.clone(),
            run: run.clone(),
            author: Person::from(requester),
            text: Text::new(&text).to_string(),
            paragraphs: 0,
            base_version: base.version,
            base: base.text,
            hunks: Vec::new(),
        };
        let room = self.context.room.clone();
        Some(async move { (index, show(room, streaming_preview, place).await) })
    }
}

impl StreamedCall {
    fn pause(&self, took: Duration) -> Duration {
        let bytes = u64::try_from(self.input.text().len()).unwrap_or(u64::MAX);
        PAUSE.max(took * SHARE).max(Duration::from_millis(bytes / BYTES_PER_MS))
    }
}

fn place(
    tools: &ToolRegistry,
    context: &ToolContext,
    written: &StreamedCall,
    base: &Text,
) -> Option<(usize, usize)> {
    let allowed = context.view.editable;
    let range = match (written.streams, allowed) {
        (_, EditableRange::Nothing) => return None,
        (StreamedField::Document(_), _) => Some((0, base.len())),
        (StreamedField::Range(_), _) => {
            tools.edited_range(context, &written.tool, &written.input.others())
        }
    };
    // Only the selection may be changed, so that is the range until the model names one.
    let range = range.or(match allowed {
        EditableRange::Only(from, to) => Some((from, to)),
        EditableRange::Everything | EditableRange::Nothing => None,
    })?;
    base.slice(range.0..range.1).is_ok().then_some(range)
}

/// Computes a preview and shows it; returns the duration of the comparison.
async fn show(
    room: RoomHandle,
    streaming_preview: StreamingPreview,
    place: Option<(usize, usize)>,
) -> Duration {
    let compared = tokio::task::spawn_blocking(move || {
        let began = Instant::now();
        (compare(streaming_preview, place), began.elapsed())
    });
    // A comparison that panics shows nothing; the proposal itself is compared again.
    let Ok((streaming_preview, took)) = compared.await else { return Duration::ZERO };
    if let Err(error) = room.streaming_preview(streaming_preview).await {
        tracing::debug!(%error, "cannot show a streaming preview");
    }
    took
}

fn compare(streaming_preview: StreamingPreview, place: Option<(usize, usize)>) -> StreamingPreview {
    let Some((from, to)) = place else { return streaming_preview };
    let old = streaming_preview.base.slice(from..to).unwrap_or_default();
    let deadline = Some(std::time::Instant::now() + BUDGET);
    let PartialDraft { mut hunks, blocks } =
        diff_so_far(&old, &streaming_preview.text, &DiffLimits { deadline });
    for part in hunks.iter_mut().flat_map(|hunk| &mut hunk.parts) {
        part.from += from;
        part.to += from;
    }
    let whole = (from, to) == (0, streaming_preview.base.len()) && !old.is_empty();
    if blocks == 0 && !whole && !old.contains("\n\n") && !streaming_preview.text.is_empty() {
        // A passage is shown growing in its place.
        let part = DraftPart { from, to, base: old, insert: streaming_preview.text.clone() };
        hunks = vec![HunkDraft::from(vec![part])];
    }
    StreamingPreview { hunks, paragraphs: blocks, ..streaming_preview }
}

#[cfg(test)]
mod tests {
    use super::*;
    use copydesk_ids::Version;

    fn streaming_preview(base: &str, text: &str) -> StreamingPreview {
        StreamingPreview {
            id: "req".into(),
            tool: "update_selection".into(),
            tool_use: "toolu".into(),
            session: "ses".into(),
            run: "run".into(),
            author: Person { user: "ana".into(), name: "Ana".into() },
            text: text.into(),
            paragraphs: 0,
            base_version: Version(0),
            base: Text::new(base),
            hunks: Vec::new(),
        }
    }

    fn drawn(base: &str, text: &str, place: Option<(usize, usize)>) -> Vec<(usize, usize, String)> {
        let parts =
            compare(streaming_preview(base, text), place).hunks.into_iter().flat_map(|it| it.parts);
        parts.map(|part| (part.from, part.to, part.insert)).collect()
    }

    #[test]
    fn a_passage_grows_in_its_place() {
        let grows = drawn("One two three.", "zw", Some((4, 7)));
        assert_eq!(grows, [(4, 7, "zw".to_owned())]);
        assert_eq!(drawn("One two three.", "zw", None), []);
        assert_eq!(drawn("", "Once", Some((0, 0))), [(0, 0, "Once".to_owned())]);
    }

    #[test]
    fn a_document_becomes_changes_paragraph_by_paragraph() {
        let base = "Teh cat.\n\nIt sat.\n\nThe end.\n";
        let all = Some((0, base.len()));
        assert_eq!(drawn(base, "The ca", all), []);
        assert_eq!(drawn(base, "The cat.\n\nIt", all), [(0, 3, "The".to_owned())]);
        let streaming_preview =
            compare(streaming_preview(base, "The cat.\n\nIt slept.\n\nThe"), all);
        assert_eq!((streaming_preview.hunks.len(), streaming_preview.paragraphs), (2, 2));
    }
}
