//! Creation of a document from an imported file: its text, the tracked changes of the file as
//! requests that wait for people, and its comments as threads, in one transaction. A crash leaves
//! all of it or nothing.

use std::sync::Arc;

use serde_json::json;

use crate::settings::{DocumentSettings, OwnSettings};
use crate::state::comments;
use crate::state::requests::{self, MOST_OPEN_EACH};
use crate::state::suggestions::suggested_call;
use crate::{NewDocument, RoomError, RoomHandle, RoomRegistry, RoomResult};
use copydesk_approvals::{
    ApprovalRequest, ArrivedHunks, ClaimedAuthor, DraftPart, Hunk, HunkDraft, HunkPart,
    RequestSource, RequestTimes, SUGGESTION_TOOL, SuggestedHunk, ToolCatalog,
};
use copydesk_comments::{CommentAnchor, CommentError, CommentThread, CommentedChange, ThreadPlace};
use copydesk_cpu_pool as cpu_pool;
use copydesk_document::Text;
use copydesk_ids::permissions::Principal;
use copydesk_ids::{DocumentId, RequestId, SessionId, Version};
use copydesk_store::{AuditEntry, StoreOp};

/// Document of an imported file; see [`RoomRegistry::create_imported`].
#[derive(Clone, Debug, Default)]
pub struct ImportedDocument {
    /// Title; empty becomes "Untitled".
    pub title: String,
    /// Text without the tracked changes, with `\n` as line end.
    pub text: String,
    /// Tracked changes, one entry for each author.
    pub suggestions: Vec<ClaimedSuggestion>,
    /// Threads of comments.
    pub threads: Vec<ClaimedThread>,
}

/// Tracked changes of one author of an imported file.
#[derive(Clone, Debug)]
pub struct ClaimedSuggestion {
    /// Author, as the file names them.
    pub author: ClaimedAuthor,
    /// Changes as they were made, in the order of their places. A hunk is one tracked change.
    pub hunks: Vec<HunkDraft>,
}

/// Thread of comments of an imported file.
#[derive(Clone, Debug, Default)]
pub struct ClaimedThread {
    /// Passage; `None`: the whole document, or all of `about`.
    pub anchor: Option<CommentAnchor>,
    /// Change that it is about: the index of a suggestion, and of a hunk in it.
    pub about: Option<(usize, usize)>,
    /// Words that it was on before they were deleted.
    pub deleted_words: Option<String>,
    /// Comments in their order, at least one, with the authors whom the file names.
    pub comments: Vec<(ClaimedAuthor, String)>,
    /// `true` if the discussion has ended.
    pub is_resolved: bool,
}

impl RoomRegistry {
    /// Creates a document with the requests for its tracked changes. `by` imports it, and is the
    /// requester of the requests. They wait without a time limit, whatever the settings say; only
    /// people decide them.
    pub async fn create_imported(
        &self,
        new: ImportedDocument,
        by: &Principal,
    ) -> RoomResult<(RoomHandle, Vec<Arc<ApprovalRequest>>)> {
        let ImportedDocument { title, text, suggestions, threads } = new;
        let authors = suggestions.len();
        if authors > MOST_OPEN_EACH {
            return Err(RoomError::Invalid(format!(
                "the file has tracked changes of {authors} authors, and at most {MOST_OPEN_EACH} can wait: accept or reject some in Word first"
            )));
        }
        let id = DocumentId::generate();
        let import = SuggestionImport {
            document: id.clone(),
            by: by.clone(),
            settings: OwnSettings::default().in_force(&self.settings()),
            now_ms: self.now_ms(),
        };
        let new = NewDocument { title, text, unlisted_owner: None };
        if suggestions.is_empty() && threads.is_empty() {
            return Ok((self.make(new, id, Vec::new(), by).await?, Vec::new()));
        }
        let person = by.user.as_str();
        let text = new.text.clone();
        let proposed = move || {
            let text = Text::new(&text);
            let firsts = first_parts(&suggestions);
            let requests = suggestions.into_iter().map(|it| import.request(it, &text));
            let requests = requests.collect::<RoomResult<Vec<_>>>()?;
            let mut ops: Vec<_> = requests.iter().flat_map(|it| import.ops(it)).collect();
            for thread in threads {
                let about = thread.about.and_then(|(suggestion, hunk)| {
                    let (request, first) =
                        (requests.get(suggestion)?, firsts.get(suggestion)?.get(hunk)?.as_ref()?);
                    let is_it = |hunk: &&Hunk| hunk.parts.iter().any(|part| is_same(part, first));
                    Some((request, request.hunks.iter().find(is_it)?))
                });
                ops.extend(import.thread(thread, about, &text)?);
            }
            Ok::<_, RoomError>((ops, requests))
        };
        let (ops, requests): (Vec<StoreOp>, _) = cpu_pool::run(person, proposed).await??;
        let room = self.make(new, id, ops, by).await?;
        Ok((room, requests.into_iter().map(Arc::new).collect()))
    }
}

