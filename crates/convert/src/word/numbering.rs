//! Lists of a document: what stands before their entries.

use std::collections::{HashMap, HashSet};

use super::error::WordResult;
use super::properties::ParagraphProperties;
use super::styles::Styles;
use super::xml::{Element, XmlReader};

/// Number of levels that a list can have.
const LEVELS: usize = 9;

/// Form in which the numbers of a level are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum NumberFormat {
    #[default]
    Decimal,
    Bullet,
    LowerLetter,
    UpperLetter,
    LowerRoman,
    UpperRoman,
    /// In words, in another script, or otherwise.
    Other,
    /// Not at all.
    Nothing,
}

/// Level of a list.
#[derive(Clone, Debug)]
struct Level {
    start: u64,
    format: NumberFormat,
    /// Text before the paragraph; `%1` is the number of the first level.
    text: String,
    /// Number of the levels that make this one begin anew; all if there is none.
    restart: Option<u8>,
    /// Style whose paragraphs are of this level.
    style: Option<String>,
    /// `true` if all numbers in its text are decimal.
    is_decimal: bool,
    indent: Option<i32>,
}

impl Default for Level {
    fn default() -> Self {
        Self {
            start: 1,
            format: NumberFormat::Decimal,
            text: String::new(),
            restart: None,
            style: None,
            is_decimal: false,
            indent: None,
        }
    }
}

/// Definition that several lists can share.
#[derive(Clone, Debug, Default)]
struct Definition {
    levels: [Level; LEVELS],
    /// Style whose list has the levels.
    linked_style: Option<String>,
}

/// List that paragraphs name.
#[derive(Clone, Debug, Default)]
struct NamedList {
    definition: String,
    /// Levels that differ from those of the definition.
    levels: HashMap<usize, Level>,
    /// Numbers with which levels begin.
    starts: HashMap<usize, u64>,
}

/// Lists of a document.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    definitions: HashMap<String, Definition>,
    lists: HashMap<String, NamedList>,
}

/// Mark that Word writes before a paragraph of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Bullet,
    /// Number; `is_plain` if it is written as a decimal number.
    Number {
        value: u64,
        is_plain: bool,
    },
    /// Characters that no list of Markdown shows, such as `1.1` or `Article 3`.
    Words(String),
    /// Nothing, so that the paragraph belongs to the entry before.
    Nothing,
}

/// Place of a paragraph in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListPlace {
    pub label: Label,
    /// Definition whose numbers it counts.
    pub definition: String,
    pub level: usize,
    /// Left indentation, in twentieths of a point.
    pub indent: i32,
}

impl Numbering {
    /// Reads the part of the lists.
    pub fn read(xml: &mut XmlReader) -> WordResult<Self> {
        let mut numbering = Self::default();
        while xml.next_element()?.is_some() {
            while let Some(child) = xml.next_element()? {
                match child.name.as_str() {
                    "w:abstractNum" => {
                        let id = child.attribute("abstractNumId").unwrap_or_default();
                        numbering.definitions.insert(id, read_definition(xml)?);
                    }
                    "w:num" => {
                        let id = child.attribute("numId").unwrap_or_default();
                        numbering.lists.insert(id, read_list(xml)?);
                    }
                    _ => xml.skip()?,
                }
            }
        }
        Ok(numbering)
    }

    /// Returns the definition of a list, which another list's style may have.
    fn definition<'a>(&'a self, list: &'a NamedList, styles: &'a Styles) -> Option<&'a str> {
        let known = self.definitions.get(&list.definition)?;
        let Some(style) = &known.linked_style else { return Some(&list.definition) };
        let linked = styles.of_characters(style).and_then(|style| style.paragraph.list.as_ref());
        let linked = linked.and_then(|id| self.lists.get(id))?;
        Some(&linked.definition)
    }
}

fn read_definition(xml: &mut XmlReader) -> WordResult<Definition> {
    let mut definition = Definition::default();
    while let Some(child) = xml.next_element()? {
        match child.name.as_str() {
            "w:lvl" => {
                let number = child.number::<usize>("ilvl").unwrap_or_default();
                let level = read_level(xml)?;
                if let Some(place) = definition.levels.get_mut(number) {
                    *place = level;
                }
            }
            "w:numStyleLink" => {
                definition.linked_style = child.value();
                xml.skip()?;
            }
            _ => xml.skip()?,
        }
    }
    Ok(definition)
}

