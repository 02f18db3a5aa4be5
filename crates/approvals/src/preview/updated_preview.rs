//! Newer preview of a call, and what stays stored of the announced one.

use serde::{Deserialize, Serialize};

use crate::preview::Preview;
use crate::preview::change_extent::ChangeExtent;

/// Details of the announced [`Preview`], stored once the effect of the call has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnnouncedPreview {
    /// SHA-256 of the content that the file to change had then, if the call changes a file.
    pub touched: Option<String>,
    /// Size and file of the announced change; `None`: not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extent: Option<ChangeExtent>,
}

/// New [`Preview`] of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct UpdatedPreview {
    /// Preview that people are to be shown.
    pub preview: Preview,
    /// SHA-256 of the content of the file that the call would change, if it changes a file.
    pub touched: Option<String>,
}
