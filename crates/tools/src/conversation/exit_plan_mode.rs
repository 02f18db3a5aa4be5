//! Tool that proposes a plan, under the name of the Claude CLI's own tool, which models know.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::pipeline::input_hooks::{CONTENT_LIMIT, check_text};
use crate::{PlanTool, Tool, ToolError, ToolResult, ToolScope};

/// Tool `ExitPlanMode`: asks people to approve a plan.
pub struct ExitPlanMode;

/// Input of the tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Complete plan in Markdown: what will be changed, where, and in which order.
    plan: String,
}

impl Tool for ExitPlanMode {
    const NAME: &'static str = "ExitPlanMode";
    const TITLE: &'static str = "Plan";
    const DESCRIPTION: &'static str = "Propose your plan to the people who decide. They read it, may edit it, and approve or reject it. \
         Nothing can be changed before they have approved one; afterwards every change is still decided by them.";
    const WHEN: &'static str = "Use when you know what is to be done, with the complete plan";
    const SCOPE: ToolScope = ToolScope::Conversation;
    type Input = Input;
}

impl PlanTool for ExitPlanMode {
    fn plan(Input { plan }: Input) -> ToolResult<String> {
        if plan.trim().is_empty() {
            return Err(ToolError::Denied("The plan is empty; say what is to be done".into()));
        }
        check_text("plan", &plan, CONTENT_LIMIT)?;
        Ok(plan)
    }

    fn approved(plan: &str) -> String {
        format!(
            "The plan is approved. Carry it out now, as it reads here; people still decide about every change. Changes you \
             called together with the plan were not made: call them now.\n\nThe approved plan:\n\n{plan}"
        )
    }
}
