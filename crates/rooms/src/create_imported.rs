//! Creation of a document from an imported file: its text, and the tracked changes of the file as
//! requests that wait for people, in one transaction. A crash leaves all of it or nothing.

use std::sync::Arc;

use serde_json::json;

use crate::settings::{DocumentSettings, OwnSettings};
use crate::state::requests::{self, MOST_OPEN_EACH};
use crate::{NewDocument, RoomError, RoomHandle, RoomRegistry, RoomResult};
use copydesk_approvals::{
    ApprovalRequest, ArrivedHunks, CallOrigin, ClaimedAuthor, DraftPart, HunkDraft, Person,
    Preview, ProposedAction, ProposedCall, RequestSource, RequestTimes, SUGGESTION_TOOL,
    ToolCatalog,
};
use copydesk_cpu_pool as cpu_pool;
use copydesk_document::Text;
use copydesk_ids::permissions::Principal;
use copydesk_ids::{DocumentId, RequestId, RunId, SessionId, ToolUseId, Version};
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
}

/// Tracked changes of one author of an imported file.
#[derive(Clone, Debug)]
pub struct ClaimedSuggestion {
    /// Author, as the file names them.
    pub author: ClaimedAuthor,
    /// Changes as they were made, in the order of their places. A hunk is one tracked change.
    pub hunks: Vec<HunkDraft>,
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
        let ImportedDocument { title, text, suggestions } = new;
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
        if suggestions.is_empty() {
            return Ok((self.make(new, id, Vec::new(), by).await?, Vec::new()));
        }
        let person = by.user.as_str();
        let text = new.text.clone();
        let proposed = move || {
            let text = Text::new(&text);
            let requests = suggestions.into_iter().map(|it| import.request(it, &text));
            let requests = requests.collect::<RoomResult<Vec<_>>>()?;
            Ok::<_, RoomError>((requests.iter().flat_map(|it| import.ops(it)).collect(), requests))
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
        let id = RequestId::generate();
        let arrival = ArrivedHunks::map(&id, hunks, text, [])
            .map_err(|source| RoomError::BadUpdate { index: 0, source })?;
        let proposal = ProposedCall {
            origin: CallOrigin {
                tool_use: ToolUseId::from(id.as_str()),
                id,
                tool: SUGGESTION_TOOL.to_owned(),
                input: json!({}),
                // No run made it; a rule for a session covers no other request.
                session: SessionId::generate(),
                run: RunId::generate(),
            },
            document: Some(self.document.clone()),
            requester: Person::from(&self.by),
            requester_former: self.by.former.clone(),
            action: ProposedAction {
                prompt: String::new(),
                base_version: Version(0),
                scope: None,
                explanation: String::new(),
                preview: Preview::generic(),
                touched: None,
                source: RequestSource::Import,
            },
            policy: self.settings.policy.into(),
            claimed_author: Some(author),
            again_of: None,
        };
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
