//! Styles of a document, each with what it inherits.

use std::collections::HashMap;

use super::error::WordResult;
use super::model::{CODE, FORMULA, PICTURE};
use super::properties::{ParagraphProperties, RunProperties};
use super::xml::XmlReader;

/// Longest chain of styles that are based on each other.
const LONGEST_CHAIN: usize = 32;

/// Role of the paragraphs of a style in a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ParagraphRole {
    #[default]
    Body,
    /// Heading of level 1 to 9.
    Heading(u8),
    Quote,
    Code,
    /// Line from margin to margin, if the paragraph is empty.
    Rule,
}

/// Style with all that it inherits.
#[derive(Clone, Debug, Default)]
pub(super) struct ResolvedStyle {
    pub role: ParagraphRole,
    /// [`CODE`], [`PICTURE`] or [`FORMULA`] by its name.
    pub mark: u8,
    /// Language of its code by its name, else empty.
    pub language: String,
    pub paragraph: ParagraphProperties,
    pub run: RunProperties,
}

/// Styles of a document.
#[derive(Debug, Default)]
pub(super) struct Styles {
    resolved: HashMap<String, ResolvedStyle>,
    /// Style of paragraphs that name none.
    usual: Option<String>,
    nothing: ResolvedStyle,
}

/// Style as it is written.
#[derive(Debug, Default)]
struct WrittenStyle {
    /// Name as it is written.
    written_name: String,
    /// Name in lower case.
    name: String,
    based_on: Option<String>,
    paragraph: ParagraphProperties,
    run: RunProperties,
}

impl Styles {
    /// Reads the part of the styles.
    pub fn read(xml: &mut XmlReader) -> WordResult<Self> {
        let mut written = HashMap::new();
        let mut styles = Self::default();
        let mut defaults = RunProperties::default();
        while xml.next_element()?.is_some() {
            while let Some(child) = xml.next_element()? {
                match child.name.as_str() {
                    "w:style" => {
                        let id = child.attribute("styleId").unwrap_or_default();
                        let is_paragraph =
                            child.attribute("type").is_none_or(|it| it == "paragraph");
                        let is_usual = child
                            .attribute("default")
                            .is_some_and(|it| matches!(it.as_str(), "1" | "true" | "on"));
                        if is_paragraph && is_usual {
                            styles.usual = Some(id.clone());
                        }
                        written.insert(id, read_style(xml)?);
                    }
                    "w:docDefaults" => defaults = read_defaults(xml)?,
                    _ => xml.skip()?,
                }
            }
        }
        for id in written.keys() {
            styles.resolved.insert(id.clone(), resolve(id, &written, &defaults));
        }
        Ok(styles)
    }

    /// Returns a style; the usual one of paragraphs for none.
    pub fn of_paragraph(&self, id: Option<&str>) -> &ResolvedStyle {
        let named = id.and_then(|id| self.resolved.get(id));
        let usual = || self.usual.as_ref().and_then(|id| self.resolved.get(id));
        named.or_else(usual).unwrap_or(&self.nothing)
    }

    /// Returns a style of characters.
    pub fn of_characters(&self, id: &str) -> Option<&ResolvedStyle> {
        self.resolved.get(id)
    }

    /// Returns the properties of a paragraph with those of its style.
    pub fn complete(&self, properties: &ParagraphProperties) -> ParagraphProperties {
        let style = self.of_paragraph(properties.style.as_deref());
        properties.over(&style.paragraph)
    }

    /// Returns what a paragraph is.
    pub fn role(&self, properties: &ParagraphProperties) -> ParagraphRole {
        let role = self.of_paragraph(properties.style.as_deref()).role;
        match properties.outline {
            Some(level @ 0..9) if role == ParagraphRole::Body => ParagraphRole::Heading(level + 1),
            _ => role,
        }
    }
}

fn read_style(xml: &mut XmlReader) -> WordResult<WrittenStyle> {
    let mut style = WrittenStyle::default();
    while let Some(child) = xml.next_element()? {
        match child.name.as_str() {
            "w:name" => {
                child.value().unwrap_or_default().trim().clone_into(&mut style.written_name);
                style.name = style.written_name.to_lowercase();
            }
            "w:basedOn" => style.based_on = child.value(),
            "w:pPr" => {
                while let Some(property) = xml.next_element()? {
                    if style.paragraph.take(property, xml)?.is_some() {
                        xml.skip()?;
                    }
                }
                continue;
            }
            "w:rPr" => {
                style.run = read_run_properties(xml)?;
                continue;
            }
            _ => {}
        }
        xml.skip()?;
    }
    Ok(style)
}