fn read_list(xml: &mut XmlReader) -> WordResult<NamedList> {
    let mut list = NamedList::default();
    while let Some(child) = xml.next_element()? {
        match child.name.as_str() {
            "w:abstractNumId" => {
                list.definition = child.value().unwrap_or_default();
                xml.skip()?;
            }
            "w:lvlOverride" => {
                let number = child.number::<usize>("ilvl").unwrap_or_default();
                while let Some(change) = xml.next_element()? {
                    match change.name.as_str() {
                        "w:startOverride" => {
                            list.starts.insert(number, change.number("val").unwrap_or(1));
                            xml.skip()?;
                        }
                        "w:lvl" => _ = list.levels.insert(number, read_level(xml)?),
                        _ => xml.skip()?,
                    }
                }
            }
            _ => xml.skip()?,
        }
    }
    Ok(list)
}

fn read_level(xml: &mut XmlReader) -> WordResult<Level> {
    let mut level = Level::default();
    while let Some(child) = xml.next_element()? {
        match child.name.as_str() {
            "w:start" => level.start = child.number("val").unwrap_or(1),
            "w:numFmt" => level.format = number_format(&child),
            "w:lvlText" => level.text = child.value().unwrap_or_default(),
            "w:lvlRestart" => level.restart = child.number("val"),
            "w:pStyle" => level.style = child.value(),
            "w:isLgl" => level.is_decimal = child.is_on(),
            "w:pPr" => {
                let mut properties = ParagraphProperties::default();
                while let Some(property) = xml.next_element()? {
                    if properties.take(property, xml)?.is_some() {
                        xml.skip()?;
                    }
                }
                level.indent = properties.indent;
                continue;
            }
            "mc:AlternateContent" => {
                // Formats of newer programs; their fallback is an older one.
                continue;
            }
            _ => {}
        }
        xml.skip()?;
    }
    Ok(level)
}

fn number_format(element: &Element) -> NumberFormat {
    match element.value().as_deref() {
        Some("bullet") => NumberFormat::Bullet,
        Some("decimal" | "decimalZero" | "decimalFullWidth" | "decimalHalfWidth") | None => {
            NumberFormat::Decimal
        }
        Some("lowerLetter") => NumberFormat::LowerLetter,
        Some("upperLetter") => NumberFormat::UpperLetter,
        Some("lowerRoman") => NumberFormat::LowerRoman,
        Some("upperRoman") => NumberFormat::UpperRoman,
        Some("none") => NumberFormat::Nothing,
        Some(_) => NumberFormat::Other,
    }
}

/// Counts the entries of lists, from the beginning of a document to its end.
#[derive(Debug)]
pub(super) struct ListCounter<'a> {
    numbering: &'a Numbering,
    styles: &'a Styles,
    values: HashMap<&'a str, [Option<u64>; LEVELS]>,
    /// Lists and levels whose own first number was used.
    begun: HashSet<(&'a str, usize)>,
}

impl<'a> ListCounter<'a> {
    pub fn new(numbering: &'a Numbering, styles: &'a Styles) -> Self {
        Self { numbering, styles, values: HashMap::new(), begun: HashSet::new() }
    }

