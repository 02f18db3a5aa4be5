//! The example of a custom tool does what its page says.

use copydesk_approvals::RequestVerdict;
use copydesk_tools::ToolScope;

#[path = "../../../examples/custom_tool.rs"]
#[expect(dead_code, reason = "its `main` is not called")]
mod example;

#[tokio::test]
async fn a_custom_tool_changes_a_document_once_its_call_is_approved() {
    let approved = example::run(RequestVerdict::Approve).await.unwrap();
    assert_eq!(approved, "Sales rose by 4 %.\n\nNote: Check the figures.\n");
    let rejected = example::run(RequestVerdict::Reject).await.unwrap();
    assert_eq!(rejected, "Sales rose by 4 %.");
}

#[test]
fn a_custom_tool_is_in_the_prompt_in_rules_in_mcp_and_in_the_editor() {
    let tools = example::tools();
    let occasion = "Use to leave a note for the people who write the document";
    assert!(tools.occasions(ToolScope::Document).contains(&("append_note", occasion)));
    assert!(tools.definitions(ToolScope::Document).iter().any(|tool| tool.name == "append_note"));
    assert_eq!(tools.check_ruled("append_note", false), Ok(()));
    let listed = copydesk_mcp::tool_list(&tools.offers());
    let offer = listed.iter().find(|tool| tool.name == "append_note").unwrap();
    assert_eq!(offer.title.as_deref(), Some("Append a note"));
    let row = r#"{"name":"append_note","title":"Note","ruleTitle":"Note","effect":"proposes","scope":"document","#;
    assert!(tools.editor_table().contains(row));
}
