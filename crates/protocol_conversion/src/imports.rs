//! Imported files and converted HTML, on the wire.

use copydesk_api::DocumentImport;
use copydesk_convert::{Decided, LeftOut, Report};

use super::{created, request};
use copydesk_protocol::rest;

/// Returns the document of an imported file.
pub fn imported(import: DocumentImport) -> rest::ImportedDocument {
    let DocumentImport { document, requests, comments, report: told } = import;
    rest::ImportedDocument {
        document: created(document),
        requests: requests.iter().map(|it| request(it)).collect(),
        comments,
        report: report(told),
    }
}

/// Returns HTML that became Markdown.
pub fn converted((markdown, told): (String, Report)) -> rest::ConvertedHtml {
    rest::ConvertedHtml { markdown, report: report(told) }
}

fn report(Report { left_out, decided }: Report) -> rest::ImportReport {
    let missing = |LeftOut { kind, count, example }| rest::LeftOut { kind, count, example };
    let chosen = |Decided { kind, count }| rest::ImportChoice { kind, count };
    rest::ImportReport {
        left_out: left_out.into_iter().map(missing).collect(),
        decided: decided.into_iter().map(chosen).collect(),
    }
}
