//! Provenance of a document: computed from the log on demand, never while people type. The result
//! is stored, so that the next time only later updates have to be followed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use copydesk_approvals::{ApprovalRule, AuthorSpan, Person, RequestCredit, SpanAuthor};
use copydesk_cpu_pool as cpu_pool;
use copydesk_document::provenance::{
    Provenance, ProvenanceReplay, ReplayEntry, SourceSpan, SpanSource, UpdatePlacements,
};
use copydesk_document::{ChangeLimits, ChangeResult, ChangeSet, Text};
use copydesk_ids::{DocumentId, RequestId, RuleId, UserId, Version};
use copydesk_store::{Store, StoreError, StoreOp, UpdateRecord};

use super::loading::PIECE;
use super::restore;
use crate::work_size::is_long_log;
use crate::{RoomError, RoomResult};

/// Number of followed updates from which on the result is worth storing.
const WORTH_KEEPING: u64 = 500;

/// Returns the authors of the text in `range` of a document at `version`, which must be durable.
pub async fn author_spans(
    store: &Store,
    document: &DocumentId,
    version: Version,
    range: Range<usize>,
) -> RoomResult<Vec<AuthorSpan>> {
    let provenance = provenance(store, document, version).await?;
    let creator = store.creator(document).await?;
    let (creator, created_ms) = creator.unwrap_or_else(|| (UserId::from("server"), 0));
    let spans = provenance.spans(range.clone());
    let people = people(&spans, &creator);
    let names = store.names_of(&people).await?;
    let rules = rules(store, &provenance, range.clone()).await?;
    let person = |user: UserId| {
        let name = names.get(&user).cloned().unwrap_or_else(|| user.to_string());
        Person { user, name }
    };
    let credit = |SourceSpan { from, to, source }: SourceSpan| match source {
        SpanSource::Beginning => {
            let author = SpanAuthor::Beginning(person(creator.clone()));
            AuthorSpan { from, to, author, at_ms: created_ms }
        }
        SpanSource::Person { user, at_ms } => {
            AuthorSpan { from, to, author: SpanAuthor::Person(person(user)), at_ms }
        }
        SpanSource::Request {
            request,
            hunk,
            edited,
            requester,
            claimed_author,
            suggested,
            approver,
            rule,
            at_ms,
        } => {
            let requester = requester.or_else(|| approver.clone()).map_or_else(unknown, person);
            let approver = approver.map(person);
            let rule = rule.and_then(|id| rules.get(&id).cloned());
            let credit = RequestCredit { requester, request, hunk, approver, rule, edited };
            let author = match claimed_author {
                Some(name) => SpanAuthor::Claimed(name, credit),
                None if suggested => SpanAuthor::Suggested(credit),
                None => SpanAuthor::Ai(credit),
            };
            AuthorSpan { from, to, author, at_ms }
        }
    };
    Ok(spans.into_iter().map(credit).collect())
}

fn people(spans: &[SourceSpan], creator: &UserId) -> Vec<UserId> {
    let mut people = BTreeSet::from([creator]);
    for span in spans {
        match &span.source {
            SpanSource::Beginning => {}
            SpanSource::Person { user, .. } => {
                people.insert(user);
            }
            SpanSource::Request { requester, approver, .. } => {
                people.extend(requester.iter().chain(approver));
            }
        }
    }
    people.into_iter().cloned().collect()
}

async fn rules(
    store: &Store,
    provenance: &Provenance,
    range: Range<usize>,
) -> RoomResult<BTreeMap<RuleId, Arc<ApprovalRule>>> {
    let mut rules = BTreeMap::new();
    for span in provenance.spans(range) {
        let SpanSource::Request { rule: Some(id), .. } = span.source else { continue };
        if rules.contains_key(&id) {
            continue;
        }
        let record = store.rule(&id).await?;
        let record = record.ok_or_else(|| damaged(&id, &"the rule is not there"))?;
        rules.insert(id, Arc::new(restore::rule(record)?));
    }
    Ok(rules)
}

