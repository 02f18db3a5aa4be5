//! Tool that lists the other documents that the person who asks may open.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::pipeline::cross_document;
use crate::{
    ProgramOffer, ReadTool, Tool, ToolAnswer, ToolContext, ToolResult, ToolScope, WordsRead,
};

/// Maximum number of documents in one answer.
const MAX_LISTED: usize = 200;

/// Tool `list_documents`.
pub struct ListDocuments;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Text that the titles contain, in any case; missing: all documents.
    title_contains: Option<String>,
}

impl Tool for ListDocuments {
    const NAME: &'static str = "list_documents";
    const TITLE: &'static str = Self::NAME;
    const DESCRIPTION: &'static str =
        "List the documents that the person may open: ids and titles, last changed first.";
    const WHEN: &'static str = "Use to find the id of another document";
    const SCOPE: ToolScope = ToolScope::Conversation;
    const PROGRAM: Option<ProgramOffer> = Some(ProgramOffer::new(Self::NAME, "List the documents"));
    type Input = Input;
}

impl ReadTool for ListDocuments {
    const READS: WordsRead = WordsRead::Nothing;

    async fn read(&self, context: ToolContext, input: Input) -> ToolResult<ToolAnswer> {
        let title_part = input.title_contains.unwrap_or_default().to_lowercase();
        let (mut listed, omitted) = cross_document::listed(&context).await?;
        listed.retain(|(_, title)| title.to_lowercase().contains(&title_part));
        let found = listed.len();
        let mut note = format!("{found} documents (data):");
        for (id, title) in listed.iter().take(MAX_LISTED) {
            let _ = write!(note, "\n- {id}: {title:?}");
        }
        if found > MAX_LISTED {
            let _ = write!(note, "\n… and {} more; narrow `title_contains`", found - MAX_LISTED);
        }
        note.push_str(&cross_document::omitted_note(omitted));
        let text = format!("Listed {found} documents.");
        let of = listed.into_iter().take(MAX_LISTED).map(|(id, _)| id).collect();
        // People who join later may not be allowed to see all titles.
        Ok(ToolAnswer { text, note: Some(note), of, ..ToolAnswer::default() })
    }
}
