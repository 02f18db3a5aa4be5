//! Properties of paragraphs and characters, as the text, styles and lists state them.

use crate::tree::Alignment;

use super::error::WordResult;
use super::xml::{Element, XmlReader};

/// Properties of a paragraph that decide what it becomes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ParagraphProperties {
    /// Identifier of its style.
    pub style: Option<String>,
    /// Level of an outline, counted from 0; 9 is body text.
    pub outline: Option<u8>,
    /// Identifier of its list; `0` for a paragraph that is taken out of the list of its style.
    pub list: Option<String>,
    /// Level in the list, counted from 0.
    pub level: Option<u8>,
    /// Left indentation, in twentieths of a point.
    pub indent: Option<i32>,
    pub alignment: Option<Alignment>,
    /// `true` if a line is drawn below it.
    pub has_line_below: Option<bool>,
}

impl ParagraphProperties {
    /// Returns these properties, with those of `outer` where they state nothing.
    pub fn over(&self, outer: &Self) -> Self {
        Self {
            style: self.style.clone().or_else(|| outer.style.clone()),
            outline: self.outline.or(outer.outline),
            list: self.list.clone().or_else(|| outer.list.clone()),
            level: self.level.or(outer.level),
            indent: self.indent.or(outer.indent),
            alignment: self.alignment.or(outer.alignment),
            has_line_below: self.has_line_below.or(outer.has_line_below),
        }
    }

    /// Takes in one child of `w:pPr`, and reads it to its end. Returns the element if it is none of
    /// these properties; then it is not read.
    pub fn take(&mut self, element: Element, xml: &mut XmlReader) -> WordResult<Option<Element>> {
        match element.name.as_str() {
            "w:pStyle" => self.style = element.value(),
            "w:outlineLvl" => self.outline = element.number("val"),
            "w:ind" => {
                let left = element.attribute("left").or_else(|| element.attribute("start"));
                self.indent = left.and_then(|left| twips(&left)).or(self.indent);
            }
            "w:jc" => self.alignment = element.value().and_then(|side| alignment(&side)),
            "w:numPr" => return self.take_list(xml).map(|()| None),
            "w:pBdr" => return self.take_borders(xml).map(|()| None),
            _ => return Ok(Some(element)),
        }
        xml.skip()?;
        Ok(None)
    }

    /// Returns `true` if a paragraph with these properties is of another kind than one with others:
    /// a heading, an entry of a list, a quotation.
    pub fn is_of_other_kind(&self, other: &Self) -> bool {
        let kind = |it: &Self| (it.style.clone(), it.outline, it.list.clone(), it.level);
        kind(self) != kind(other)
    }

    /// Reads `w:pPrChange`: the properties before a tracked change.
    pub fn read_before(xml: &mut XmlReader) -> WordResult<Self> {
        let mut before = Self::default();
        while let Some(inner) = xml.next_element()? {
            if inner.name != "w:pPr" {
                xml.skip()?;
                continue;
            }
            while let Some(property) = xml.next_element()? {
                if before.take(property, xml)?.is_some() {
                    xml.skip()?;
                }
            }
        }
        Ok(before)
    }

    fn take_list(&mut self, xml: &mut XmlReader) -> WordResult<()> {
        while let Some(child) = xml.next_element()? {
            match child.name.as_str() {
                "w:numId" => self.list = child.value(),
                "w:ilvl" => self.level = child.number::<u8>("val").map(|level| level.min(8)),
                _ => {}
            }
            xml.skip()?;
        }
        Ok(())
    }

    fn take_borders(&mut self, xml: &mut XmlReader) -> WordResult<()> {
        let (mut below, mut others) = (false, false);
        while let Some(child) = xml.next_element()? {
            let is_drawn = child.value().is_some_and(|it| !matches!(it.as_str(), "nil" | "none"));
            match child.name.as_str() {
                "w:bottom" => below |= is_drawn,
                _ => others |= is_drawn,
            }
            xml.skip()?;
        }
        self.has_line_below = Some(below && !others);
        Ok(())
    }
}

/// Returns a length in twentieths of a point.
fn twips(length: &str) -> Option<i32> {
    if let Some(points) = length.strip_suffix("pt") {
        return points.parse::<f64>().ok().map(|points| (points * 20.0) as i32);
    }
    length.parse::<f64>().ok().map(|twips| twips as i32)
}

fn alignment(side: &str) -> Option<Alignment> {
    match side {
        "left" | "start" => Some(Alignment::Left),
        "center" => Some(Alignment::Center),
        "right" | "end" => Some(Alignment::Right),
        _ => None,
    }
}

/// Properties of characters that decide what they become.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RunProperties {
    /// Identifier of the style of the characters.
    pub style: Option<String>,
    pub bold: Option<bool>,
    pub italic: Option<bool>,
    pub struck: Option<bool>,
    /// `true` if all letters are of one width.
    pub monospaced: Option<bool>,
    pub hidden: Option<bool>,
    /// `true` if it is raised or lowered.
    pub raised: Option<bool>,
}

impl RunProperties {
    /// Returns these properties, with those of `outer` where they state nothing.
    pub fn over(&self, outer: &Self) -> Self {
        Self {
            style: self.style.clone().or_else(|| outer.style.clone()),
            bold: self.bold.or(outer.bold),
            italic: self.italic.or(outer.italic),
            struck: self.struck.or(outer.struck),
            monospaced: self.monospaced.or(outer.monospaced),
            hidden: self.hidden.or(outer.hidden),
            raised: self.raised.or(outer.raised),
        }
    }

    /// Takes in one child of `w:rPr`. It is not read to its end.
    pub fn take(&mut self, element: &Element) {
        match element.name.as_str() {
            "w:rStyle" => self.style = element.value(),
            "w:b" => self.bold = Some(element.is_on()),
            "w:i" => self.italic = Some(element.is_on()),
            "w:strike" | "w:dstrike" => {
                self.struck = Some(element.is_on() || self.struck == Some(true));
            }
            "w:vanish" => self.hidden = Some(element.is_on()),
            "w:vertAlign" => self.raised = element.value().map(|side| side != "baseline"),
            "w:rFonts" => {
                let font = element.attribute("ascii").or_else(|| element.attribute("hAnsi"));
                self.monospaced = font.map(|font| is_monospaced(&font)).or(self.monospaced);
            }
            _ => {}
        }
    }
}

/// Returns whether all letters of a font are of one width.
fn is_monospaced(font: &str) -> bool {
    const FONTS: &[&str] = &[
        "andale mono",
        "cascadia code",
        "consolas",
        "courier",
        "courier new",
        "cousine",
        "fira code",
        "hack",
        "inconsolata",
        "lucida console",
        "lucida sans typewriter",
        "menlo",
        "monaco",
        "monospace",
        "source code pro",
    ];
    let font = font.trim().to_lowercase();
    FONTS.contains(&font.as_str()) || font.ends_with(" mono")
}