async fn provenance(
    store: &Store,
    document: &DocumentId,
    version: Version,
) -> RoomResult<Provenance> {
    let (start, kept, placements) = start(store, document, version).await?;
    let placements = Arc::new(placements);
    let mut replay = ProvenanceReplay::new(kept, start, placements.values());
    while replay.version() < version {
        let piece = store.piece(document, replay.version(), version, PIECE).await?;
        let bytes = piece.iter().map(|update| update.changes.len()).sum();
        let (long, placements) = (is_long_log(piece.len(), bytes), Arc::clone(&placements));
        let follow = move || follow(&mut replay, &piece, &placements).map(|()| replay);
        let followed = cpu_pool::run_if(long, document.as_str(), follow).await?;
        replay = followed.map_err(|error| damaged(&of(document), &error))?;
    }
    if !replay.misplaced().is_empty() {
        tracing::warn!(%document, versions = ?replay.misplaced(), "stored placements do not match the text");
    }
    let provenance = replay.provenance();
    if version.0 - start.0 >= WORTH_KEEPING {
        let (document, body) = (document.clone(), provenance.to_json());
        let keeping = store.commit(StoreOp::PutProvenance { document, version, body }).await;
        if let Err(error) = keeping {
            tracing::debug!(%error, "cannot store provenance; it will be computed again");
        }
    }
    Ok(provenance.clone())
}

fn follow(
    replay: &mut ProvenanceReplay,
    updates: &[UpdateRecord],
    placements: &BTreeMap<Version, UpdatePlacements>,
) -> ChangeResult<()> {
    for update in updates {
        let at = replay.version().next();
        let origin = update.origin.as_deref().map(RequestId::from);
        replay.follow(&ReplayEntry {
            change: &ChangeSet::parse(&update.changes, &ChangeLimits::NONE)?,
            author: &update.author,
            at_ms: update.at_ms,
            origin: origin.as_ref(),
            placements: placements.get(&at),
        })?;
    }
    Ok(())
}

/// Returns the starting point for following the log: a version, the provenance at that version, and
/// the placements of the updates after it.
async fn start(
    store: &Store,
    document: &DocumentId,
    version: Version,
) -> RoomResult<(Version, Provenance, BTreeMap<Version, UpdatePlacements>)> {
    let mut up_to = version;
    loop {
        let kept = store.provenance(document, up_to).await?;
        let (at, provenance) = match kept {
            Some((at, json)) => {
                (at, Provenance::from_json(&json).map_err(|error| damaged(&of(document), &error))?)
            }
            None => (Version(0), beginning(store, document).await?),
        };
        let placements = placements(store, document, at, version).await?;
        // Words may be restored that were deleted before the stored provenance.
        match ProvenanceReplay::reaches_back_to(placements.values()) {
            Some(oldest) if oldest < at => up_to = oldest,
            _ => return Ok((at, provenance, placements)),
        }
    }
}

async fn beginning(store: &Store, document: &DocumentId) -> RoomResult<Provenance> {
    let text = store.first_text(document).await?;
    Ok(Provenance::beginning(Text::new(&text.ok_or(RoomError::NoDocument)?).len()))
}

/// Returns the placements of the updates after `from`, up to `to`, by the version that each made.
pub async fn placements(
    store: &Store,
    document: &DocumentId,
    from: Version,
    to: Version,
) -> RoomResult<BTreeMap<Version, UpdatePlacements>> {
    let rows = store.placements(document, from, to).await?;
    let read = |(version, body): (Version, String)| {
        let placements =
            serde_json::from_str(&body).map_err(|error| damaged(&of(document), &error))?;
        Ok((version, placements))
    };
    rows.into_iter().map(read).collect()
}

fn unknown() -> Person {
    Person { user: UserId::from("server"), name: "somebody".to_owned() }
}

fn of(document: &DocumentId) -> String {
    format!("who wrote {document}")
}

fn damaged(what: &impl ToString, error: &impl ToString) -> RoomError {
    let what = what.to_string();
    RoomError::from(StoreError::Corrupt { what, reason: error.to_string() })
}
