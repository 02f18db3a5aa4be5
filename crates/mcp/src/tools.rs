//! Tools that outside agents are offered, with the server's own names for them and their
//! descriptions.

use std::sync::Arc;

use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use copydesk_ids::permissions::{Action, Principal};
use copydesk_ids::{DocumentId, Version};
use copydesk_tools::{ProgramOffer, ToolEffect, ToolFacts};

/// Subject of a call of a [`ListedTool`], in the order of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CallSubject {
    /// Workspace; people decide in the workspace inbox.
    Workspace,
    /// Content of the workspace that the call reads; people decide if an owner's rule says so.
    Looking,
    /// Content of documents that the call reads.
    Reading,
    /// Document that the call names and wants to change.
    Document,
    /// New document; people decide in the workspace inbox.
    Founding,
}

impl From<ToolEffect> for CallSubject {
    fn from(effect: ToolEffect) -> Self {
        match effect {
            ToolEffect::ChangesFile | ToolEffect::Acts => Self::Workspace,
            ToolEffect::Reads => Self::Looking,
            ToolEffect::OnlyAnswers | ToolEffect::Plans => Self::Reading,
            ToolEffect::Comments | ToolEffect::Proposes => Self::Document,
            ToolEffect::Creates => Self::Founding,
        }
    }
}

impl CallSubject {
    /// Returns `true` if people are asked before the call has any effect.
    pub(crate) fn asks(self) -> bool {
        match self {
            Self::Workspace | Self::Document | Self::Founding => true,
            Self::Reading | Self::Looking => false,
        }
    }
}

/// Argument with the version that a caller has read.
const BASE: &str = "base_version";
const BASE_NEEDED: &str =
    "The version of it that you read, as read_document names it, and that positions are of.";
const BASE_HELPS: &str = "The version of it that you read and that positions are of; without it, the one you were told of last.";

/// Tool that exists on this server, from [`listed`].
#[derive(Clone, Debug)]
pub(crate) struct ListedTool {
    pub(crate) tool: Tool,
    pub(crate) name: &'static str,
    /// Subject of its calls.
    pub(crate) about: CallSubject,
    /// Offer that the tool makes to programs.
    pub(crate) offer: ProgramOffer,
}

impl ListedTool {
    /// Returns the tool as a caller is offered it, with the version as a required argument unless
    /// the server knows the versions that the caller has read (`is_known`).
    pub(crate) fn offered(&self, is_known: bool) -> Tool {
        let mut tool = self.tool.clone();
        if self.about == CallSubject::Document && !is_known {
            let mut schema = JsonObject::clone(&tool.input_schema);
            require(&mut schema, BASE);
            describe(&mut schema, BASE, BASE_NEEDED);
            tool.input_schema = Arc::new(schema);
        }
        tool
    }

    pub(crate) fn needs_workspace(&self) -> bool {
        matches!(self.about, CallSubject::Workspace | CallSubject::Looking)
    }

    /// Returns `true` if this person may call the tool about anything at all.
    pub(crate) fn is_for(&self, person: &Principal) -> bool {
        match self.about {
            CallSubject::Workspace | CallSubject::Looking => person.may(Action::Ask, None),
            CallSubject::Document => person.may_somewhere(Action::Ask),
            CallSubject::Founding => person.may(Action::Create, None),
            CallSubject::Reading => true,
        }
    }
}

/// Lists the tools of this server that programs may call, by their subjects.
pub(crate) fn listed(tools: &[Arc<ToolFacts>]) -> Vec<ListedTool> {
    let listed = |facts: &Arc<ToolFacts>| {
        let (offer, about) = (facts.program?, facts.effect.into());
        Some(ListedTool { tool: tool(&offer, about, facts), name: facts.name, about, offer })
    };
    let mut listed: Vec<_> = tools.iter().filter_map(listed).collect();
    listed.sort_by_key(|tool| tool.about);
    listed
}

