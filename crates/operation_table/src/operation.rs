//! Declaration of one operation: its name on each transport, the right that it needs, its input and
//! output, and the function that does it.

use std::sync::OnceLock;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use copydesk_api::{ApiError, ApiResult, Caller};

use crate::input::RawInput;
use crate::right::Right;

/// Prefix of the path of every route.
pub const BASE: &str = "/api/v1";

/// Function that does an operation, with types that only the operation knows.
type Function =
    Box<dyn Fn(Caller, RawInput) -> BoxFuture<'static, ApiResult<String>> + Send + Sync>;
/// Function that checks the right of an operation, for a handler that does the rest.
type Check = Box<dyn Fn(Caller, Option<String>) -> BoxFuture<'static, ApiResult<()>> + Send + Sync>;
/// Function that returns the schema of an answer, as a reference into the document.
type AnswerSchema = fn(&mut SchemaGenerator) -> Value;

/// One thing that a person may ask of the server; declared by [`operation`], [`transport_handled`]
/// or [`socket_handled`].
#[must_use]
pub struct Operation {
    /// Sentence that says what it does.
    pub summary: &'static str,
    /// Name of the event; `None`: there is none.
    pub event: Option<&'static str>,
    /// Route of the REST API; `None`: there is none.
    pub route: Option<Route>,
    /// `true` if it changes nothing that is stored, so that its event can be sent again without
    /// loss. Such events are refused first under load.
    pub only_reads: bool,
    /// Right that it needs.
    pub right: DeclaredRight,
    /// Type of its input.
    pub input: InputType,
    /// Type of its output; `()`: there is none.
    pub output: OutputType,
    /// Field of the acknowledgement that holds the output; `None`: the fields stand beside `ok`.
    pub ack_field: Option<&'static str>,
    /// `true` if a handler of the socket takes the event although there is a function.
    event_has_handler: bool,
    function: Option<Function>,
    check: Check,
    /// Schema of the input without the fields of the path.
    schema: OnceLock<Value>,
}

/// Right that an operation needs, for transports and the documentation.
#[derive(Clone, Debug)]
pub struct DeclaredRight {
    /// Name of the right.
    pub name: String,
    /// Field of the input that names what the right is about.
    pub field: Option<&'static str>,
}

/// Type of an operation's input.
#[derive(Clone, Copy, Debug)]
pub struct InputType {
    /// Name of the type.
    pub name: &'static str,
    schema: fn() -> Value,
}

/// Type of an operation's output.
#[derive(Clone, Copy, Debug)]
pub struct OutputType {
    /// Name of the type.
    pub name: &'static str,
    schema: AnswerSchema,
}

/// Route of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// Method, in lower case.
    pub method: &'static str,
    /// Path below `/api/v1`; see [`Route::fields`].
    pub path: &'static str,
    /// Name of the operation in the `OpenAPI` document.
    pub id: &'static str,
    /// Status of an answer.
    pub status: u16,
    /// Path below `/api/v1` of what is created.
    pub collection: Option<&'static str>,
    /// Content of the body of a request.
    pub body: BodyKind,
    /// `true` if the answer holds a secret, which nothing may store.
    pub is_secret: bool,
}

/// Kind of the bodies that a route takes, which decides how long they may be and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// No body; the operation needs no token either.
    NoBodyNoToken,
    /// No body.
    NoBody,
    /// JSON of the usual length.
    Usual,
    /// JSON with the text of a document or a prompt.
    Text,
    /// A request for a new token.
    Secret,
    /// A file as it is.
    File,
    /// HTML as it is.
    Html,
}

impl BodyKind {
    /// Returns `true` for bodies of JSON.
    pub fn is_json(self) -> bool {
        matches!(self, Self::Usual | Self::Text | Self::Secret)
    }
}

