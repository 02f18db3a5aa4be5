//! Documents that are files: what owners say of a path at the desk holds also for a call that names the document.

use std::sync::Arc;

use crate::document::diff::HunkDraft;
use crate::review::{self, Matter, Proposal, Request, Rule};
use crate::room::command::Gate;
use crate::room::{RoomError, RoomHandle};

use super::entry::Entry;
use super::{Call, Context, Effect, Ground, Registry, ToolError, desk};

impl Registry {
    /// Refuses to read another document that is a file owners keep from being read, or want to be asked about.
    pub(super) async fn may_read(
        &self,
        tool: &Entry,
        context: &Context,
        call: &Call,
    ) -> Result<(), ToolError> {
        let looks = tool.effect == Effect::Safe || (tool.only_looks)(&call.input);
        let asked = self.path(tool, context).filter(|_| looks && context.elsewhere.is_some());
        let Some(path) = asked else { return Ok(()) };
        match desk::gate_of_path(context, &path, &[&call.name, "Read"], None).await? {
            Gate::People => Err(ToolError::Denied(format!(
                "An owner wants to be asked before {path} is read, which only Read in the workspace does; it was not read"
            ))),
            Gate::Ask | Gate::Bypass => Ok(()),
        }
    }

    /// Who is asked about a change of a document that may be a file. Fails where owners deny it.
    pub(super) async fn gate_of(
        &self,
        tool: &Entry,
        context: &Context,
        call: &Call,
        hunks: &[HunkDraft],
    ) -> Result<Gate, ToolError> {
        let Some(path) = self.path(tool, context) else { return Ok(context.gate) };
        desk::gate_of_path(context, &path, &[&call.name, "Write", "Edit"], Some(hunks)).await
    }

    /// The most UTF-16 units that the desk's rules let the tool of a request change in the file that its document is; `None`: they
    /// deny it nothing, or it is no file.
    pub async fn most_units(
        &self,
        request: &Request,
        desk: &RoomHandle,
    ) -> Result<Option<usize>, RoomError> {
        let Proposal { tool, document, .. } = &request.proposal;
        let files = self.files.as_ref().zip(document.as_ref());
        let Some(path) = files.and_then(|(files, document)| files.path_of(document)) else {
            return Ok(None);
        };
        let of_files = self.tool(tool).is_ok_and(|tool| tool.ground == Ground::Workspace);
        let names = if of_files { vec![tool.as_str()] } else { vec![tool, "Write", "Edit"] };
        let speaks = |rule: &&Arc<Rule>| {
            rule.effect == review::Effect::Deny
                && names.iter().any(|&tool| {
                    rule.stops(&Matter { tool, document: None, file: Some(&path), units: None })
                })
        };
        let rules = desk.rules().await?;
        Ok(rules.iter().filter(speaks).map(|rule| rule.over.unwrap_or(0)).min())
    }

    /// The file that the document of a call is; tools for files are judged by the path they name.
    fn path(&self, tool: &Entry, context: &Context) -> Option<String> {
        let files = self.files.as_ref().filter(|_| tool.ground != Ground::Workspace)?;
        files.path_of(context.room.document())
    }
}
