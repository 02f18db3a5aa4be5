//! Facts that tools declare about themselves, as rules and policies need them.

use std::sync::Arc;

/// Facts about one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogTool {
    /// Name of the tool.
    pub name: &'static str,
    /// `true` if it proposes a plan. No rule approves one: who wants a plan wants to see it.
    pub is_plan: bool,
    /// `true` if it changes files, perhaps as documents: those count as all of these tools too.
    pub changes_files: bool,
    /// Tool whose work it does several times in one call; its rules and policies hold here too.
    pub repeats: Option<&'static str>,
}

/// Tools of a server. One that is not listed has none of the facts.
#[derive(Clone, Debug, Default)]
pub struct ToolCatalog(Arc<[CatalogTool]>);

impl FromIterator<CatalogTool> for ToolCatalog {
    fn from_iter<I: IntoIterator<Item = CatalogTool>>(tools: I) -> Self {
        Self(tools.into_iter().collect())
    }
}

impl ToolCatalog {
    fn find(&self, tool: &str) -> Option<&CatalogTool> {
        self.0.iter().find(|known| known.name == tool)
    }

    /// Returns `true` if the tool proposes a plan.
    pub fn is_plan(&self, tool: &str) -> bool {
        self.find(tool).is_some_and(|known| known.is_plan)
    }

    /// Returns the names of the tools that change files.
    pub fn file_tools(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|known| known.changes_files).map(|known| known.name)
    }

    pub(super) fn is_meant(&self, named: &str, called: &str) -> bool {
        named == called || self.find(called).is_some_and(|known| known.repeats == Some(named))
    }
}