fn tool(offer: &ProgramOffer, about: CallSubject, facts: &ToolFacts) -> Tool {
    let mut schema = facts.schema.as_object().cloned().unwrap_or_default();
    if about == CallSubject::Document {
        add_document(&mut schema);
    }
    for (field, words) in offer.required {
        require(&mut schema, field);
        describe(&mut schema, field, words);
    }
    let description = offer.description.unwrap_or(facts.description);
    let description = match about {
        CallSubject::Document => format!(
            "{description} Read the document first with read_document. People see the change in the document and decide; \
             the answer says what they decided, which can take minutes."
        ),
        CallSubject::Workspace | CallSubject::Founding => {
            format!("{description} The answer says what they decided, which can take minutes.")
        }
        CallSubject::Looking => format!(
            "{description} A rule of an owner may want people to decide about a call, or keep files from it."
        ),
        CallSubject::Reading => description.to_owned(),
    };
    let mut tool = Tool::new(offer.name, description, Arc::new(schema));
    tool.title = Some(offer.title.to_owned());
    tool.annotations = Some(annotations(offer.title, facts.effect));
    // Without it, some clients hide a tool until their model searches for it.
    let always = JsonObject::from_iter([("anthropic/alwaysLoad".to_owned(), json!(true))]);
    tool.meta = Some(MetaObject(always));
    tool
}

/// Returns the effects of a call after its approval: replaced content is lost, and a repeated call
/// has another effect than a single one.
fn annotations(title: &str, effect: ToolEffect) -> ToolAnnotations {
    let reads = effect.only_reads();
    // A command can reach anything.
    let open = effect == ToolEffect::Acts;
    // A tool that only creates loses nothing.
    let replaces = !reads && effect != ToolEffect::Creates;
    let title = Some(title.to_owned());
    ToolAnnotations::from_raw(title, Some(reads), Some(replaces), Some(reads), Some(open))
}

fn add_document(schema: &mut JsonObject) {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        let document = "The document, as `list_documents` names it.";
        properties.insert("document_id".into(), json!({"type": "string", "description": document}));
        let integer = json!({"type": "integer", "minimum": 0, "description": BASE_HELPS});
        properties.insert(BASE.into(), integer);
    }
    require(schema, "document_id");
}

fn require(schema: &mut JsonObject, name: &str) {
    let required = schema.entry("required").or_insert_with(|| json!([]));
    if let Some(required) = required.as_array_mut()
        && !required.iter().any(|known| known == name)
    {
        required.push(json!(name));
    }
}

fn describe(schema: &mut JsonObject, property: &str, words: &str) {
    let property = schema.get_mut("properties").and_then(|all| all.get_mut(property));
    if let Some(property) = property.and_then(Value::as_object_mut) {
        property.insert("description".into(), json!(words));
        // The argument is optional elsewhere, but not here.
        if let Some(first) = property.get("type").and_then(|it| it.get(0)).cloned() {
            property.insert("type".into(), first);
        }
    }
}

/// Subject of a call, and its input as the server's own tool takes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CallTarget {
    /// Document that the call wants to change.
    pub(crate) document: Option<DocumentId>,
    /// Version that the caller says it has read.
    pub(crate) base: Option<Version>,
    /// Other arguments.
    pub(crate) input: Value,
}

