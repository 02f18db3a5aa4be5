//! Owners' rules for documents that are files: a rule about a path also applies to their documents.

use std::sync::Arc;

use copydesk_approvals as approvals;
use copydesk_approvals::{ApprovalRequest, ApprovalRule, CallOrigin, ProposedCall, RuleSubject};
use copydesk_document::diff::HunkDraft;
use copydesk_ids::DocumentId;
use copydesk_ids::permissions::Principal;
use copydesk_rooms::command::ApprovalMode;
use copydesk_rooms::{RoomHandle, RoomRegistry, RoomResult};

use super::inbox_approval;
use crate::document::add_comment::AddComment;
use crate::document::read_document::ReadDocument;
use crate::document::text_changes;
use crate::workspace::read::ReadFile;
use crate::{
    CallEnvironment, ReplacedText, Tool as _, ToolCall, ToolContext, ToolEffect, ToolError,
    ToolFacts, ToolRegistry, ToolResult, ToolScope, WordsRead,
};

impl ToolRegistry {
    /// Checks owners' rules before another document that is a file is read.
    pub(crate) async fn may_read(
        &self,
        tool: &ToolFacts,
        context: &ToolContext,
        call: &ToolCall,
    ) -> ToolResult<()> {
        let only_reads = tool.only_reads(&call.input);
        if !only_reads || context.conversation_room.is_none() {
            return Ok(());
        }
        let Some(path) = self.readable_path(tool, context).await? else { return Ok(()) };
        match inbox_approval::approval_mode_for_path(
            context,
            &path,
            &[&call.name, ReadFile::NAME],
            None,
        )
        .await?
        {
            ApprovalMode::People => Err(only_read_asks(&path)),
            ApprovalMode::Ask | ApprovalMode::Bypass => Ok(()),
        }
    }

    /// Checks owners' rules before a program reads a document, maybe a file, without a tool.
    pub async fn check_document_read(
        &self,
        rooms: &RoomRegistry,
        document: &DocumentId,
        reader: &Principal,
    ) -> ToolResult<()> {
        let Some(path) = self.path_of(rooms, document).await? else { return Ok(()) };
        let (inbox, tools) = (rooms.workspace_inbox().await?, [ReadDocument::NAME, ReadFile::NAME]);
        if inbox_approval::is_asked_about(rooms.tools(), &inbox, &path, (&tools, None), reader)
            .await?
        {
            return Err(only_read_asks(&path));
        }
        Ok(())
    }

    /// Returns the denial of a rule that keeps a model from reading a document, if it is a file.
    pub async fn reading_denial(
        &self,
        rooms: &RoomRegistry,
        document: &DocumentId,
        reader: &Principal,
    ) -> RoomResult<Option<String>> {
        let Some(path) = self.path_of(rooms, document).await? else { return Ok(None) };
        let inbox = rooms.workspace_inbox().await?;
        inbox_approval::reading_denial(rooms.tools(), &inbox, &path, reader).await
    }

    /// Refuses a call whose result would reveal what is in a file that a rule keeps from being
    /// read, before the file is looked at. A replacement of guessed words reveals if they are
    /// there, and a change of a document how it reads now.
    pub(crate) async fn check_reveals_nothing(
        &self,
        tool: &ToolFacts,
        context: &ToolContext,
        call: &ToolCall,
    ) -> ToolResult<()> {
        let quotes = tool.input.replaces == ReplacedText::Quoted;
        let file = tool.target(&call.input).file();
        if let Some(path) = file.as_deref().filter(|_| quotes || tool.effect == ToolEffect::Reads) {
            self.check_only_name(context, path).await?;
        }
        let path = match file {
            Some(_) if tool.effect == ToolEffect::Reads => None,
            Some(path) if quotes => Some(path),
            Some(_) => context.open_file.clone(),
            None if tool.effect == ToolEffect::Proposes || tool.reads == WordsRead::OfDocument => {
                self.readable_path(tool, context).await?
            }
            None => None,
        };
        let Some(path) = path else { return Ok(()) };
        let CallEnvironment { rooms, workspace_inbox, .. } = &context.environment;
        let requester = &context.call.requester;
        let tools = rooms.tools();
        match inbox_approval::reading_denial(tools, workspace_inbox, &path, requester).await? {
            Some(words) => Err(ToolError::Denied(words)),
            None => Ok(()),
        }
    }

    /// Refuses to look into a file with several names (hard links) while some files are kept from
    /// the model by their paths: one of its other names may be such a path.
    async fn check_only_name(&self, context: &ToolContext, path: &str) -> ToolResult<()> {
        let Some(workspace) = context.environment.workspace.clone() else { return Ok(()) };
        let named = path.to_owned();
        let has_others = text_changes::blocking(move |_| workspace.has_other_names(&named));
        if !has_others.await? {
            return Ok(());
        }
        let strict = approvals::RuleEffect::Ask;
        let by_rules = inbox_approval::hidden(context, ReadFile::NAME, strict).await?;
        let by_settings = match (&self.files, &context.environment.model) {
            (Some(files), Some(model)) => files.files_hidden_from(model).await,
            _ => Vec::new(),
        };
        if by_rules.is_empty() && by_settings.is_empty() {
            return Ok(());
        }
        Err(ToolError::Denied(format!(
            "{path} has more than one name (hard links), and some files are kept from you by their names; it was not read"
        )))
    }

