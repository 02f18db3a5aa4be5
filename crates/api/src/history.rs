//! Earlier versions of documents: lists, texts, comparisons, authorship and restoration.

use std::collections::{BTreeMap, HashMap};

use copydesk_approvals::AuthorSpan;
use copydesk_document::diff::DraftPart;
use copydesk_document::provenance::UpdatePlacements;
use copydesk_document::{ChangeLimits, ChangeSet, Text};
use copydesk_ids::{DocumentId, UserId, Version};
use copydesk_macros::boxed;
use copydesk_rooms::{RoomHandle, author_spans, compare, placements, text_at};
use copydesk_store::HistoryRecord;

use super::{ApiError, ApiResult, Application, Caller, ErrorDetails, ListPage};

/// Versions of a document, newest first.
#[derive(Debug)]
pub struct VersionList {
    /// Page of versions.
    pub page: ListPage<HistoryRecord>,
    /// Records stored beside the updates of these versions.
    pub placements: BTreeMap<Version, UpdatePlacements>,
    /// Names of the authors who hold tokens.
    pub names: HashMap<UserId, String>,
}

/// Number of removed UTF-16 units from which on an update is large: about 30 words.
const LARGE_REMOVAL: usize = 200;

/// Returns `true` if the version before the update is worth showing by itself: the update removed
/// much text, or its change set is too long to say ([`HistoryRecord::changes`]).
pub fn is_large_update(line: &HistoryRecord) -> bool {
    let Some(json) = &line.changes else { return true };
    // A damaged update is not large; `check` finds it.
    ChangeSet::parse(json, &ChangeLimits::NONE).is_ok_and(|changes| {
        changes.changed_sections().map(|range| range.len()).sum::<usize>() >= LARGE_REMOVAL
    })
}

impl Application {
    /// Returns the text of a version of a document that the person may read.
    ///
    /// # Errors
    /// [`NotFound`](super::ErrorCode::NotFound) for an unknown or deleted document,
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the log cannot be read.
    #[boxed]
    pub async fn older_text(
        &self,
        document: &DocumentId,
        version: Version,
        person: &UserId,
    ) -> ApiResult<Text> {
        Ok(text_at(&self.store, document, version, person.as_str()).await?)
    }
}

#[boxed]
impl Caller {
    /// Returns the newest versions of a document, or the newest before `before`.
    ///
    /// # Errors
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the history cannot be read.
    pub async fn versions(
        &self,
        document: &DocumentId,
        before: Option<Version>,
        limit: usize,
    ) -> ApiResult<VersionList> {
        let lines = self.application.store.history(document, before, limit as u32 + 1).await?;
        let page = ListPage::cut(lines, limit);
        let newest = page.items.first().map_or(Version(0), |line| line.version);
        let oldest = page.items.last().map_or(Version(0), |line| line.version);
        let before_oldest = Version(oldest.0.saturating_sub(1));
        let placements =
            placements(&self.application.store, document, before_oldest, newest).await?;
        let names = self.application.auth.names(page.items.iter().map(|line| &line.author)).await?;
        Ok(VersionList { page, placements, names })
    }

    /// Returns the text of a version.
    ///
    /// # Errors
    /// [`ApiError::is_no_version`] if the version does not exist yet.
    pub async fn text_of_version(&self, room: &RoomHandle, version: Version) -> ApiResult<Text> {
        check_version(room, version).await?;
        self.application.older_text(room.document(), version, &self.principal.user).await
    }

    /// Compares a version with another one, or with the newest; returns the other one, and the
    /// changes in order.
    ///
    /// # Errors
    /// [`ApiError::is_no_version`] if one of the versions does not exist yet,
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the log cannot be read.
    pub async fn compare_versions(
        &self,
        room: &RoomHandle,
        from: Version,
        to: Option<Version>,
    ) -> ApiResult<(Version, Vec<DraftPart>)> {
        let newest = check_version(room, to.map_or(from, |to| from.max(to))).await?;
        let (to, person) = (to.unwrap_or(newest), self.principal.user.as_str());
        let parts = compare(&self.application.store, room.document(), from, to, person).await?;
        Ok((to, parts))
    }

    /// Restores the text of an earlier version, if `only_at` is still the newest, and returns the
    /// version after.
    ///
    /// # Errors
    /// [`ApiError::is_no_version`] if the version does not exist yet,
    /// [`Resync`](super::ErrorCode::Resync) if others wrote meanwhile.
    pub async fn restore_version(
        &self,
        room: &RoomHandle,
        version: Version,
        only_at: Option<Version>,
    ) -> ApiResult<Version> {
        check_version(room, version).await?;
        Ok(room.restore(&self.application.store, version, only_at, &self.principal).await?)
    }

    /// Returns the newest version, and the author of every span of a range of it, or of all of it.
    ///
    /// # Errors
    /// [`Invalid`](super::ErrorCode::Invalid) if the range is not within the text,
    /// [`Unavailable`](super::ErrorCode::Unavailable) if the log cannot be read.
    pub async fn provenance(
        &self,
        room: &RoomHandle,
        from: Option<usize>,
        to: Option<usize>,
    ) -> ApiResult<(Version, Vec<AuthorSpan>)> {
        let now = room.read().await?;
        let len = now.text.len();
        let (from, to) = (from.unwrap_or(0), to.unwrap_or(len));
        if from > to || to > len {
            let message = format!("`from` and `to` are 0 to {len}, in order");
            return Err(ApiError::invalid(message));
        }
        Ok((
            now.version,
            author_spans(&self.application.store, room.document(), now.version, from..to).await?,
        ))
    }
}

async fn check_version(room: &RoomHandle, version: Version) -> ApiResult<Version> {
    let newest = room.read().await?.version;
    if version <= newest {
        return Ok(newest);
    }
    let message = format!("the newest version is {newest}");
    Err(ApiError::invalid(message).with(ErrorDetails::NoVersion))
}
