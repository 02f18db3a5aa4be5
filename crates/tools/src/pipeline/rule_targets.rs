//! Checks the tool names in owners' rules. A rule for a tool that people are never asked about
//! would have no effect, and its author would not learn of the misspelling.

use std::sync::Arc;

use copydesk_approvals::{EVERY_TOOL, SUGGESTION_TOOL};

use crate::registry::commands;
use crate::{ToolEffect, ToolFacts, ToolRegistry, WordsRead};

impl ToolRegistry {
    /// Refuses a name under which no request can be made, with a message for people.
    pub fn check_asked_about(&self, tool: &str) -> Result<(), String> {
        let names = self.asked_about();
        if names.contains(&tool) {
            return Ok(());
        }
        Err(format!("people are never asked about a tool {tool:?}; tools are {}", names.join(", ")))
    }

    /// Refuses a rule about an unknown tool, or one with a path for a tool whose calls name no
    /// file, with a message for people.
    pub fn check_ruled(&self, tool: &str, has_path: bool) -> Result<(), String> {
        if tool == EVERY_TOOL {
            return Ok(());
        }
        self.check_asked_about(tool)?;
        let names_none = |known: &ToolFacts| {
            matches!(known.effect, ToolEffect::Acts | ToolEffect::Creates | ToolEffect::Plans)
        };
        let is_nameless = tool == SUGGESTION_TOOL
            || self.ruled().any(|known| known.name == tool && names_none(&known));
        if has_path && is_nameless {
            return Err(format!("{tool} names no file: make a rule about it without a `path`"));
        }
        Ok(())
    }

    fn asked_about(&self) -> Vec<&'static str> {
        self.ruled().map(|tool| tool.name).chain([SUGGESTION_TOOL]).collect()
    }

    /// Returns the tools that people can be asked about; also commands that are not enabled yet.
    fn ruled(&self) -> impl Iterator<Item = Arc<ToolFacts>> {
        // Of the tools that change nothing and read no file, people can be asked only about reading
        // another document.
        let is_asked_about = |tool: &&Arc<ToolFacts>| {
            tool.effect != ToolEffect::OnlyAnswers || tool.reads == WordsRead::OfDocument
        };
        let commands = commands().filter(|tool| self.find(tool.name).is_none());
        self.facts().filter(is_asked_about).cloned().chain(commands)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_about_a_tool_that_people_can_be_asked_about() {
        let tools = ToolRegistry::default();
        for tool in ["*", "Write", "Bash", "ExitPlanMode", "update_full_document", "read_document"]
        {
            assert_eq!(tools.check_ruled(tool, false), Ok(()));
        }
        for tool in ["bash", "Bash(rm *)", "atlas_write", "update_ful_document", "list_documents"] {
            let refused = tools.check_ruled(tool, false).unwrap_err();
            assert!(
                refused.contains(tool) && refused.contains("Write, Edit, MultiEdit"),
                "{refused}"
            );
        }
        // A policy for every tool names none.
        assert!(tools.check_asked_about("*").is_err());
    }

    #[test]
    fn a_rule_about_files_is_about_a_tool_whose_calls_name_one() {
        let tools = ToolRegistry::default();
        for tool in ["*", "Write", "Grep", "update_full_document"] {
            assert_eq!(tools.check_ruled(tool, true), Ok(()));
        }
        for tool in ["Bash", "create_new_document"] {
            let refused = tools.check_ruled(tool, true).unwrap_err();
            assert!(refused.starts_with(&format!("{tool} names no file")), "{refused}");
        }
    }
}