    /// Refuses a comment of the AI, or of a program, that a rule of the document, or one about its
    /// file, denies. People are not asked about comments, so a rule that wants to ask denies too.
    pub async fn check_comment(
        &self,
        rooms: &RoomRegistry,
        room: &RoomHandle,
        requester: &Principal,
    ) -> ToolResult<()> {
        let tools = rooms.tools();
        let rules = room.rules().await?;
        let subject = RuleSubject {
            tools,
            tool: AddComment::NAME,
            document: Some(room.document()),
            file: None,
            units: None,
            requester: requester.into(),
            marks: &[],
        };
        let asks = || {
            let words = "An owner wants to be asked first, and nobody is asked about comments; it was not written";
            ToolError::Denied(words.into())
        };
        match approvals::ruling(rules.iter().map(AsRef::as_ref), &subject) {
            Some(rule) if rule.effect == approvals::RuleEffect::Deny => {
                return Err(ToolError::Denied(rule.denial()));
            }
            Some(_) => return Err(asks()),
            None => {}
        }
        let Some(path) = self.path_of(rooms, room.document()).await? else { return Ok(()) };
        let (inbox, names) = (rooms.workspace_inbox().await?, (&[AddComment::NAME][..], None));
        let is_asked = inbox_approval::is_asked_about(tools, &inbox, &path, names, requester);
        if is_asked.await? { Err(asks()) } else { Ok(()) }
    }

    /// Returns who must approve a change of a document that may be a file.
    pub(crate) async fn approval_mode_for(
        &self,
        tool: &ToolFacts,
        context: &ToolContext,
        call: &ToolCall,
        hunks: &[HunkDraft],
    ) -> ToolResult<ApprovalMode> {
        let Some(path) = self.path(tool, context) else { return Ok(context.approval.mode) };
        let file_tools = context.environment.rooms.tools().file_tools();
        let names: Vec<_> = std::iter::once(call.name.as_str()).chain(file_tools).collect();
        inbox_approval::approval_mode_for_path(context, &path, &names, Some(hunks)).await
    }

    /// Returns the most UTF-16 units that the inbox's rules let the tool of a request change in the
    /// file of its document. `None` if no rule limits it, or if the document is no file.
    pub async fn most_units(
        &self,
        request: &ApprovalRequest,
        workspace_inbox: &RoomHandle,
    ) -> RoomResult<Option<usize>> {
        let ProposedCall { origin: CallOrigin { tool, .. }, document, .. } = &request.proposal;
        let files = self.files.as_ref().zip(document.as_ref());
        let Some(path) = files.and_then(|(files, document)| files.path_of(document)) else {
            return Ok(None);
        };
        let of_files =
            self.find(tool).is_some_and(|tool| tool.facts().scope == ToolScope::Workspace);
        let tools = &self.catalog();
        let others = tools.file_tools().filter(|_| !of_files);
        let names: Vec<_> = std::iter::once(tool.as_str()).chain(others).collect();
        let denies = |rule: &&Arc<ApprovalRule>| {
            rule.effect == approvals::RuleEffect::Deny
                && names.iter().any(|&tool| {
                    rule.stops(&RuleSubject {
                        tools,
                        tool,
                        document: None,
                        file: Some(&path),
                        units: None,
                        requester: request.proposal.requester_ids(),
                        marks: &[],
                    })
                })
        };
        let rules = workspace_inbox.rules().await?;
        Ok(rules.iter().filter(denies).map(|rule| rule.over.unwrap_or(0)).min())
    }

    /// Returns the path of the file that the document of a call is.
    async fn readable_path(
        &self,
        tool: &ToolFacts,
        context: &ToolContext,
    ) -> ToolResult<Option<String>> {
        if tool.scope == ToolScope::Workspace {
            return Ok(None);
        }
        Ok(self.path_of(&context.environment.rooms, context.room.document()).await?)
    }

    /// Returns the path of the file that a document is, also if another server has the workspace.
    async fn path_of(
        &self,
        rooms: &RoomRegistry,
        document: &DocumentId,
    ) -> RoomResult<Option<String>> {
        let path = self.files.as_ref().and_then(|files| files.path_of(document));
        if path.is_some() || !rooms.knows_of_workspace() {
            return Ok(path);
        }
        rooms.stored_path(document).await
    }

    /// Returns the path of the file that the document of a call is. `None` for workspace tools,
    /// whose rules go by the path they name.
    fn path(&self, tool: &ToolFacts, context: &ToolContext) -> Option<String> {
        let files = self.files.as_ref().filter(|_| tool.scope != ToolScope::Workspace)?;
        files.path_of(context.room.document())
    }
}

fn only_read_asks(path: &str) -> ToolError {
    ToolError::Denied(format!(
        "An owner wants to be asked before {path} is read, which only Read in the workspace does; it was not read"
    ))
}