struct SuggestionImport {
    document: DocumentId,
    by: Principal,
    settings: DocumentSettings,
    now_ms: u64,
}

impl SuggestionImport {
    fn request(&self, suggestion: ClaimedSuggestion, text: &Text) -> RoomResult<ApprovalRequest> {
        let ClaimedSuggestion { author, hunks } = suggestion;
        check_places(&hunks, text)?;
        let (id, source) = (RequestId::generate(), RequestSource::Import);
        let mut proposal = suggested_call(id, &self.by, source, Version(0), &self.settings);
        // Not among the suggestions that the person goes on writing.
        proposal.origin.session = SessionId::generate();
        proposal.document = Some(self.document.clone());
        proposal.claimed_author = Some(author);
        let mut arrival = ArrivedHunks::map(&proposal.origin.id, hunks, text, [])
            .map_err(|source| RoomError::BadUpdate { index: 0, source })?;
        for hunk in &mut arrival.hunks {
            hunk.suggested = Some(SuggestedHunk::default());
        }
        let clock = RequestTimes::start(self.now_ms, 0);
        let mut request = ApprovalRequest::open(proposal, arrival, Version(0), clock);
        request
            .set_policy(&self.settings.requirements(std::iter::empty(), &ToolCatalog::default()));
        Ok(request)
    }

    fn ops(&self, request: &ApprovalRequest) -> [StoreOp; 2] {
        let claimed = request.proposal.claimed_author.as_ref().map(|author| &author.name);
        let detail = json!({
            "tool": SUGGESTION_TOOL, "hunks": request.hunks.len(), "claimedAuthor": claimed,
        });
        let audit = AuditEntry {
            document: Some(self.document.clone()),
            request: Some(request.id().clone()),
            ..AuditEntry::new("request.create", &self.by.user, detail, self.now_ms)
        };
        [requests::record(request), StoreOp::Audit(audit)]
    }

    fn thread(
        &self,
        thread: ClaimedThread,
        about: Option<(&ApprovalRequest, &Hunk)>,
        text: &Text,
    ) -> RoomResult<[StoreOp; 2]> {
        let ClaimedThread { anchor, about: _, deleted_words, comments, is_resolved } = thread;
        let mut place = ThreadPlace::default();
        if let Some((request, hunk)) = about {
            (place.anchor, place.quote) = comments::anchor_and_words(hunk, Some(text));
            let (request, hunk) = (request.id().clone(), Some(hunk.id.clone()));
            place.about = Some(CommentedChange { request, hunk, run: None });
        } else if let Some(anchor) = anchor {
            if text.slice(anchor.from..anchor.to).is_err() {
                return Err(CommentError::Passage.into());
            }
            place.quote = deleted_words.unwrap_or_else(|| comments::quote(text, &anchor));
            place.anchor = Some(anchor);
        }
        let claimed = comments.first().map(|(author, _)| author.name.clone());
        let mut thread = CommentThread::imported(place, comments, &self.by, self.now_ms)?;
        if is_resolved {
            thread.resolve(true, &self.by, self.now_ms);
        }
        let detail = json!({ "thread": thread.id, "comment": null, "claimedAuthor": claimed });
        let audit = AuditEntry {
            document: Some(self.document.clone()),
            ..AuditEntry::new("comment.create", &self.by.user, detail, self.now_ms)
        };
        let record = comments::record(&thread, self.document.clone());
        Ok([StoreOp::PutThread(record), StoreOp::Audit(audit)])
    }
}

/// Returns the first part of each hunk, by which it is known again.
fn first_parts(suggestions: &[ClaimedSuggestion]) -> Vec<Vec<Option<DraftPart>>> {
    let of_hunks =
        |hunks: &[HunkDraft]| hunks.iter().map(|hunk| hunk.parts.first().cloned()).collect();
    suggestions.iter().map(|it| of_hunks(&it.hunks)).collect()
}

fn is_same(part: &HunkPart, draft: &DraftPart) -> bool {
    (part.from, part.to, &part.insert) == (draft.from, draft.to, &draft.insert)
}

/// Refuses changes that are empty, overlap, or are not of this text.
fn check_places(hunks: &[HunkDraft], text: &Text) -> RoomResult<()> {
    let mut parts: Vec<_> = hunks.iter().flat_map(|hunk| &hunk.parts).collect();
    parts.sort_by_key(|part| (part.from, part.to));
    let stands =
        |part: &&DraftPart| text.slice(part.from..part.to).is_ok_and(|there| there == part.base);
    let fits = hunks.iter().all(|hunk| !hunk.parts.is_empty())
        && parts.iter().all(stands)
        && parts.windows(2).all(|pair| pair[0].to <= pair[1].from);
    if fits {
        return Ok(());
    }
    Err(RoomError::Invalid("the tracked changes of this file do not fit its text".to_owned()))
}
