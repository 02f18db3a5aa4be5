//! Documents that are files: what owners say of a path at the desk holds also for a call that names the document.

use crate::document::diff::HunkDraft;
use crate::room::command::Gate;

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

    /// The file that the document of a call is; tools for files are judged by the path they name.
    fn path(&self, tool: &Entry, context: &Context) -> Option<String> {
        let files = self.files.as_ref().filter(|_| tool.ground != Ground::Workspace)?;
        files.path_of(context.room.document())
    }
}
