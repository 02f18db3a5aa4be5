//! Facts about tools, as far as rules and policies need them. Tools declare them; nothing here
//! knows the name of a tool.

use std::sync::Arc;

/// Facts about one tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogTool {
    /// Name of the tool.
    pub name: &'static str,
    /// `true` if it proposes a plan. No rule approves one: a person who wants a plan wants to see
    /// it.
    pub is_plan: bool,
    /// `true` if it changes files. A tool that changes the document of a file counts as all of
    /// these too.
    pub changes_files: bool,
    /// Tool whose work it does several times in one call: a rule or a policy for that one is for
    /// this one too.
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

    /// Returns `true` if a rule or a policy that names one tool means a call of another.
    pub(super) fn is_meant(&self, named: &str, called: &str) -> bool {
        named == called || self.find(called).is_some_and(|known| known.repeats == Some(named))
    }
}
