//! Messages API: other programs use this server's models as they would Anthropic's.
//!
//! The routes are `POST /v1/messages`, `POST /v1/messages/count_tokens` and `GET /v1/models`. This
//! module has the handlers; its submodules admit requests, choose the model, and write the answers.

mod admission;
pub mod conversation_cache;
pub mod conversation_hash;
mod conversations;
mod driver;
pub mod failure;
mod limits;
mod models;
pub mod request;
pub mod server_tool_loop;
mod server_tools;
pub mod sse_encoder;
mod stream;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::messages_api::failure::ApiFailure;
use crate::messages_api::request::{CheckedRequest, RequestPurpose};
use copydesk_agent::ChosenModel;
use copydesk_llm as llm;
use copydesk_placement::NotHere;
use copydesk_rooms::RoomError;

use crate::rest::http_state::HttpState;
use crate::rest::problem::Problem;
use admission::{AdmittedRequest, come_in, sign};
pub use conversations::Conversations;
use driver::AnswerWork;
use server_tools::{ServerTools, check_model, uses_workspace};

/// Bytes per token, for an estimate if the model's provider does not count.
const TOKEN_BYTES: usize = 4;

/// Answers a request, as events or as one message.
pub(crate) async fn answer(State(app): State<HttpState>, request: Request) -> Response {
    let answered = async {
        let (entered, mut asked) = come_in(&app, request, RequestPurpose::Answer).await?;
        if let Some(refused) = refused_here(&app, &entered).await {
            return Ok(refused);
        }
        let tools = ServerTools::wanted(&app, &entered, &asked).await?;
        asked.check_choice(&tools.as_ref().map(ServerTools::names).unwrap_or_default())?;
        let chosen = choose(&app, &mut asked)?;
        check_model(&app.application, entered.document.as_ref(), &chosen.asked()).await?;
        let streamed = asked.stream;
        let work = AnswerWork::prepare(&app, entered, asked, chosen, tools).await?;
        if streamed {
            stream::answer(work, app.stream_ping).await
        } else {
            Ok(Json(work.go(None).await?).into_response())
        }
    };
    sign(answered.await)
}

/// Returns the refusal of a request about a document that another server has, or for a person whose
/// programs use the workspace there.
async fn refused_here(app: &HttpState, entered: &AdmittedRequest) -> Option<Response> {
    if !app.application.placement().is_shared() {
        return None;
    }
    let place = match &entered.document {
        Some(document) => app.application.rooms.claim(document).await,
        None if uses_workspace(app, &entered.caller.principal).await => {
            app.application.rooms.check_workspace_here().await
        }
        None => return None,
    };
    match place {
        Err(error @ RoomError::NotHere(NotHere::OtherServer(_))) => {
            let mut response = Problem::from(error).into_response();
            response.extensions_mut().insert(entered.counted.clone());
            Some(response)
        }
        // What else is wrong is found by the check of the request.
        Ok(()) | Err(_) => None,
    }
}

/// Counts the tokens of a request; estimates them if the provider does not count.
pub(crate) async fn count(State(app): State<HttpState>, request: Request) -> Response {
    let counted = async {
        let (entered, mut asked) = come_in(&app, request, RequestPurpose::Count).await?;
        if let Some(refused) = refused_here(&app, &entered).await {
            return Ok(refused);
        }
        let tools = ServerTools::wanted(&app, &entered, &asked).await?;
        asked.check_choice(&tools.as_ref().map(ServerTools::names).unwrap_or_default())?;
        let chosen = choose(&app, &mut asked)?;
        check_model(&app.application, entered.document.as_ref(), &chosen.asked()).await?;
        let request = driver::request(&asked, &chosen, tools.as_ref());
        let estimate = size(&request).div_ceil(TOKEN_BYTES).max(1);
        let counted = chosen.model.count(request).await;
        let tokens = counted.map_err(|error| ApiFailure::of_model(&error))?;
        Ok(Json(json!({"input_tokens": tokens.unwrap_or(estimate as u64)})).into_response())
    };
    sign(counted.await)
}

/// Lists the models, page by page.
pub(crate) async fn list_models(
    State(app): State<HttpState>,
    page: Result<Query<models::ModelPageQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let listed = async {
        admission::let_in(&app, &headers).await?;
        let Ok(Query(page)) = page else {
            return Err(ApiFailure::invalid("limit: is a number from 1 to 1000"));
        };
        Ok(Json(page.of(&app.application.agents.models_for_programs())?).into_response())
    };
    sign(listed.await)
}

/// Describes one model.
pub(crate) async fn one_model(
    State(app): State<HttpState>,
    Path(model): Path<String>,
    headers: HeaderMap,
) -> Response {
    let found = async {
        admission::let_in(&app, &headers).await?;
        models::choose(&app.application.agents, &model)?;
        Ok(Json(models::described(&model)).into_response())
    };
    sign(found.await)
}

/// Answers the first request of the Claude CLI, which has no key.
pub(crate) async fn hello() -> StatusCode {
    StatusCode::OK
}

/// Answers a request for a route that does not exist below `/v1`, in the API's format.
pub(crate) async fn no_route() -> Response {
    sign(Err(ApiFailure::new(404, "there is no such route")))
}

/// Answers a request with a method that the route does not have.
pub(crate) async fn no_method() -> Response {
    sign(Err(ApiFailure::new(405, "this route does not take that method")))
}

/// Returns the [`ChosenModel`], if it can do what is asked.
fn choose(app: &HttpState, asked: &mut CheckedRequest) -> Result<ChosenModel, ApiFailure> {
    let chosen = models::choose(&app.application.agents, &asked.model)?;
    let whole = chosen.model.name().starts_with("anthropic");
    if !whole {
        asked.plain()?;
        asked.check_taught()?;
    }
    let format = asked.more.get("output_config").and_then(|config| config.get("format"));
    if !whole && format.is_some_and(|format| !format.is_null()) {
        let words = "output_config.format: this model cannot promise a format";
        return Err(ApiFailure::invalid(words));
    }
    Ok(chosen)
}

/// Returns the approximate number of bytes of text in a [`llm::ModelRequest`].
fn size(request: &llm::ModelRequest) -> usize {
    let messages = request.messages.iter().map(|message| json!(message.content).to_string().len());
    let tools = request.tools.iter().map(|tool| json!(tool).to_string().len());
    request.system.len() + messages.sum::<usize>() + tools.sum::<usize>()
}
