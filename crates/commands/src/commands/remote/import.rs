//! `copydesk import`: makes files documents of a running server.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::cli::ImportArgs;
use crate::commands::CommandOutcome;
use copydesk_client::show;

use super::{client, say, say_json};

/// Endings of the names of files that can be imported.
const ENDINGS: [&str; 6] = ["docx", "html", "htm", "md", "markdown", "txt"];
/// Maximum file, in bytes: no server takes a longer one.
const LARGEST: u64 = 32 * 1024 * 1024;

/// Makes a document of each file. Nothing is created before all files were read.
pub(crate) async fn import(args: ImportArgs) -> Result<CommandOutcome> {
    if args.title.is_some() && args.file.len() > 1 {
        bail!("--title is for one file; several get their names as titles");
    }
    let mut wishes = Vec::with_capacity(args.file.len());
    for file in &args.file {
        let title = args.title.clone().unwrap_or_else(|| stem(file));
        wishes.push((file, title, content(file).await?));
    }
    let client = client(&args.server)?;
    let mut made: Vec<Value> = Vec::with_capacity(wishes.len());
    for (file, title, content) in wishes {
        let name = file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let query = [("title", title.as_str()), ("name", &name)];
        let answer = client.post_file(&["documents", "import"], &query, content).await;
        let mut answer = answer.with_context(|| format!("cannot import {}", file.display()))?;
        if !args.server.json {
            say(&format!("{}\n", answer["document"]["id"].as_str().unwrap_or_default()))?;
            for line in show::import_report(&answer) {
                eprintln!("copydesk: {name}: {line}");
            }
        }
        let mut document = answer["document"].take();
        for field in ["requests", "comments", "report"] {
            document[field] = answer[field].take();
        }
        made.push(document);
    }
    if args.server.json {
        say_json(&json!({"documents": made}))?;
    }
    Ok(CommandOutcome::Fine)
}

fn stem(file: &Path) -> String {
    file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns the content of a file, if it is of a kind that can be imported.
async fn content(file: &Path) -> Result<Vec<u8>> {
    let shown = file.display();
    let ending = file.extension().map(|it| it.to_string_lossy().to_lowercase());
    if !ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str())) {
        bail!("{shown} is not a supported file; supported extensions: .{}", ENDINGS.join(", ."));
    }
    let about = tokio::fs::metadata(file).await;
    let about = about.with_context(|| format!("cannot read {shown}"))?;
    if !about.is_file() {
        bail!("{shown} is not a file");
    }
    if about.len() > LARGEST {
        bail!("{shown} is longer than 32 MB, the longest file that can be imported");
    }
    tokio::fs::read(file).await.with_context(|| format!("cannot read {shown}"))
}
