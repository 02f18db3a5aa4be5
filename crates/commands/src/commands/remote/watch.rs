//! `copydesk watch`: reports new requests and the ends of requests, by polling the server.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use crate::cli::WatchArgs;
use copydesk_client::{ClientError, ClientResult, ServerClient, next_cursor, show};

use super::super::CommandOutcome;
use super::{client, open, say, say_json, style, text_of};

/// Polling interval.
const LOOK: Duration = Duration::from_secs(1);

/// Prints new requests and their ends until interrupted, waiting for a server that goes away.
pub(crate) async fn watch(args: WatchArgs) -> Result<CommandOutcome> {
    let client = client(&args.server)?;
    let document = args.document.as_deref();
    let mut watching = KnownRequests::default();
    let mut is_gone = false;
    loop {
        match look(&client, document, &watching).await {
            Ok((open, ended)) => {
                if std::mem::take(&mut is_gone) {
                    eprintln!("copydesk: the server answers again");
                }
                for news in watching.changes_since(open, ended) {
                    tell(&client, &news, args.server.json).await?;
                }
            }
            Err(error) if watching.has_begun && comes_back(&error) => {
                if !std::mem::replace(&mut is_gone, true) {
                    eprintln!("copydesk: {error} (retrying)");
                }
            }
            Err(error) => return Err(error.into()),
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            _ = tokio::signal::ctrl_c() => return Ok(CommandOutcome::Fine),
        }
    }
}

/// Returns `true` if the server may answer the question later.
fn comes_back(error: &ClientError) -> bool {
    match error {
        ClientError::Unreachable { .. } | ClientError::Closed { .. } => true,
        ClientError::Refused { status, .. } | ClientError::Strange { status, .. } => {
            status.is_server_error() || status.as_u16() == 429
        }
        ClientError::Address(_)
        | ClientError::Authorities
        | ClientError::Token
        | ClientError::NotAdmitted { .. } => false,
    }
}

/// Returns the open requests, and the ended ones as far back as there are unknown ones.
async fn look(
    client: &ServerClient,
    document: Option<&str>,
    watching: &KnownRequests,
) -> ClientResult<(Vec<Value>, Vec<Value>)> {
    let mut open = open(client, document).await?;
    let of: Vec<_> = document.map(|id| ("documentId", id)).into_iter().collect();
    let query = [&[("state", "ended")], &of[..]].concat();
    let mut ended: Vec<Value> = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let more: Vec<_> = cursor.iter().map(|cursor| ("cursor", cursor.as_str())).collect();
        let page = client.get(&["requests"], &[&query[..], &more].concat()).await?;
        cursor = next_cursor(&page);
        let found = page["requests"].as_array().cloned().unwrap_or_default();
        let is_news = found.iter().all(|request| !watching.over.contains(id(request)));
        ended.extend(found);
        if cursor.is_none() || !watching.has_begun || !is_news {
            break;
        }
    }
    // Ended requests of private documents are in no list; an unreadable one's document is gone.
    let listed: BTreeSet<&str> = open.iter().chain(&ended).map(id).collect();
    let lost = watching.open.iter().filter(|known| !listed.contains(known.as_str()));
    let mut found = Vec::new();
    for known in lost {
        match client.get(&["requests", known], &[]).await {
            Ok(request) => found.push(request),
            Err(error) if comes_back(&error) => return Err(error),
            Err(_) => {}
        }
    }
    // A request that was opened in between is still open.
    let (still, over) = found.into_iter().partition(|request| request["status"] == "pending");
    open.extend::<Vec<Value>>(still);
    ended.extend::<Vec<Value>>(over);
    Ok((open, ended))
}

async fn tell(client: &ServerClient, news: &RequestChange, as_json: bool) -> Result<()> {
    match news {
        RequestChange::Waits(request) if as_json => {
            say_json(&json!({"type": "tool_approval_request", "request": request}))
        }
        RequestChange::Waits(request) => {
            let text = text_of(client, request).await;
            say(&show::request(request, text.as_deref(), style()))
        }
        RequestChange::Over(request) if as_json => {
            say_json(&json!({"type": "tool_approval_resolved", "request": request}))
        }
        RequestChange::Over(request) => say(&format!("{}\n", show::request_line(request))),
    }
}

fn id(request: &Value) -> &str {
    request["request_id"].as_str().unwrap_or_default()
}

#[derive(Debug, Default)]
struct KnownRequests {
    has_begun: bool,
    open: BTreeSet<String>,
    /// Requests that ended, and were reported or are no news.
    over: BTreeSet<String>,
}

/// Change to report.
#[derive(Debug, PartialEq)]
enum RequestChange {
    /// Request that waits for people.
    Waits(Value),
    /// Request that was decided, expired, or was withdrawn; perhaps before it was ever seen open.
    Over(Value),
}

impl KnownRequests {
    /// Returns the changes since the last call. The first call reports only open requests.
    fn changes_since(&mut self, open: Vec<Value>, ended: Vec<Value>) -> Vec<RequestChange> {
        let mut changes: BTreeMap<String, RequestChange> = BTreeMap::new();
        // Ended requests were read last: a request in both lists has ended in between.
        let last: BTreeSet<String> = ended.iter().map(|request| id(request).to_owned()).collect();
        for request in ended {
            let id = id(&request).to_owned();
            let waited = self.open.remove(&id);
            let is_new = self.over.insert(id.clone());
            if waited || (is_new && self.has_begun) {
                changes.insert(id, RequestChange::Over(request));
            }
        }
        let known = std::mem::take(&mut self.open);
        for request in open.into_iter().filter(|request| !last.contains(id(request))) {
            let id = id(&request).to_owned();
            self.open.insert(id.clone());
            self.over.remove(&id);
            if !known.contains(&id) {
                changes.insert(id, RequestChange::Waits(request));
            }
        }
        self.has_begun = true;
        // In the order in which the requests were made.
        changes.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(id: &str) -> Value {
        json!({"request_id": id})
    }

    fn changes_after(
        watching: &mut KnownRequests,
        open: &[&str],
        ended: &[&str],
    ) -> Vec<RequestChange> {
        let all = |ids: &[&str]| ids.iter().map(|id| request(id)).collect();
        watching.changes_since(all(open), all(ended))
    }

    #[test]
    fn what_waits_is_told_once_and_so_is_its_end_and_what_was_over_before_is_not() {
        let mut watching = KnownRequests::default();
        let waits = |id: &str| RequestChange::Waits(request(id));
        let over = |id: &str| RequestChange::Over(request(id));
        assert_eq!(changes_after(&mut watching, &["b"], &["a"]), [waits("b")]);
        assert_eq!(changes_after(&mut watching, &["b"], &["a"]), []);
        // One ends, another comes, and a third has come and gone.
        assert_eq!(
            changes_after(&mut watching, &["d"], &["c", "b", "a"]),
            [over("b"), over("c"), waits("d")]
        );
        assert_eq!(changes_after(&mut watching, &["d"], &["c", "b", "a"]), []);
        // The request ended between the two questions.
        assert_eq!(changes_after(&mut watching, &["d"], &["d", "c", "b", "a"]), [over("d")]);
        // Its document was deleted, so its end is unknown.
        assert_eq!(changes_after(&mut watching, &["e"], &["c", "b", "a"]), [waits("e")]);
        assert_eq!(changes_after(&mut watching, &[], &["c", "b", "a"]), []);
    }
}
