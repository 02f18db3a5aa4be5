//! The example of a custom tool does what its page says.

use copydesk::approvals::RequestVerdict;

#[path = "../../examples/custom_tool.rs"]
#[expect(dead_code, reason = "its `main` is not called")]
mod example;

#[tokio::test]
async fn a_custom_tool_changes_a_document_once_its_call_is_approved() {
    let approved = example::run(RequestVerdict::Approve).await.unwrap();
    assert_eq!(approved, "Sales rose by 4 %.\n\nNote: Check the figures.\n");
    let rejected = example::run(RequestVerdict::Reject).await.unwrap();
    assert_eq!(rejected, "Sales rose by 4 %.");
}
