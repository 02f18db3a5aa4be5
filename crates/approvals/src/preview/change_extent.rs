//! Size of a change, and the file that it names.

use serde::{Deserialize, Serialize};

use crate::preview::Preview;

/// Size of a change and the file it names, for policies and rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeExtent {
    /// UTF-16 units deleted plus inserted; `None`: unknown, which counts as large.
    pub units: Option<usize>,
    /// File that the change names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl From<&Preview> for ChangeExtent {
    fn from(preview: &Preview) -> Self {
        Self { units: preview.units(), file: preview.file_path.clone() }
    }
}