/// Declares an operation that `function` does. It gets the caller, what the right is about, and
/// the input.
pub fn operation<R, I, O, F>(
    summary: &'static str,
    right: R,
    function: impl Fn(Caller, R::Subject, I) -> F + Clone + Send + Sync + 'static,
) -> Operation
where
    R: Right,
    I: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + JsonSchema + Send + 'static,
    F: Future<Output = ApiResult<O>> + Send + 'static,
{
    let run = move |caller: Caller, input: RawInput| {
        let function = function.clone();
        async move {
            let (subject, input) = input.admit::<R, I>(right, &caller).await?;
            let output = function(caller, subject, input).await?;
            serde_json::to_string(&output).map_err(|_| ApiError::internal())
        }
        .boxed()
    };
    Operation { function: Some(Box::new(run)), ..transport_handled::<R, I, O>(summary, right) }
}

/// Declares an operation that handlers of its transports do, such as one that needs the whole
/// request. Its route, if it has one, checks the right before the handler.
pub fn transport_handled<R: Right, I: JsonSchema + 'static, O: JsonSchema + 'static>(
    summary: &'static str,
    right: R,
) -> Operation {
    let input = InputType { name: type_name::<I>(), schema: schema::<I> };
    let answer: AnswerSchema = |schemas| schemas.subschema_for::<O>().to_value();
    let output = OutputType { name: type_name::<O>(), schema: answer };
    Operation { input, output, ..socket_handled::<R, I, O>(summary, right) }
}

/// Declares an operation without a route that a handler of the socket does, because it needs the
/// connection. The handler checks the right itself; the right here is for the documentation.
pub fn socket_handled<R: Right, I, O>(summary: &'static str, right: R) -> Operation {
    let check = move |caller: Caller, name| {
        async move { right.check(&caller, name).await.map(drop) }.boxed()
    };
    Operation {
        summary,
        event: None,
        route: None,
        only_reads: false,
        right: DeclaredRight { name: format!("{right:?}"), field: R::FIELD },
        input: InputType { name: type_name::<I>(), schema: || Value::Null },
        output: OutputType { name: type_name::<O>(), schema: |_| Value::Null },
        ack_field: None,
        event_has_handler: false,
        function: None,
        check: Box::new(check),
        schema: OnceLock::new(),
    }
}

impl Operation {
    /// Adds the event.
    pub fn event(self, name: &'static str) -> Self {
        Self { event: Some(name), ..self }
    }

    /// Adds the event, which a handler of the socket takes before the table is asked: its answer
    /// depends on the connection. The route does the operation as declared.
    pub fn socket_handled_event(self, name: &'static str) -> Self {
        Self { event_has_handler: true, ..self.event(name) }
    }

    /// Says that the acknowledgement has the output in this field.
    pub fn ack_in(self, field: &'static str) -> Self {
        Self { ack_field: Some(field), ..self }
    }

    /// Says that nothing changes that is stored.
    pub fn only_reads(self) -> Self {
        Self { only_reads: true, ..self }
    }

    /// Adds a route of the method GET, which reads and has no body.
    pub fn get(self, path: &'static str, id: &'static str) -> Self {
        self.route("get", path, id, BodyKind::NoBody).only_reads()
    }

    /// Adds a route of the method POST.
    pub fn post(self, path: &'static str, id: &'static str) -> Self {
        self.route("post", path, id, BodyKind::Usual)
    }

    /// Adds a route of the method PUT.
    pub fn put(self, path: &'static str, id: &'static str) -> Self {
        self.route("put", path, id, BodyKind::Usual)
    }

    /// Adds a route of the method PATCH.
    pub fn patch(self, path: &'static str, id: &'static str) -> Self {
        self.route("patch", path, id, BodyKind::Usual)
    }

    /// Adds a route of the method DELETE, which has no body.
    pub fn delete(self, path: &'static str, id: &'static str) -> Self {
        self.route("delete", path, id, BodyKind::NoBody)
    }

    fn route(
        self,
        method: &'static str,
        path: &'static str,
        id: &'static str,
        body: BodyKind,
    ) -> Self {
        let status = if self.has_output() { 200 } else { 204 };
        let (collection, is_secret) = (None, false);
        let route = Route { method, path, id, status, collection, body, is_secret };
        Self { route: Some(route), ..self }
    }

