//! Properties of a Word document: title, author and more, from its front matter.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::super::front_matter::FrontMatter;
use super::xml::{HEAD, escape};

/// Elements of `docProps/core.xml`, in its order, and the fields that they are made of.
const CORE: [(&str, &[&str]); 7] = [
    ("dc:title", &["title"]),
    ("dc:subject", &["subject", "subtitle"]),
    ("dc:creator", &["author", "authors", "creator"]),
    ("cp:keywords", &["keywords", "tags"]),
    ("dc:description", &["description", "abstract", "summary"]),
    ("dc:language", &["lang", "language"]),
    ("cp:category", &["category", "categories"]),
];
/// Most fields that become properties of their own, and their longest names and values in bytes.
const MOST_CUSTOM: usize = 200;
const LONGEST_NAME: usize = 200;

/// Returns `docProps/core.xml`. `title` is that of a document whose front matter has none.
pub(super) fn core(title: &str, front: &FrontMatter) -> String {
    let mut out = format!(
        "{HEAD}<cp:coreProperties xmlns:cp=\"http://schemas.openxmlformats.org/package/2006/metadata/core-properties\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:dcterms=\"http://purl.org/dc/terms/\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">"
    );
    for (element, fields) in CORE {
        let value = front.get(fields).or_else(|| (element == "dc:title").then_some(title));
        if let Some(value) = value {
            _ = write!(out, "<{element}>{}</{element}>", escape(value));
        }
    }
    if let Some(date) = front.get(&["date"]).and_then(w3c_date) {
        _ = write!(out, "<dcterms:created xsi:type=\"dcterms:W3CDTF\">{date}</dcterms:created>");
    }
    out.push_str("</cp:coreProperties>\n");
    out
}

/// Returns `docProps/custom.xml`: the fields that have no element of their own.
pub(super) fn custom(front: &FrontMatter) -> String {
    let mut out = format!(
        "{HEAD}<Properties xmlns=\"http://schemas.openxmlformats.org/officeDocument/2006/custom-properties\" \
         xmlns:vt=\"http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes\">"
    );
    let is_core = |name: &str, value: &str| {
        let taken = |fields: &[&str]| {
            front.get(fields) == Some(value)
                && fields.iter().any(|field| field.eq_ignore_ascii_case(name))
        };
        CORE.iter().any(|(_, fields)| taken(fields))
            || (taken(&["date"]) && w3c_date(value).is_some())
    };
    let mut names = HashSet::new();
    let fields = front.fields.iter().filter(|(name, value)| {
        !name.is_empty() && name.len() <= LONGEST_NAME && !value.is_empty() && !is_core(name, value)
    });
    for (name, value) in fields.take(MOST_CUSTOM) {
        // Names are unique, whatever their capital letters.
        if names.insert(name.to_lowercase()) {
            _ = write!(
                out,
                "<property fmtid=\"{{D5CDD505-2E9C-101B-9397-08002B2CF9AE}}\" pid=\"{}\" name=\"{}\">\
                 <vt:lpwstr>{}</vt:lpwstr></property>",
                names.len() + 1,
                escape(name),
                escape(value)
            );
        }
    }
    out.push_str("</Properties>\n");
    out
}

/// Returns a date as properties have it; `None` if it is none.
fn w3c_date(date: &str) -> Option<String> {
    if let Ok(at) = date.parse::<jiff::Timestamp>() {
        return Some(format!("{at:.0}"));
    }
    let day: jiff::civil::DateTime = date.parse().ok()?;
    Some(format!("{day:.0}Z"))
}
