//! Package of a Word document: its parts in one zip, with identical bytes for identical documents.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::io::{self, Cursor, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::super::ExportResult;
use super::super::annotated::AnnotatedText;
use super::super::front_matter::FrontMatter;
use super::comments::NumberedComments;
use super::flow::FlowNames;
use super::footnotes::WrittenNotes;
use super::numbering::ListNumbering;
use super::properties;
use super::xml::{HEAD, WORD, escape};

const CONTENT_TYPES: &str = include_str!("parts/content_types.xml");
const PACKAGE_RELATIONS: &str = include_str!("parts/package_rels.xml");
const STYLES: &str = include_str!("parts/styles.xml");
const SETTINGS: &str = include_str!("parts/settings.xml");

const RELATION: &str =
    "xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"";
/// End of the document's text: an A4 page.
const END: &str = "<w:sectPr><w:pgSz w:w=\"11906\" w:h=\"16838\"/>\
    <w:pgMar w:top=\"1440\" w:right=\"1440\" w:bottom=\"1440\" w:left=\"1440\" w:header=\"708\" w:footer=\"708\" \
    w:gutter=\"0\"/></w:sectPr>\n</w:body>\n</w:document>\n";
/// Lines above footnotes, which settings.xml names.
const SEPARATORS: &str = "<w:footnote w:type=\"separator\" w:id=\"-1\"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>\n\
    <w:footnote w:type=\"continuationSeparator\" w:id=\"0\"><w:p><w:r><w:continuationSeparator/></w:r></w:p></w:footnote>\n";
const EXTENSION: &str = "http://schemas.microsoft.com/office/2011/relationships";
const KIND: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// Word document that is being packed. Each part is compressed as it is written.
pub(super) struct Package {
    zip: ZipWriter<Cursor<Vec<u8>>>,
}

impl Package {
    /// Begins a package with the parts that are always the same.
    pub fn new() -> ExportResult<Self> {
        let mut package = Self { zip: ZipWriter::new(Cursor::new(Vec::new())) };
        for (name, content) in [
            ("[Content_Types].xml", CONTENT_TYPES),
            ("_rels/.rels", PACKAGE_RELATIONS),
            ("word/settings.xml", SETTINGS),
        ] {
            package.add(name, content)?;
        }
        Ok(package)
    }

    /// Begins the part with the document's text; it is to be written to what is returned.
    pub fn begin_text(&mut self) -> ExportResult<&mut impl io::Write> {
        let zip = self.begin("word/document.xml")?;
        write!(zip, "{HEAD}<w:document {WORD} {RELATION}>\n<w:body>\n")?;
        Ok(zip)
    }

    /// Ends the text, adds the parts that depend on it, and returns the content of the file.
    pub fn finish(mut self, rest: &PackageRest) -> ExportResult<Vec<u8>> {
        self.zip.write_all(END.as_bytes())?;
        self.add("docProps/core.xml", &properties::core(rest.title, rest.front))?;
        self.add("docProps/custom.xml", &properties::custom(rest.front))?;
        self.add("word/styles.xml", &styles(&rest.names.languages))?;
        rest.numbering.write(self.begin("word/numbering.xml")?)?;
        self.footnotes(rest)?;
        let comments = NumberedComments::of(rest.marked);
        comments.write(rest.in_notes, self.begin("word/comments.xml")?)?;
        comments.write_threads(self.begin("word/commentsExtended.xml")?)?;
        let parts = ["styles", "settings", "numbering", "comments", "footnotes"];
        relations(&parts, rest.names, self.begin("word/_rels/document.xml.rels")?)?;
        relations(&[], rest.names, self.begin("word/_rels/footnotes.xml.rels")?)?;
        Ok(self.zip.finish()?.into_inner())
    }

    fn footnotes(&mut self, rest: &PackageRest) -> ExportResult<()> {
        let zip = self.begin("word/footnotes.xml")?;
        writeln!(zip, "{HEAD}<w:footnotes {WORD} {RELATION}>\n{SEPARATORS}")?;
        rest.references.write(rest.notes, zip)?;
        writeln!(zip, "</w:footnotes>")?;
        Ok(())
    }

    fn add(&mut self, name: &str, content: &str) -> ExportResult<()> {
        Ok(self.begin(name)?.write_all(content.as_bytes())?)
    }

    fn begin(&mut self, name: &str) -> ExportResult<&mut ZipWriter<Cursor<Vec<u8>>>> {
        // The time of packing would make the bytes of every export differ.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default());
        self.zip.start_file(name, options)?;
        Ok(&mut self.zip)
    }
}

/// Data from which the parts after the text are made.
pub(super) struct PackageRest<'a> {
    pub title: &'a str,
    pub front: &'a FrontMatter,
    pub marked: &'a AnnotatedText,
    pub names: &'a FlowNames,
    pub numbering: &'a ListNumbering,
    pub references: &'a WrittenNotes,
    /// Paragraphs of footnotes, by number.
    pub notes: &'a HashMap<u32, String>,
    /// First numbers of the comments whose passages are in footnotes.
    pub in_notes: &'a HashSet<usize>,
}

/// Returns the styles, with one for each language of code, named after it.
fn styles(languages: &[String]) -> String {
    let mut out = STYLES.trim_end().trim_end_matches("</w:styles>").to_owned();
    for (index, language) in languages.iter().enumerate() {
        _ = writeln!(
            out,
            "<w:style w:type=\"paragraph\" w:customStyle=\"1\" w:styleId=\"SourceCode{}\">\
             <w:name w:val=\"Source Code {}\"/><w:basedOn w:val=\"SourceCode\"/></w:style>",
            index + 1,
            escape(language)
        );
    }
    out.push_str("</w:styles>\n");
    out
}

fn relations(parts: &[&str], names: &FlowNames, out: &mut impl io::Write) -> io::Result<()> {
    writeln!(
        out,
        "{HEAD}<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">"
    )?;
    for name in parts {
        writeln!(
            out,
            "<Relationship Id=\"{name}\" Type=\"{KIND}/{name}\" Target=\"{name}.xml\"/>"
        )?;
    }
    if !parts.is_empty() {
        writeln!(
            out,
            "<Relationship Id=\"commentsExtended\" Type=\"{EXTENSION}/commentsExtended\" Target=\"commentsExtended.xml\"/>"
        )?;
    }
    for (number, address) in names.addresses.iter().enumerate() {
        writeln!(
            out,
            "<Relationship Id=\"link{number}\" Type=\"{KIND}/hyperlink\" Target=\"{}\" TargetMode=\"External\"/>",
            escape(address)
        )?;
    }
    writeln!(out, "</Relationships>")
}