    /// Says that the route takes another kind of body.
    pub fn body(self, body: BodyKind) -> Self {
        Self { route: self.route.map(|route| Route { body, ..route }), ..self }
    }

    /// Says that the route begins a run, whose address is in the answer.
    pub fn begins(self) -> Self {
        Self { route: self.route.map(|route| Route { status: 202, ..route }), ..self }
    }

    /// Says that the route creates something below this path, with the `id` of the answer.
    pub fn creates(self, collection: &'static str) -> Self {
        let created = |route| Route { status: 201, collection: Some(collection), ..route };
        Self { route: self.route.map(created), ..self }
    }

    /// Says that the route's answer holds a secret.
    pub fn secret(self) -> Self {
        Self { route: self.route.map(|route| Route { is_secret: true, ..route }), ..self }
    }

    /// Returns `true` if an answer has fields.
    pub fn has_output(&self) -> bool {
        self.output.name != "()"
    }

    /// Returns `true` if handlers of its transports do the operation.
    pub fn is_transport_handled(&self) -> bool {
        self.function.is_none()
    }

    /// Does the operation, if the caller has the right to it; returns its output as JSON.
    ///
    /// # Errors
    /// Those of the right, of the input and of the function.
    pub async fn run(&self, caller: Caller, input: RawInput) -> ApiResult<String> {
        let lacks_handler = self.event_has_handler && matches!(input, RawInput::Event(_));
        match &self.function {
            Some(function) if !lacks_handler => function(caller, input).await,
            _ => Err(ApiError::internal()),
        }
    }

    /// Checks that the caller has the right, for a handler that does the rest. `name` is what the
    /// right is about.
    ///
    /// # Errors
    /// Those of the right.
    pub async fn check(&self, caller: Caller, name: Option<String>) -> ApiResult<()> {
        (self.check)(caller, name).await
    }

    /// Returns the schema of the input without what the path says.
    pub fn input_schema(&self) -> &Value {
        self.schema.get_or_init(|| {
            let mut schema = (self.input.schema)();
            for (_, field) in self.route.iter().flat_map(Route::fields) {
                leave_out(&mut schema, field);
            }
            schema
        })
    }

    /// Returns the schema of the output, as a reference into the document.
    pub fn answer_schema(&self, schemas: &mut SchemaGenerator) -> Value {
        (self.output.schema)(schemas)
    }
}

impl Route {
    /// Returns the parameters of the path, each with the field of the input that it is:
    /// `{id=documentId}` is the parameter `id` and the field `documentId`.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let names = self.path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
        names.map(|name| name.split_once('=').unwrap_or((name, name)))
    }

    /// Returns the whole path, with the names of its parameters alone.
    pub fn url(&self) -> String {
        let mut url = format!("{BASE}{}", self.path);
        for (name, field) in self.fields() {
            url = url.replace(&format!("{{{name}={field}}}"), &format!("{{{name}}}"));
        }
        url
    }
}

fn leave_out(schema: &mut Value, field: &str) {
    let Some(keywords) = schema.as_object_mut() else { return };
    if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
        properties.remove(field);
    }
    if let Some(Value::Array(required)) = keywords.get_mut("required") {
        required.retain(|name| name != field);
    }
    // A schema without fields has no such lists.
    keywords.retain(|_, value| *value != json!({}) && *value != json!([]));
}

/// Returns the schema of an input, complete in itself.
fn schema<I: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<I>().to_value()
}

/// Returns the name of a type without its module.
pub fn type_name<T>() -> &'static str {
    let name = std::any::type_name::<T>();
    name.rsplit("::").next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_address_says_is_not_asked_for_in_the_body() {
        let mut schema = json!({"properties": {"id": {}, "text": {}}, "required": ["id", "text"]});
        leave_out(&mut schema, "id");
        assert_eq!(schema, json!({"properties": {"text": {}}, "required": ["text"]}));
    }
}
