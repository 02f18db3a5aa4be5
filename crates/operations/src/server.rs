//! The server as a whole: the caller, settings, spending, work in progress, storage and people.

use serde_json::{Map, Value};

use copydesk_api::{ApiError, ApiResult, Caller};
use copydesk_ids::permissions::Action::{Administer, Ask};
use copydesk_operation_table::{
    Anyone, BodyKind, OnAnyDocument, OnServer, Operation, operation, transport_handled,
};
use copydesk_protocol::administration::{
    DeletePerson, MonthSpending, NamePerson, PersonDeletion, PersonPreview, ReadSpending,
    SetSpendingLimit, StopRun, StoredSizes, WorkInProgress,
};
use copydesk_protocol::client::{Nothing, SetSettings, UseServerTools};
use copydesk_protocol::names::PrivateDocuments;
use copydesk_protocol::queries::ListPart;
use copydesk_protocol::rest::{AuditPage, Me, ProxyHeaders};
use copydesk_protocol::server::{Person, Settings};
use copydesk_protocol_conversion as wire;

/// Operations of this file.
#[rustfmt::skip]
pub(crate) fn operations() -> Vec<Operation> {
    vec![
        transport_handled::<_, Nothing, Map<String, Value>>("This document", Anyone).get("/openapi.json", "getOpenapi").body(BodyKind::NoBodyNoToken),
        operation("Who you are, and what this server offers", Anyone, me).get("/me", "getMe"),
        operation("The server's settings", Anyone, settings).event("settings:get").ack_in("settings").get("/settings", "getSettings"),
        operation("Change the server's settings; missing fields stay as they are", OnServer(Administer), configure).event("settings:set").ack_in("settings").patch("/settings", "setSettings"),
        transport_handled::<_, ListPart, AuditPage>("The audit log of the server, newest first", OnServer(Administer)).get("/audit", "getAudit"),
        operation("What models have cost in a month, by person and by document, with the limits", OnServer(Administer), spending).event("spending:get").get("/spending", "getSpending"),
        operation("Set or remove a spending limit", OnServer(Administer), set_limit).event("spending:limit").put("/spending/limits", "setSpendingLimit"),
        operation("Runs that have not ended, anybody's, and the number of open requests", OnServer(Administer), work).event("server:work").get("/server/work", "getWork"),
        operation("Sizes of what is stored", OnServer(Administer), storage).event("server:storage").get("/server/storage", "getStorage"),
        transport_handled::<_, Nothing, ProxyHeaders>("Headers of this request that a proxy sets", OnServer(Administer)).get("/server/proxy-headers", "getProxyHeaders"),
        operation("Stop anybody's run", OnServer(Administer), stop_run).event("server:stop").post("/server/stop", "stopRun"),
        operation("What is stored of a person, and what a deletion would delete, rename and keep", OnServer(Administer), person).event("person:preview").get("/people/{user=id}", "getPerson"),
        operation("Delete the data of a person", OnServer(Administer), delete_person).event("person:delete").delete("/people/{user=id}", "deletePerson"),
        operation("Tools of this server that your programs may use over the Messages API", OnAnyDocument(Ask), tools).get("/server-tools", "getServerTools"),
        operation("Set the tools that your programs may use", OnAnyDocument(Ask), use_tools).put("/server-tools", "setServerTools"),
    ]
}

async fn me(caller: Caller, (): (), _: Nothing) -> ApiResult<Me> {
    let Caller { application, principal, .. } = caller;
    let (agents, document) = (&application.agents, principal.document.as_ref());
    let modes = agents.modes(&principal, document).into_iter();
    Ok(Me {
        permission_mode: wire::permission_mode(agents.default_mode(&principal, document)),
        permission_modes: modes.map(wire::permission_mode).collect(),
        user: Person { id: principal.user.to_string(), name: principal.name },
        role: principal.role,
        document_id: principal.document.as_ref().map(ToString::to_string),
        models: agents.catalog().names(),
        settings: wire::settings(&application.rooms.settings()),
    })
}

async fn settings(caller: Caller, (): (), _: Nothing) -> ApiResult<Settings> {
    Ok(wire::settings(&caller.application.rooms.settings()))
}

async fn configure(caller: Caller, (): (), input: SetSettings) -> ApiResult<Settings> {
    let Caller { application, principal, .. } = caller;
    let wanted = wire::server_settings(&input, application.rooms.settings());
    let wanted = wanted.map_err(ApiError::unprocessable)?;
    if input.permission_mode.is_some() {
        application.agents.check_mode(wanted.permission_mode, &principal, None)?;
    }
    application.rooms.set_settings(wanted, &principal).await?;
    Ok(wire::settings(&application.rooms.settings()))
}

async fn spending(caller: Caller, (): (), input: ReadSpending) -> ApiResult<MonthSpending> {
    let month = wire::spending_month(&input).map_err(ApiError::invalid)?;
    Ok(wire::spending(caller.spending(month).await?))
}

async fn set_limit(caller: Caller, (): (), input: SetSpendingLimit) -> ApiResult<MonthSpending> {
    let (scope, amount) = wire::wanted_limit(input).map_err(ApiError::unprocessable)?;
    Ok(wire::spending(caller.set_spending_limit(scope, amount).await?))
}

async fn work(caller: Caller, (): (), _: Nothing) -> ApiResult<WorkInProgress> {
    Ok(wire::work(caller.server_work().await?))
}

async fn stop_run(caller: Caller, (): (), input: StopRun) -> ApiResult<()> {
    caller.stop_any_run(input.session_id.into(), input.request_id.into()).await
}

async fn storage(caller: Caller, (): (), _: Nothing) -> ApiResult<StoredSizes> {
    Ok(wire::storage(caller.storage_sizes().await?))
}

async fn person(caller: Caller, (): (), input: NamePerson) -> ApiResult<PersonPreview> {
    Ok(wire::person_preview(caller.person(&input.id.into()).await?))
}

async fn delete_person(caller: Caller, (): (), input: DeletePerson) -> ApiResult<PersonDeletion> {
    let DeletePerson { id, private_documents } = input;
    let with_documents = private_documents == Some(PrivateDocuments::Delete);
    Ok(wire::person_deletion(&caller.delete_person(&id.into(), with_documents).await?))
}

async fn tools(caller: Caller, (): (), _: Nothing) -> ApiResult<UseServerTools> {
    let tools = caller.application.server_tools(&caller.principal.user).await?;
    Ok(UseServerTools { tools })
}

async fn use_tools(caller: Caller, (): (), input: UseServerTools) -> ApiResult<UseServerTools> {
    let UseServerTools { mut tools } = input;
    tools.sort();
    tools.dedup();
    caller.enable_server_tools(&tools).await?;
    Ok(UseServerTools { tools })
}
