//! Checks the tool names in owners' rules. A rule for a tool that people are never asked about
//! would have no effect, and its author would not learn of the misspelling.

use std::sync::Arc;

use crate::approvals::{EVERY_TOOL, SUGGESTION_TOOL};

#[cfg(unix)]
use crate::tools::Tool as _;
use crate::tools::{RegisteredTool, ToolEffect, ToolFacts, ToolRegistry, WordsRead};

/// Name of the tool that runs commands. Rules about it are possible before it is enabled.
#[cfg(unix)]
const COMMANDS: &str = crate::tools::workspace::bash::BashTool::NAME;
#[cfg(not(unix))]
const COMMANDS: &str = "Bash";

impl ToolRegistry {
    /// Refuses a name under which no request can be made; the error is for people.
    ///
    /// # Errors
    /// Message that names the tools there are, if people are never asked about this one.
    pub fn check_asked_about(&self, tool: &str) -> Result<(), String> {
        let names = self.asked_about();
        if names.contains(&tool) {
            return Ok(());
        }
        Err(format!("people are never asked about a tool {tool:?}; tools are {}", names.join(", ")))
    }

    /// Refuses a rule about an unknown tool, or a rule with a path for a tool whose calls name no
    /// file. The error is for people.
    ///
    /// # Errors
    /// Message that names the tools there are, or that says that the tool names no file.
    pub fn check_ruled(&self, tool: &str, has_path: bool) -> Result<(), String> {
        if tool == EVERY_TOOL {
            return Ok(());
        }
        self.check_asked_about(tool)?;
        let makes = |entry: &RegisteredTool| {
            matches!(entry.facts().effect, ToolEffect::Creates | ToolEffect::Plans)
        };
        let is_nameless =
            [COMMANDS, SUGGESTION_TOOL].contains(&tool) || self.find(tool).is_some_and(makes);
        if has_path && is_nameless {
            return Err(format!("{tool} names no file: make a rule about it without a `path`"));
        }
        Ok(())
    }

    /// Returns the names under which requests can be made.
    fn asked_about(&self) -> Vec<&'static str> {
        // Of the tools that change nothing and read no file, people can be asked only about reading
        // another document.
        let asks = |tool: &&Arc<ToolFacts>| {
            tool.effect != ToolEffect::Safe || tool.reads == WordsRead::OfDocument
        };
        let here = self.facts().filter(asks).map(|tool| tool.name);
        here.filter(|name| *name != COMMANDS).chain([COMMANDS, SUGGESTION_TOOL]).collect()
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
