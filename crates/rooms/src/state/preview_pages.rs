//! Streaming previews that are shown in a document now, with their hunks.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::event::StreamingPreview;
use copydesk_approvals::{CommittedUpdate, Hunk};
use copydesk_document::{ChangeSet, Text};
use copydesk_ids::RequestId;

#[derive(Default)]
pub(crate) struct StreamingPreviews(pub(super) BTreeMap<RequestId, PreviewPage>);

pub(super) struct PreviewPage {
    pub(super) streaming_preview: Arc<StreamingPreview>,
    /// Hunks, in positions of the newest version.
    pub(super) hunks: Vec<Hunk>,
}

impl StreamingPreviews {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn hunk_count(&self) -> usize {
        self.0.values().map(|page| page.hunks.len()).sum()
    }

    /// Moves every hunk over one update that led to the text `after`.
    pub(crate) fn follow(&mut self, change: &ChangeSet, after: &Text) {
        if self.0.is_empty() {
            return;
        }
        let update = CommittedUpdate::new(change, after);
        for hunk in self.0.values_mut().flat_map(|page| &mut page.hunks) {
            hunk.rebase_over(&update);
        }
    }

    pub(crate) fn shown(&self) -> Vec<(Arc<StreamingPreview>, Vec<Hunk>)> {
        self.0
            .values()
            .map(|page| (Arc::clone(&page.streaming_preview), page.hunks.clone()))
            .collect()
    }
}