fn read_defaults(xml: &mut XmlReader) -> WordResult<RunProperties> {
    let mut defaults = RunProperties::default();
    while let Some(child) = xml.next_element()? {
        if child.name != "w:rPrDefault" {
            xml.skip()?;
            continue;
        }
        while let Some(inner) = xml.next_element()? {
            if inner.name == "w:rPr" {
                defaults = read_run_properties(xml)?;
            } else {
                xml.skip()?;
            }
        }
    }
    Ok(defaults)
}

/// Reads an element `w:rPr` to its end.
fn read_run_properties(xml: &mut XmlReader) -> WordResult<RunProperties> {
    let mut properties = RunProperties::default();
    while let Some(property) = xml.next_element()? {
        properties.take(&property);
        xml.skip()?;
    }
    Ok(properties)
}

/// Returns a style with all that it inherits.
fn resolve(
    id: &str,
    written: &HashMap<String, WrittenStyle>,
    defaults: &RunProperties,
) -> ResolvedStyle {
    let mut resolved = ResolvedStyle::default();
    let mut role = None;
    let mut next = Some(id);
    for _ in 0..LONGEST_CHAIN {
        let Some(style) = next.and_then(|id| written.get(id)) else { break };
        // A list says which of its levels belong to which style, so a style keeps its identity.
        resolved.paragraph = resolved.paragraph.over(&style.paragraph);
        resolved.run = resolved.run.over(&style.run);
        resolved.mark |= mark_by_name(&style.name);
        if resolved.language.is_empty() {
            language_of(&style.written_name).clone_into(&mut resolved.language);
        }
        role = role.or_else(|| role_by_name(&style.name)).or(match style.paragraph.outline {
            Some(level @ 0..9) => Some(ParagraphRole::Heading(level + 1)),
            Some(_) => Some(ParagraphRole::Body),
            None => None,
        });
        next = style.based_on.as_deref();
    }
    resolved.run = resolved.run.over(&RunProperties { style: None, ..defaults.clone() });
    resolved.role = role.unwrap_or_default();
    // What is a heading is said by the role.
    resolved.paragraph.outline = None;
    resolved
}

/// Returns what a style is for, by its name in lower case. Word keeps the English names of its own
/// styles in files of all languages.
fn role_by_name(name: &str) -> Option<ParagraphRole> {
    if let Some(level) = name.strip_prefix("heading ") {
        return level
            .trim()
            .parse()
            .ok()
            .filter(|level| (1..=9).contains(level))
            .map(ParagraphRole::Heading);
    }
    match name {
        "title" => Some(ParagraphRole::Heading(1)),
        "quote" | "intense quote" | "quotations" | "block text" | "block quote" | "blockquote" => {
            Some(ParagraphRole::Quote)
        }
        "code" | "code block" | "codeblock" | "html preformatted" | "macro text" | "listing"
        | "preformatted" | "preformatted text" | "source code" | "verbatim" => {
            Some(ParagraphRole::Code)
        }
        "horizontal line" | "horizontal rule" => Some(ParagraphRole::Rule),
        _ => None,
    }
}

/// Returns the language that the name of a style of code ends with, such as `Source Code rust`.
fn language_of(name: &str) -> &str {
    const OF_CODE: &str = "source code ";
    let is_code = name.get(..OF_CODE.len()).is_some_and(|it| it.eq_ignore_ascii_case(OF_CODE));
    let language = if is_code { name[OF_CODE.len()..].trim() } else { "" };
    if language.contains(char::is_whitespace) { "" } else { language }
}

/// Returns what a style makes of its characters, by its name in lower case: [`CODE`], [`PICTURE`],
/// [`FORMULA`] or nothing.
fn mark_by_name(name: &str) -> u8 {
    match name {
        "code" | "code char" | "html code" | "html keyboard" | "html sample"
        | "html typewriter" | "inline code" | "source text" | "verbatim char" => CODE,
        "picture link" => PICTURE,
        "tex formula" => FORMULA,
        _ => 0,
    }
}
