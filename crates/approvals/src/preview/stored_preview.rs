//! Stored form of a preview: of the new text only the difference, because most changes are small.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use copydesk_document::diff::common_ends;

use crate::preview::{Preview, PreviewKind, PreviewWarning};

#[derive(Serialize, Deserialize)]
pub(crate) struct StoredPreview {
    kind: PreviewKind,
    #[serde(default)]
    data: Value,
    #[serde(default)]
    file_path: Option<String>,
    #[serde(default)]
    original_content: Option<Arc<str>>,
    #[serde(default)]
    new_content: Option<StoredAfter>,
    #[serde(default)]
    diff_lines: Vec<String>,
    #[serde(default)]
    warnings: Vec<PreviewWarning>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredAfter {
    Whole(Arc<str>),
    /// Text between the `head` bytes and the `tail` bytes that are equal in both texts.
    Between {
        head: usize,
        text: String,
        tail: usize,
    },
}

impl StoredAfter {
    fn of(text: &str, before: Option<&str>) -> Self {
        let Some(before) = before else { return Self::Whole(text.into()) };
        let (head, tail) = common_ends(before, text);
        Self::Between { head, text: text[head..text.len() - tail].to_owned(), tail }
    }

    fn whole(self, before: Option<&str>) -> Option<Arc<str>> {
        match self {
            Self::Whole(text) => Some(text),
            Self::Between { head, text, tail } => {
                let before = before?;
                let end = before.len().checked_sub(tail)?;
                Some([before.get(..head)?, &text, before.get(end..)?].concat().into())
            }
        }
    }
}

impl From<Preview> for StoredPreview {
    fn from(preview: Preview) -> Self {
        let Preview { kind, data, file_path, original_content, new_content, diff_lines, warnings } =
            preview;
        let new_content =
            new_content.map(|text| StoredAfter::of(&text, original_content.as_deref()));
        Self { kind, data, file_path, original_content, new_content, diff_lines, warnings }
    }
}

impl TryFrom<StoredPreview> for Preview {
    type Error = &'static str;

    fn try_from(kept: StoredPreview) -> Result<Self, Self::Error> {
        let StoredPreview {
            kind,
            data,
            file_path,
            original_content,
            new_content,
            diff_lines,
            warnings,
        } = kept;
        let whole = |after: StoredAfter| {
            after.whole(original_content.as_deref()).ok_or("the new text is not one of the old")
        };
        let new_content = new_content.map(whole).transpose()?;
        Ok(Self { kind, data, file_path, original_content, new_content, diff_lines, warnings })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn preview(original_content: Option<&str>, new_content: Option<&str>) -> Preview {
        Preview {
            original_content: original_content.map(Arc::from),
            new_content: new_content.map(Arc::from),
            ..Preview::generic()
        }
    }

    #[test]
    fn of_a_small_change_to_a_long_text_little_is_kept() {
        let old = "The lamp burned. ".repeat(1_000);
        let new = old.replacen("burned", "glowed", 1);
        let kept = serde_json::to_string(&preview(Some(&old), Some(&new))).unwrap();
        assert!(kept.len() < old.len() + 200, "{}", kept.len());
    }

    #[test]
    fn what_an_earlier_version_kept_is_read() {
        let whole = json!({"kind": "diff", "original_content": "Old.", "new_content": "New."});
        let read: Preview = serde_json::from_value(whole).unwrap();
        assert_eq!(read.new_content.as_deref(), Some("New."));
    }

    #[test]
    fn a_new_text_that_fits_no_old_one_is_refused() {
        for after in [
            json!({"head": 9, "text": "", "tail": 0}),
            json!({"head": 0, "text": "", "tail": 9}),
            json!({"head": 1, "text": "", "tail": 0}),
        ] {
            let kept = json!({"kind": "diff", "original_content": "é", "new_content": after});
            let read = serde_json::from_value::<Preview>(kept);
            assert!(read.is_err(), "{read:?}");
        }
        let kept = json!({"kind": "diff", "new_content": {"head": 0, "text": "", "tail": 0}});
        assert!(serde_json::from_value::<Preview>(kept).is_err());
    }

    proptest! {
        #[test]
        fn what_is_kept_is_read_again(
            old in proptest::option::of("[abé😀😁 ]{0,12}"),
            new in proptest::option::of("[abé😀😁 ]{0,12}"),
        ) {
            let kept = preview(old.as_deref(), new.as_deref());
            let json = serde_json::to_value(&kept).unwrap();
            prop_assert_eq!(serde_json::from_value::<Preview>(json).unwrap(), kept);
        }
    }
}
