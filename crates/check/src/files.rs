//! Check of workspace files that are documents: their records must be possible.

use std::collections::HashMap;

use copydesk_ids::{DocumentId, Version};
use copydesk_store::StoreInspection;

use super::CheckReport;

/// Checks that each file's document exists and is at least at the version that the file is recorded
/// to have.
pub(super) async fn files(
    at: &mut StoreInspection,
    versions: &HashMap<DocumentId, Version>,
    report: &mut CheckReport,
) {
    let files = at.files().await;
    for file in report.read("file.row", "the files", files).into_iter().flatten() {
        let Some(file) = report.read("file.row", "a file", file) else { continue };
        let Some(newest) = versions.get(&file.document) else {
            report.find("file", &file.path, "its document does not exist");
            continue;
        };
        let next = file.writing.map_or(file.version, |(version, _)| version);
        if file.version.max(next) > *newest {
            let message = format!("it is at version {next}, its document at {newest}");
            report.find("file", &file.path, message);
        }
    }
}
