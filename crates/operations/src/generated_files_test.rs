//! Tests that keep what is written from the table equal to it: the editor's types of all calls and
//! events of the server, and the table of the documentation.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use copydesk_operation_table::Operation;

use crate::{server_events, table};

/// Page of the documentation before the lines of its table.
const PAGE: &str = "\
# Operations

Written from `crates/operations/src` by `COPYDESK_BLESS=1 cargo test -p copydesk-operations`; do not edit.

All that a client may ask of the server: by an event of [socket.io](socketio.md), by a route of [REST](rest.md) below `/api/v1`, or by
both. The right is what the caller must be allowed to do, and to what: `OnServer(Administer)` is an owner's, and `Anyone` is everybody with a
token. A list leaves out what the caller may not read. Who may decide a
request is also judged by its policy when the decision is taken, so the right here is only to see it. [Sharing](../sharing.md) says which role may do what.

| event | route | right | what it does |
|---|---|---|---|
";

/// Writes `text` if `COPYDESK_BLESS` is set; otherwise compares it with the file.
fn settle(path: &str, text: &str) {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path);
    if std::env::var_os("COPYDESK_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let current = std::fs::read_to_string(&path).unwrap_or_default();
    let command = "COPYDESK_BLESS=1 cargo test -p copydesk-operations";
    assert!(current == text, "{} is not current; run `{command}`", path.display());
}

#[test]
fn the_editor_knows_all_calls_and_events() {
    let events = table().all().iter().filter_map(|it| it.event.map(|event| (event, it)));
    let mut calls = String::new();
    let mut types = BTreeSet::new();
    for (event, operation) in events {
        let Operation { summary, input, output, ack_field, .. } = operation;
        let (input, output) = (input.name, output.name);
        types.extend([input, output]);
        let output = match ack_field {
            _ if !operation.has_output() => "object".to_owned(),
            Some(field) => format!("{{ {field}: {output} }}"),
            None => output.to_owned(),
        };
        let input = if input == "Nothing" { "object" } else { input };
        writeln!(calls, "  /** {summary}. */\n  '{event}': [{input}, {output}]").unwrap();
    }
    let mut sent = String::new();
    for (event, payload) in server_events() {
        types.insert(payload);
        writeln!(sent, "  '{event}': {payload}").unwrap();
    }
    types.retain(|name| !["()", "Nothing"].contains(name));
    let types: Vec<_> = types.into_iter().collect();
    let file = format!(
        "// Written from crates/operations/src by `COPYDESK_BLESS=1 cargo test -p copydesk-operations`; do not edit.\n\n\
         import type {{\n  {},\n}} from './generated.ts'\n\n\
         /** Payload and answer of each event that a client sends. */\n\
         export interface Calls {{\n{calls}}}\n\n\
         /** Payload of each event that the server sends. */\n\
         export interface ServerEvents {{\n{sent}}}\n",
        types.join(",\n  "),
    );
    settle("web/src/wire/calls.generated.ts", &file);
}

#[test]
fn the_documentation_lists_all_operations() {
    let mut page = String::from(PAGE);
    for operation in table().all() {
        let Operation { event, route, right, summary, .. } = operation;
        let event = event.map(|event| format!("`{event}`")).unwrap_or_default();
        let route = route.as_ref().map(|route| {
            let (method, url) = (route.method.to_uppercase(), route.url());
            format!("`{method} {}`", url.trim_start_matches("/api/v1"))
        });
        let route = route.unwrap_or_default();
        writeln!(page, "| {event} | {route} | `{}` | {summary} |", right.name).unwrap();
    }
    settle("docs/api/operations.md", &page);
}
