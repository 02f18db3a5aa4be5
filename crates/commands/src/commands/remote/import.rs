//! `copydesk import`: makes text files documents of a running server.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::cli::ImportArgs;
use crate::commands::CommandOutcome;

use super::{client, say, say_json};

/// Endings of the names of text files.
const ENDINGS: [&str; 3] = ["md", "markdown", "txt"];
/// Maximum file, in bytes: no server takes a longer document.
const LARGEST: u64 = 32 * 1024 * 1024;
/// Character that some editors write before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Makes a document of each file. Nothing is created before all files were read.
pub(crate) async fn import(args: ImportArgs) -> Result<CommandOutcome> {
    if args.title.is_some() && args.file.len() > 1 {
        bail!("--title is for one file; several get their names as titles");
    }
    let mut wishes = Vec::with_capacity(args.file.len());
    for file in &args.file {
        let title = args.title.clone().unwrap_or_else(|| name(file));
        wishes.push((file, json!({"title": title, "text": text(file).await?})));
    }
    let client = client(&args.server)?;
    let mut made: Vec<Value> = Vec::with_capacity(wishes.len());
    for (file, wish) in wishes {
        let document = client.post(&["documents"], &wish).await;
        let document = document.with_context(|| format!("cannot import {}", file.display()))?;
        if !args.server.json {
            say(&format!("{}\n", document["id"].as_str().unwrap_or_default()))?;
        }
        made.push(document);
    }
    if args.server.json {
        say_json(&json!({"documents": made}))?;
    }
    Ok(CommandOutcome::Fine)
}

/// Returns the name of a file, without its ending.
fn name(file: &Path) -> String {
    file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns the text of a file, if it is a text file.
async fn text(file: &Path) -> Result<String> {
    let shown = file.display();
    let ending = file.extension().map(|it| it.to_string_lossy().to_lowercase());
    if !ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str())) {
        bail!(
            "{shown} is not a supported text file; supported extensions: .{}",
            ENDINGS.join(", .")
        );
    }
    let about = tokio::fs::metadata(file).await;
    let about = about.with_context(|| format!("cannot read {shown}"))?;
    if !about.is_file() {
        bail!("{shown} is not a file");
    }
    if about.len() > LARGEST {
        bail!("{shown} is longer than a document may be");
    }
    let bytes = tokio::fs::read(file).await.with_context(|| format!("cannot read {shown}"))?;
    let Ok(text) = String::from_utf8(bytes) else {
        bail!("{shown} is not in UTF-8");
    };
    Ok(text.strip_prefix(BYTE_ORDER_MARK).map(str::to_owned).unwrap_or(text))
}
