//! `copydesk spending`, `copydesk share` and `copydesk person`.

use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::cli::{DocumentRoleArg, PersonArgs, ShareArgs, SpendingArgs};
use crate::commands::tokens::login_named;
use copydesk_client::show;

use super::{client, say, say_answer, say_json};

/// Shows the spending of a month. A limit is set or removed first.
pub(crate) async fn spending(args: SpendingArgs) -> Result<()> {
    let client = client(&args.server)?;
    let spending = if let Some(limit) = &args.limit {
        client.put(&["spending", "limits"], &wanted(&args, limit)?).await?
    } else {
        let month = args.month.as_deref().map(|month| ("month", month));
        client.get(&["spending"], &Vec::from_iter(month)).await?
    };
    say_answer(&args.server, &spending, show::spending)
}

fn wanted(args: &SpendingArgs, limit: &str) -> Result<Value> {
    let usd = match limit {
        "none" => None,
        number => {
            // What is no number would be sent as `null`, which removes a limit.
            let usd = number.parse().ok().filter(|usd: &f64| usd.is_finite());
            Some(usd.context("--limit is a number of US dollars, or none")?)
        }
    };
    // The command line requires one of them.
    let (kind, id) = match (&args.person, &args.document) {
        (Some(person), _) => ("person", Some(person)),
        (None, Some(document)) => ("document", Some(document)),
        (None, None) if args.everyone => ("everyone", None),
        (None, None) => ("server", None),
    };
    let mut wish = json!({"for": kind, "usd": usd});
    if let Some(id) = id {
        wish["id"] = json!(id);
    }
    Ok(wish)
}

/// Gives a role in a document, takes it, or lists the roles that were given.
pub(crate) async fn share(args: ShareArgs) -> Result<()> {
    let client = client(&args.server)?;
    let path = ["documents", &args.document, "roles"];
    let named = [("login", &args.login), ("email", &args.email), ("group", &args.group)];
    let named = named.into_iter().find_map(|(kind, name)| Some((kind, name.as_deref()?)));
    if let Some((kind, name)) = named {
        if args.remove {
            client.delete(&path, &[(kind, name)]).await?;
            return Ok(());
        }
        // The command line requires one of both.
        let role = args.role.map_or("", DocumentRoleArg::as_str);
        let line = client.put(&path, &json!({kind: name, "role": role})).await?;
        return if args.server.json { say_json(&line) } else { Ok(()) };
    }
    let list = client.get(&path, &[]).await?;
    say_answer(&args.server, &list, show::document_roles)
}

/// Interval at which the end of a deletion is looked for.
const LOOK: Duration = Duration::from_secs(1);

/// Lists people, shows what is stored of one, or deletes it and waits for the end.
pub(crate) async fn person(args: PersonArgs) -> Result<()> {
    let client = client(&args.server)?;
    let Some(person) = &args.person else {
        let people = show::people(&client.get(&["tokens"], &[]).await?);
        return if args.server.json {
            say_json(&json!({"people": people}))
        } else {
            say(&show::people_table(&people))
        };
    };
    let id = if person.contains('@') {
        login_named(&client.tokens().await?, person)?
    } else {
        person.clone()
    };
    if !args.delete {
        let preview = client.get(&["people", &id], &[]).await?;
        return say_answer(&args.server, &preview, show::person_preview);
    }
    let query: &[_] = if args.private_documents { &[("privateDocuments", "delete")] } else { &[] };
    let mut deletion = client.delete_with_answer(&["people", &id], query).await?;
    while deletion["state"] == "deleting" {
        tokio::time::sleep(LOOK).await;
        // What was begun is not begun again.
        deletion = client.delete_with_answer(&["people", &id], query).await?;
    }
    say_answer(&args.server, &deletion, show::person_deletion)
}
