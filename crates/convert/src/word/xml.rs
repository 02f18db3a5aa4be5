//! Elements of a part, one after the other, with the names of their namespaces' usual prefixes.

use std::io::{self, BufRead};

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::reader::NsReader;

use super::error::{WordError, WordResult};
use super::package::BudgetSpent;

/// Deepest nesting of elements that is read.
pub(super) const DEEPEST: usize = 256;

/// Namespaces by the prefixes that Word gives them. Strict documents have other addresses.
const NAMESPACES: &[(&str, &str)] = &[
    ("http://schemas.openxmlformats.org/wordprocessingml/2006/main", "w"),
    ("http://purl.oclc.org/ooxml/wordprocessingml/main", "w"),
    ("http://schemas.openxmlformats.org/officeDocument/2006/math", "m"),
    ("http://purl.oclc.org/ooxml/officeDocument/math", "m"),
    ("http://schemas.openxmlformats.org/drawingml/2006/main", "a"),
    ("http://purl.oclc.org/ooxml/drawingml/main", "a"),
    ("http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing", "wp"),
    ("http://purl.oclc.org/ooxml/drawingml/wordprocessingDrawing", "wp"),
    ("http://schemas.openxmlformats.org/markup-compatibility/2006", "mc"),
    ("http://schemas.microsoft.com/office/word/2010/wordml", "w14"),
    ("urn:schemas-microsoft-com:vml", "v"),
    ("urn:schemas-microsoft-com:office:office", "o"),
    ("http://purl.org/dc/elements/1.1/", "dc"),
];

/// Child of an element.
pub(super) enum Node {
    /// Element. Who gets it reads it to its end, or skips it.
    Element(Element),
    /// Characters.
    Text(String),
}

/// Element with its attributes.
pub(super) struct Element {
    /// Name with the usual prefix of its namespace, such as `w:p`.
    pub name: String,
    tag: BytesStart<'static>,
}

impl Element {
    /// Returns the value of the attribute with that name, whatever its namespace.
    pub fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.tag.attributes();
        let found = attributes
            .with_checks(false)
            .flatten()
            .find(|attribute| attribute.key.local_name().as_ref() == name)?;
        Some(found.normalized_value(XmlVersion::Implicit1_0).ok()?.into_owned())
    }

    /// Returns the attribute `val` of the element.
    pub fn value(&self) -> Option<String> {
        self.attribute("val")
    }

    /// Returns the number in an attribute.
    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.attribute(name)?.trim().parse().ok()
    }

    /// Returns whether a property such as `w:b` is switched on.
    pub fn is_on(&self) -> bool {
        self.value().is_none_or(|value| !matches!(value.trim(), "0" | "false" | "off"))
    }

    /// Returns whether blanks at both ends of the text count.
    pub fn keeps_blanks(&self) -> bool {
        self.attribute("space").is_some_and(|space| space == "preserve")
    }
}

/// Reader of one part.
pub(super) struct XmlReader<'a> {
    reader: NsReader<Box<dyn BufRead + 'a>>,
    buffer: Vec<u8>,
    depth: usize,
    /// Part that is read, for messages.
    part: &'a str,
}

impl<'a> XmlReader<'a> {
    pub fn new(content: Box<dyn BufRead + 'a>, part: &'a str) -> Self {
        let mut reader = NsReader::from_reader(content);
        reader.config_mut().expand_empty_elements = true;
        Self { reader, buffer: Vec::new(), depth: 0, part }
    }

    /// Returns the next child of the current element, or nothing at its end.
    pub fn next(&mut self) -> WordResult<Option<Node>> {
        loop {
            self.buffer.clear();
            let (namespace, event) = match self.reader.read_resolved_event_into(&mut self.buffer) {
                Ok(read) => read,
                Err(error) => return Err(damaged(self.part, &error)),
            };
            let node = match event {
                Event::Start(tag) => {
                    self.depth += 1;
                    if self.depth > DEEPEST {
                        return Err(WordError::TooDeep);
                    }
                    let name = usual_name(&namespace, &tag);
                    Node::Element(Element { name, tag: tag.into_owned() })
                }
                Event::End(_) => {
                    self.depth -= 1;
                    return Ok(None);
                }
                Event::Eof if self.depth > 0 => {
                    return Err(WordError::Damaged(format!("{} ends too early", self.part)));
                }
                Event::Eof => return Ok(None),
                Event::Text(text) => Node::Text(text.xml10_content().into_owned()),
                Event::CData(text) => Node::Text(text.xml10_content().into_owned()),
                Event::GeneralRef(name) => match name.resolve_char_ref() {
                    Ok(Some(c)) => Node::Text(c.to_string()),
                    Ok(None) => {
                        let known = resolve_predefined_entity(&name);
                        Node::Text(known.ok_or(WordError::DocumentType)?.to_owned())
                    }
                    Err(error) => return Err(damaged(self.part, &error)),
                },
                Event::DocType(_) => return Err(WordError::DocumentType),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::Empty(_) => continue,
            };
            return Ok(Some(node));
        }
    }

    /// Returns the next child that is an element, or nothing at the end of the current one.
    pub fn next_element(&mut self) -> WordResult<Option<Element>> {
        loop {
            match self.next()? {
                Some(Node::Element(element)) => return Ok(Some(element)),
                Some(Node::Text(_)) => {}
                None => return Ok(None),
            }
        }
    }

    /// Reads the current element to its end.
    pub fn skip(&mut self) -> WordResult<()> {
        self.text().map(|_| ())
    }

    /// Returns all characters in the current element, and reads it to its end.
    pub fn text(&mut self) -> WordResult<String> {
        let outside = self.depth.saturating_sub(1);
        let mut text = String::new();
        while self.depth > outside {
            if let Some(Node::Text(more)) = self.next()? {
                text.push_str(&more);
            }
        }
        Ok(text)
    }
}

/// Returns an element's name with the usual prefix of its namespace.
fn usual_name(namespace: &ResolveResult, tag: &BytesStart) -> String {
    let local = tag.local_name();
    let prefix = match namespace {
        ResolveResult::Bound(bound) => {
            let known = NAMESPACES.iter().find(|(address, _)| *address == bound.0);
            known.map_or("?", |(_, prefix)| prefix)
        }
        ResolveResult::Unbound => return local.as_ref().to_owned(),
        // Some programs forget to declare a prefix.
        ResolveResult::Unknown(prefix) => prefix,
    };
    format!("{prefix}:{}", local.as_ref())
}

/// Returns the error of a part that is not well-formed, or that is too large.
fn damaged(part: &str, error: &quick_xml::Error) -> WordError {
    match error {
        quick_xml::Error::Io(error) if is_budget_spent(error) => WordError::TooLargeUnpacked,
        other => WordError::Damaged(format!("{part}: {other}")),
    }
}

fn is_budget_spent(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<BudgetSpent>)
}