    /// Counts a paragraph, and returns its place if it is in a list.
    pub fn place(&mut self, properties: &ParagraphProperties) -> Option<ListPlace> {
        let complete = self.styles.complete(properties);
        let (id, list) = self.numbering.lists.get_key_value(complete.list.as_deref()?)?;
        let key = self.numbering.definition(list, self.styles)?;
        let definition = self.numbering.definitions.get(key)?;
        let of_style = || {
            // Without a level of its own, a paragraph has that of its style in the list.
            let style = properties.style.as_deref()?;
            definition.levels.iter().position(|level| level.style.as_deref() == Some(style))
        };
        let stated = properties.level.map(usize::from);
        let level = stated
            .or_else(of_style)
            .or(complete.level.map(usize::from))
            .unwrap_or_default()
            .min(LEVELS - 1);
        let levels: [&Level; LEVELS] =
            std::array::from_fn(|at| list.levels.get(&at).unwrap_or(&definition.levels[at]));
        let values = self.values.entry(key).or_default();
        count(values, &levels, level);
        if let Some(start) = list.starts.get(&level)
            && self.begun.insert((id, level))
        {
            values[level] = Some(*start);
        }
        let style = self.styles.of_paragraph(properties.style.as_deref());
        let style_indent = style
            .paragraph
            .indent
            .filter(|_| properties.list.is_none() || levels[level].indent.is_none());
        let indent = properties.indent.or(style_indent).or(levels[level].indent);
        Some(ListPlace {
            label: label(&levels, values, level),
            definition: key.to_owned(),
            level,
            indent: indent.unwrap_or(720 * (i32::try_from(level).unwrap_or_default() + 1)),
        })
    }
}

/// Counts one entry of a level.
fn count(values: &mut [Option<u64>; LEVELS], levels: &[&Level; LEVELS], level: usize) {
    values[level] =
        Some(values[level].map_or(levels[level].start, |value| value.saturating_add(1)));
    for above in 0..level {
        values[above].get_or_insert(levels[above].start);
    }
    for below in level + 1..LEVELS {
        let restarts = levels[below].restart.is_none_or(|restart| level < usize::from(restart));
        if restarts {
            values[below] = None;
        }
    }
}

fn label(levels: &[&Level; LEVELS], values: &[Option<u64>; LEVELS], level: usize) -> Label {
    let this = levels[level];
    let value = values[level].unwrap_or(this.start);
    let text = this.text.trim();
    if this.format == NumberFormat::Bullet {
        return if text.is_empty() { Label::Nothing } else { Label::Bullet };
    }
    if text.is_empty() {
        return Label::Nothing;
    }
    let own = format!("%{}", level + 1);
    let around = text.replacen(&own, "", 1);
    let is_sign = |c: char| matches!(c, '.' | ')' | '(' | ':' | '-' | '–' | ']' | '[' | ' ');
    if text.contains(&own) && around.chars().all(is_sign) && this.format != NumberFormat::Nothing {
        return Label::Number { value, is_plain: this.format == NumberFormat::Decimal };
    }
    let mut words = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let digit = rest.clone().next().and_then(|next| next.to_digit(10));
        match digit {
            Some(number @ 1..) if c == '%' => {
                rest.next();
                let at = number as usize - 1;
                let value = values[at].unwrap_or(levels[at].start);
                let format =
                    if this.is_decimal { NumberFormat::Decimal } else { levels[at].format };
                words.push_str(&written(value, format));
            }
            _ => words.push(c),
        }
    }
    if words.trim().is_empty() { Label::Nothing } else { Label::Words(words) }
}

/// Returns a number as a level writes it.
fn written(value: u64, format: NumberFormat) -> String {
    match format {
        NumberFormat::LowerLetter => letters(value).to_lowercase(),
        NumberFormat::UpperLetter => letters(value),
        NumberFormat::LowerRoman => roman(value).to_lowercase(),
        NumberFormat::UpperRoman => roman(value),
        NumberFormat::Nothing | NumberFormat::Bullet => String::new(),
        NumberFormat::Decimal | NumberFormat::Other => value.to_string(),
    }
}

/// Returns A to Z, then AA to ZZ, as Word counts.
fn letters(value: u64) -> String {
    if value == 0 || value > 26 * 30 {
        return value.to_string();
    }
    let letter = char::from(b'A' + ((value - 1) % 26) as u8);
    letter.to_string().repeat(((value - 1) / 26 + 1) as usize)
}

fn roman(value: u64) -> String {
    const SIGNS: &[(u64, &str)] = &[
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if value == 0 || value > 4_999 {
        return value.to_string();
    }
    let (mut left, mut out) = (value, String::new());
    for (worth, sign) in SIGNS {
        while left >= *worth {
            left -= worth;
            out.push_str(sign);
        }
    }
    out
}
