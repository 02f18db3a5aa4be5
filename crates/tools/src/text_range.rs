//! Range of a document, as models name it.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;

use copydesk_document::Text;

use super::{ToolError, ToolResult};

/// A half-open range of UTF-16 code units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct TextRange {
    /// First code unit.
    pub start: usize,
    /// Code unit after the last one.
    pub end: usize,
}

impl TextRange {
    /// Returns the range if it lies in the text, in order, and cuts no character in two.
    pub fn within(self, text: &Text) -> ToolResult<Range<usize>> {
        let Self { start, end } = self;
        if start <= end && text.is_boundary(start) && text.is_boundary(end) {
            Ok(start..end)
        } else {
            Err(ToolError::Denied("Invalid range".into()))
        }
    }
}
