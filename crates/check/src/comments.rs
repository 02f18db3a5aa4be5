//! Check of threads of comments: each row must match its thread, and each thread must be consistent
//! in itself and be on a passage of the text at its version.

use copydesk_comments::CommentThread;
use copydesk_document::Text;
use copydesk_ids::Version;
use copydesk_store::{DocumentRecord, StoreInspection, ThreadRecord};

use super::CheckReport;

/// Threads of one document that were not compared with the text yet, oldest version first.
#[derive(Default)]
pub(super) struct CheckedThreads(Vec<CommentThread>);

impl CheckedThreads {
    pub async fn read(
        at: &mut StoreInspection,
        document: &DocumentRecord,
        report: &mut CheckReport,
    ) -> Self {
        let records = at.threads(&document.id).await;
        let records = report.read("comment.row", document.id.as_str(), records);
        let mut threads = Vec::new();
        for record in records.into_iter().flatten() {
            report.seen.threads += 1;
            let Some(record) = report.read("comment.row", "a thread", record) else { continue };
            let ThreadRecord { id, resolved, version, anchor, body, .. } = record;
            let thread = match CommentThread::read(id.clone(), version, &anchor, &body) {
                Ok(thread) => thread,
                Err(error) => {
                    report.find("comment.row", &id, format!("cannot be read: {error}"));
                    continue;
                }
            };
            for message in thread.contradictions() {
                report.find("comment.thread", &id, message);
            }
            if thread.content.resolved.is_some() != resolved {
                report.find("comment.row", &id, "its row has another status than the thread");
            }
            threads.push(thread);
        }
        let numbers = at.comment_numbers(&document.id).await;
        let numbers = report.read("comment.row", document.id.as_str(), numbers);
        for (id, number) in numbers.into_iter().flatten() {
            let of = threads.iter().find(|thread| thread.id == id);
            if of.is_some_and(|of| number > of.content.comments.len() as u64) {
                report.find(
                    "comment.row",
                    &id,
                    format!("comment {number} is read, or mentions a person, and is not there"),
                );
            }
        }
        threads.sort_by_key(|thread| std::cmp::Reverse(thread.version));
        Self(threads)
    }

    /// Compares the threads of this version with the text.
    pub fn arrive(&mut self, version: Version, text: Option<&Text>, report: &mut CheckReport) {
        while let Some(thread) = self.0.pop_if(|thread| thread.version <= version) {
            let Some(text) = text.filter(|_| thread.version == version) else { continue };
            if let Some(message) = thread.misplaced_in(text) {
                let message = format!("{message}, at version {version}");
                report.find("comment.place", &thread.id, message);
            }
        }
    }

    /// Reports the threads of versions that do not exist.
    pub fn end(&self, report: &mut CheckReport) {
        for CommentThread { id, version, .. } in &self.0 {
            let message = format!("its positions are of version {version}, which does not exist");
            report.find("comment.place", id, message);
        }
    }
}