/// Reads the arguments of a call; the error names the wrong argument.
pub(crate) fn target(
    about: CallSubject,
    offer: &ProgramOffer,
    arguments: JsonObject,
) -> Result<CallTarget, String> {
    let mut arguments = arguments;
    let is_required = offer.required.iter().any(|(field, _)| *field == "document_id");
    let document = match (about, arguments.get("document_id")) {
        (CallSubject::Reading, None | Some(Value::Null)) if is_required => {
            return Err("document_id is missing; list_documents names the documents".to_owned());
        }
        (CallSubject::Document, Some(Value::String(id))) => Some(DocumentId::from(id.as_str())),
        (CallSubject::Document, _) => {
            return Err("document_id must be a text; list_documents names the documents".to_owned());
        }
        _ => None,
    };
    if document.is_some() {
        arguments.remove("document_id");
    }
    let base = match arguments.remove(BASE).filter(|_| document.is_some()) {
        None | Some(Value::Null) => None,
        Some(base) => Some(Version(
            base.as_u64().ok_or("base_version must be a version, a number of 0 or more")?,
        )),
    };
    Ok(CallTarget { document, base, input: Value::Object(arguments) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use copydesk_ids::permissions::Role;
    use copydesk_tools::ToolRegistry;

    fn all() -> Vec<ListedTool> {
        listed(&ToolRegistry::default().offers())
    }

    fn offer(name: &str) -> ProgramOffer {
        all().into_iter().find(|it| it.tool.name == name).unwrap().offer
    }

    fn schema(name: &str) -> Value {
        let all = all();
        let tool = all.iter().find(|it| it.tool.name == name).unwrap();
        Value::Object((*tool.tool.input_schema).clone())
    }

    #[test]
    fn without_a_workspace_there_are_only_tools_for_documents() {
        let all = all();
        assert!(all.iter().all(|it| !it.needs_workspace()));
        assert!(all.iter().any(|it| it.name == "update_full_document"));
    }

    #[test]
    fn a_tool_that_changes_a_document_needs_to_be_told_which() {
        for name in ["update_full_document", "find_and_replace", "insert_at_cursor"] {
            let schema = schema(name);
            let required = schema["required"].as_array().unwrap();
            assert!(required.contains(&json!("document_id")), "{schema}");
            assert_eq!(schema["properties"]["document_id"]["type"], "string");
            assert_eq!(schema["additionalProperties"], false);
        }
        assert_eq!(schema("read_document")["required"], json!(["document_id"]));
        assert_eq!(schema("read_document")["properties"]["document_id"]["type"], "string");
        let insert = schema("insert_at_cursor");
        assert!(insert["required"].as_array().unwrap().contains(&json!("position")));
        assert_eq!(insert["properties"]["position"]["type"], "integer");
    }

    #[test]
    fn what_a_tool_says_of_itself_is_true() {
        for it in all() {
            let hints = it.tool.annotations.clone().unwrap();
            let reads = it.about == CallSubject::Reading;
            assert_eq!(hints.read_only_hint, Some(reads), "{}", it.tool.name);
            let adds = it.about == CallSubject::Founding;
            assert_eq!(hints.destructive_hint, Some(!reads && !adds), "{}", it.tool.name);
            assert_eq!(hints.open_world_hint, Some(false), "{}", it.tool.name);
        }
    }

    #[test]
    fn everybody_is_offered_what_they_may_call() {
        let names = |role, document: Option<&str>| -> Vec<_> {
            let document = document.map(DocumentId::from);
            let person = Principal { document, ..Principal::new("usr", "Vi", role) };
            all().into_iter().filter(|it| it.is_for(&person)).map(|it| it.name).collect()
        };
        let about = |subjects: &[CallSubject]| -> Vec<_> {
            all().into_iter().filter(|it| subjects.contains(&it.about)).map(|it| it.name).collect()
        };
        let reading = about(&[CallSubject::Reading]);
        assert!(reading.contains(&"read_document") && !reading.contains(&"update_full_document"));
        assert_eq!(names(Role::Viewer, None), reading);
        let of_documents = about(&[CallSubject::Reading, CallSubject::Document]);
        assert_eq!(names(Role::Editor, Some("doc_1")), of_documents);
        let all = about(&[CallSubject::Reading, CallSubject::Document, CallSubject::Founding]);
        assert_eq!(names(Role::Editor, None), all, "who reaches one document makes no other");
        assert_ne!(of_documents, all);
    }

    fn read(about: CallSubject, arguments: &Value) -> Result<CallTarget, String> {
        target(about, &offer("update_full_document"), arguments.as_object().cloned().unwrap())
    }

    #[test]
    fn document_and_version_are_taken_out_of_the_input() {
        let arguments = json!({"document_id": "doc_1", "base_version": 7, "new_content": "x"});
        let target = read(CallSubject::Document, &arguments).unwrap();
        assert_eq!(target.document, Some("doc_1".into()));
        assert_eq!(target.base, Some(Version(7)));
        assert_eq!(target.input, json!({"new_content": "x"}));
    }

    #[test]
    fn arguments_that_make_no_sense_are_refused_in_words() {
        for bad in [
            json!({}),
            json!({"document_id": 7}),
            json!({"document_id": null}),
            json!({"document_id": "doc_1", "base_version": -1}),
            json!({"document_id": "doc_1", "base_version": "7"}),
            json!({"document_id": "doc_1", "base_version": 1.5}),
        ] {
            assert!(read(CallSubject::Document, &bad).is_err(), "{bad}");
        }
        assert!(target(CallSubject::Reading, &offer("read_document"), JsonObject::new()).is_err());
    }
}
