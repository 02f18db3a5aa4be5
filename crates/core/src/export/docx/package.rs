//! Package of a Word document: its parts in one zip, with identical bytes for identical documents.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::super::ExportError;
use super::super::annotated::AnnotatedText;
use super::body::{DocxParts, attributes};
use super::xml::escape;

/// First line of every part.
pub(super) const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";

const CONTENT_TYPES: &str = include_str!("parts/content_types.xml");
const PACKAGE_RELATIONS: &str = include_str!("parts/package_rels.xml");
const STYLES: &str = include_str!("parts/styles.xml");
const SETTINGS: &str = include_str!("parts/settings.xml");

const WORD: &str = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"";
const RELATION: &str =
    "xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";
const KIND: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// Returns the content of the file.
pub(super) fn pack(
    title: &str,
    document: &DocxParts,
    marked: &AnnotatedText,
) -> Result<Vec<u8>, ExportError> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    // The time of packing would make the bytes of every export differ.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default());
    for (name, content) in [
        ("[Content_Types].xml", CONTENT_TYPES),
        ("_rels/.rels", PACKAGE_RELATIONS),
        ("docProps/core.xml", &core(title)),
        ("word/document.xml", &text(&document.body)),
        ("word/styles.xml", STYLES),
        ("word/settings.xml", SETTINGS),
        ("word/numbering.xml", &document.numbering),
        ("word/comments.xml", &comments(marked)),
        ("word/_rels/document.xml.rels", &relations(&document.addresses)),
    ] {
        zip.start_file(name, options)?;
        zip.write_all(content.as_bytes())?;
    }
    Ok(zip.finish()?.into_inner())
}

fn text(body: &str) -> String {
    format!(
        "{HEAD}<w:document {WORD} {RELATION}>\n<w:body>\n{body}<w:sectPr><w:pgSz w:w=\"11906\" w:h=\"16838\"/>\
         <w:pgMar w:top=\"1440\" w:right=\"1440\" w:bottom=\"1440\" w:left=\"1440\" w:header=\"708\" w:footer=\"708\" \
         w:gutter=\"0\"/></w:sectPr>\n</w:body>\n</w:document>\n"
    )
}

fn core(title: &str) -> String {
    format!(
        "{HEAD}<cp:coreProperties xmlns:cp=\"http://schemas.openxmlformats.org/package/2006/metadata/core-properties\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:title>{}</dc:title></cp:coreProperties>\n",
        escape(title)
    )
}

fn comments(marked: &AnnotatedText) -> String {
    let mut out = format!("{HEAD}<w:comments {WORD}>\n");
    let said = marked.remarks.iter().enumerate().filter(|(_, remark)| !remark.text.is_empty());
    for (index, remark) in said {
        _ = writeln!(
            out,
            "<w:comment w:id=\"{index}\" {} w:initials=\"AI\"><w:p><w:pPr><w:pStyle w:val=\"CommentText\"/></w:pPr>\
             <w:r><w:t xml:space=\"preserve\">{}</w:t></w:r></w:p></w:comment>",
            attributes(&remark.signature),
            escape(&remark.text)
        );
    }
    out.push_str("</w:comments>\n");
    out
}

fn relations(addresses: &[String]) -> String {
    let mut out = format!(
        "{HEAD}<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\n"
    );
    for name in ["styles", "settings", "numbering", "comments"] {
        _ = writeln!(
            out,
            "<Relationship Id=\"{name}\" Type=\"{KIND}/{name}\" Target=\"{name}.xml\"/>"
        );
    }
    for (number, address) in addresses.iter().enumerate() {
        _ = writeln!(
            out,
            "<Relationship Id=\"link{number}\" Type=\"{KIND}/hyperlink\" Target=\"{}\" TargetMode=\"External\"/>",
            escape(address)
        );
    }
    out.push_str("</Relationships>\n");
    out
}
