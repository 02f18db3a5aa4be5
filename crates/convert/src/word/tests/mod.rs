//! Word documents made of their XML, and what becomes of them.

mod comments;
mod files;
mod limits;
mod lists;
mod looks;
mod notes;
mod tables;
mod tracked;
mod words;

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::from_word;
use crate::Converted;

const NAMESPACES: &str = concat!(
    "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" ",
    "xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" ",
    "xmlns:m=\"http://schemas.openxmlformats.org/officeDocument/2006/math\" ",
    "xmlns:wp=\"http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing\" ",
    "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" ",
    "xmlns:v=\"urn:schemas-microsoft-com:vml\" xmlns:o=\"urn:schemas-microsoft-com:office:office\" ",
    "xmlns:mc=\"http://schemas.openxmlformats.org/markup-compatibility/2006\" ",
    "xmlns:w14=\"http://schemas.microsoft.com/office/word/2010/wordml\" ",
    "xmlns:w15=\"http://schemas.microsoft.com/office/word/2012/wordml\""
);
const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// Word document that is being made.
#[derive(Default)]
struct Docx {
    body: String,
    /// Content of the parts `styles`, `numbering`, `footnotes` and others, without their roots.
    parts: Vec<(&'static str, String)>,
    /// Address of each external relation; the first is `out0`.
    links: Vec<(&'static str, &'static str)>,
}

impl Docx {
    fn new(body: impl Into<String>) -> Self {
        Self { body: body.into(), ..Self::default() }
    }

    fn part(mut self, name: &'static str, content: impl Into<String>) -> Self {
        self.parts.push((name, content.into()));
        self
    }

    fn link(mut self, kind: &'static str, address: &'static str) -> Self {
        self.links.push((kind, address));
        self
    }

    fn files(&self) -> Vec<(String, String)> {
        let document =
            format!("<w:document {NAMESPACES}><w:body>{}</w:body></w:document>", self.body);
        let mut relations = String::new();
        let mut files = vec![("word/document.xml".to_owned(), document)];
        for (name, content) in &self.parts {
            _ = write!(
                relations,
                "<Relationship Id=\"{name}\" Type=\"{RELATIONS}/{name}\" Target=\"{name}.xml\"/>"
            );
            files.push((
                format!("word/{name}.xml"),
                format!("<w:{name} {NAMESPACES}>{content}</w:{name}>"),
            ));
        }
        for (number, (kind, address)) in self.links.iter().enumerate() {
            _ = write!(
                relations,
                "<Relationship Id=\"out{number}\" Type=\"{RELATIONS}/{kind}\" Target=\"{address}\" TargetMode=\"External\"/>"
            );
        }
        files.push((
            "word/_rels/document.xml.rels".to_owned(),
            format!("<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{relations}</Relationships>"),
        ));
        files
    }

    fn bytes(&self) -> Vec<u8> {
        zipped(&self.files())
    }

    fn read(&self) -> Converted {
        from_word(&self.bytes()).unwrap()
    }

    fn markdown(&self) -> String {
        self.read().markdown
    }
}

fn zipped(files: &[(String, String)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Returns a run with these words.
fn r(words: &str) -> String {
    styled("", words)
}

/// Returns a run with properties.
fn styled(properties: &str, words: &str) -> String {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    format!("<w:r><w:rPr>{properties}</w:rPr><w:t xml:space=\"preserve\">{words}</w:t></w:r>")
}

/// Returns a paragraph with this content.
fn p(content: impl AsRef<str>) -> String {
    para("", content)
}

/// Returns a paragraph with properties.
fn para(properties: &str, content: impl AsRef<str>) -> String {
    format!("<w:p><w:pPr>{properties}</w:pPr>{}</w:p>", content.as_ref())
}

/// Returns what is left out, as kind and number.
fn left_out(read: &Converted) -> Vec<(&str, u32)> {
    read.report.left_out.iter().map(|it| (it.kind.as_str(), it.count)).collect()
}

fn decided(read: &Converted) -> Vec<(&str, u32)> {
    read.report.decided.iter().map(|it| (it.kind.as_str(), it.count)).collect()
}
