//! Parts of a paragraph: runs of characters, links, fields, notes and controls.

use super::error::WordResult;
use super::model::{Content, Look, RestyledParagraph, StoryBlock};
use super::properties::{ParagraphProperties, RunProperties};
use super::story::StoryReader;
use super::symbols;
use super::xml::{Element, Node};

impl StoryReader<'_, '_, '_> {
    /// Reads an element of a paragraph.
    pub fn inline(&mut self, element: &Element) -> WordResult<()> {
        match element.name.as_str() {
            "w:pPr" => self.paragraph_properties(),
            "w:r" => self.run(),
            "w:hyperlink" => self.hyperlink(element),
            "w:fldSimple" => self.simple_field(element),
            "w:ins" | "w:del" | "w:moveFrom" | "w:moveTo" => {
                self.within_change(element, Self::inlines)
            }
            "w:sdt" => self.control(),
            "m:oMath" => self.formula(false),
            "m:oMathPara" => self.formula(true),
            "w:p" | "w:tbl" => self.inner_blocks(element),
            "mc:AlternateContent" => self.alternatives(|reader| {
                let before = reader.progress();
                reader.inlines()?;
                Ok(reader.progress() > before)
            }),
            _ if self.is_without_words(element)? => Ok(()),
            _ => self.run_child(element, Look::default()),
        }
    }

    /// Returns a number that grows with all that is found.
    pub fn progress(&self) -> usize {
        let left_out: u32 = self.findings.report.left_out.iter().map(|it| it.count).sum();
        self.found + left_out as usize
    }

    /// Reads a block where a part of a paragraph is expected.
    fn inner_blocks(&mut self, element: &Element) -> WordResult<()> {
        let paragraph = std::mem::take(&mut self.paragraph);
        let mut before = std::mem::take(&mut self.boxes);
        self.found += 1;
        let read = if element.name == "w:p" {
            self.whole_paragraph(&mut before)
        } else {
            self.table().map(|table| before.push(StoryBlock::Table(table)))
        };
        (self.paragraph, self.boxes) = (paragraph, before);
        read
    }

    fn paragraph_properties(&mut self) -> WordResult<()> {
        while let Some(element) = self.xml.next_element()? {
            let Some(other) = self.paragraph.properties.take(element, self.xml)? else { continue };
            match other.name.as_str() {
                "w:rPr" => {
                    while let Some(property) = self.xml.next_element()? {
                        let is_change = matches!(
                            property.name.as_str(),
                            "w:ins" | "w:del" | "w:moveFrom" | "w:moveTo"
                        );
                        if is_change {
                            self.paragraph.mark =
                                self.change(&property).within(self.paragraph.mark);
                        }
                        self.xml.skip()?;
                    }
                }
                "w:sectPr" => {
                    self.findings.report.leave_out("section break", None);
                    self.xml.skip()?;
                }
                "w:pPrChange" => {
                    let tracked = self.change(&other);
                    let properties = ParagraphProperties::read_before(self.xml)?;
                    self.paragraph.before =
                        tracked.deleted.map(|revision| RestyledParagraph { properties, revision });
                }
                _ => self.xml.skip()?,
            }
        }
        Ok(())
    }

    fn hyperlink(&mut self, element: &Element) -> WordResult<()> {
        let relation = element.attribute("id").and_then(|id| self.relations.get(&id));
        let address = relation.filter(|it| it.is_external).map(|it| it.target.clone());
        let anchor = element.attribute("anchor");
        let title = element.attribute("tooltip").unwrap_or_default();
        let before = self.link;
        self.link = self.link_to(address.as_deref(), anchor.as_deref(), title).or(before);
        let read = self.inlines();
        self.link = before;
        read
    }

    fn simple_field(&mut self, element: &Element) -> WordResult<()> {
        let before = self.link;
        self.link = self.link_of(&element.attribute("instr").unwrap_or_default()).or(before);
        let read = self.inlines();
        self.link = before;
        read
    }

    /// Reads a control, such as a box to tick.
    fn control(&mut self) -> WordResult<()> {
        let before = self.progress();
        let mut ticked = None;
        while let Some(child) = self.xml.next_element()? {
            if child.name != "w:sdtPr" {
                self.inlines()?;
                continue;
            }
            while let Some(property) = self.xml.next_element()? {
                if property.name != "w14:checkbox" {
                    self.xml.skip()?;
                    continue;
                }
                ticked = Some(false);
                while let Some(state) = self.xml.next_element()? {
                    if state.name == "w14:checked" {
                        ticked = Some(state.is_on());
                    }
                    self.xml.skip()?;
                }
            }
        }
        if let Some(ticked) = ticked
            && self.progress() == before
        {
            self.push(Content::Text(tick(ticked).to_owned()), Look::default());
        }
        Ok(())
    }

    /// Reads an element `w:r`.
    fn run(&mut self) -> WordResult<()> {
        let mut properties = RunProperties::default();
        let mut look = self.look(&properties);
        let before = self.tracked;
        while let Some(node) = self.xml.next()? {
            let element = match node {
                Node::Element(element) => element,
                Node::Text(text) if text.trim().is_empty() => continue,
                Node::Text(text) => {
                    self.push(Content::Text(text), look);
                    continue;
                }
            };
            if element.name == "w:rPr" {
                properties = self.run_properties()?;
                look = self.look(&properties);
                continue;
            }
            let is_hidden =
                properties.hidden.unwrap_or_else(|| self.is_hidden_by_style(&properties));
            if is_hidden && matches!(element.name.as_str(), "w:t" | "w:delText" | "w:sym") {
                let words = self.xml.text()?;
                self.findings.report.leave_out("hidden text", Some(&words));
                continue;
            }
            if properties.raised == Some(true) && element.name == "w:t" {
                self.findings.report.decide("raised or lowered text");
            }
            self.run_child(&element, look)?;
        }
        self.tracked = before;
        Ok(())
    }

    fn is_hidden_by_style(&self, properties: &RunProperties) -> bool {
        let characters = properties.style.as_deref().and_then(|id| self.styles.of_characters(id));
        let paragraph = self.styles.of_paragraph(self.paragraph.properties.style.as_deref());
        let stated = characters.and_then(|style| style.run.hidden).or(paragraph.run.hidden);
        stated.unwrap_or_default()
    }

    /// Reads `w:rPr`. Characters can be tracked by it, too.
    fn run_properties(&mut self) -> WordResult<RunProperties> {
        let mut properties = RunProperties::default();
        while let Some(property) = self.xml.next_element()? {
            match property.name.as_str() {
                "w:ins" | "w:del" | "w:moveFrom" | "w:moveTo" => {
                    self.tracked = self.change(&property).within(self.tracked);
                }
                "w:rPrChange" => self.findings.report.decide("tracked change of formatting"),
                _ => properties.take(&property),
            }
            self.xml.skip()?;
        }
        Ok(properties)
    }

    /// Reads a child of a run, or any other element that may have words.
    fn run_child(&mut self, element: &Element, look: Look) -> WordResult<()> {
        match element.name.as_str() {
            "w:t" | "w:delText" => {
                let text = self.xml.text()?;
                self.characters(&text, element.keeps_blanks(), look);
                return Ok(());
            }
            "w:instrText" | "w:delInstrText" => {
                let words = self.xml.text()?;
                self.instruct(&words);
                return Ok(());
            }
            "w:fldChar" => return self.field_sign(element),
            "w:drawing" | "w:pict" | "w:object" => return self.drawing(element),
            "w:ruby" => return self.ruby(look),
            "w:txbxContent" => {
                self.findings.report.decide("text box");
                return self.boxed_blocks();
            }
            "w:r"
            | "w:p"
            | "w:tbl"
            | "m:oMath"
            | "m:oMathPara"
            | "w:hyperlink"
            | "w:fldSimple"
            | "w:sdt"
            | "mc:AlternateContent" => return self.inline(element),
            name if is_property(name) => return self.xml.skip(),
            _ => {}
        }
        if let Some(content) = self.sign(element) {
            self.push(content, look);
            return self.xml.skip();
        }
        while let Some(node) = self.xml.next()? {
            match node {
                Node::Element(element) => self.run_child(&element, look)?,
                Node::Text(text) if text.trim().is_empty() => {}
                Node::Text(text) => self.push(Content::Text(text), look),
            }
        }
        Ok(())
    }

    /// Adds the characters of `w:t`.
    fn characters(&mut self, text: &str, keeps_blanks: bool, look: Look) {
        let text = if keeps_blanks { text } else { without_line_ends(text) };
        if text.is_empty() {
            return;
        }
        let text: String = text
            .chars()
            .map(|c| match c {
                '\n' | '\r' => ' ',
                c => symbols::private(c).unwrap_or(c),
            })
            .collect();
        self.push(Content::Text(text), look);
    }

    /// Returns what an element without words stands for.
    fn sign(&mut self, element: &Element) -> Option<Content> {
        let text = |text: &str| Some(Content::Text(text.to_owned()));
        match element.name.as_str() {
            "w:tab" | "w:ptab" => text("\t"),
            "w:cr" => Some(Content::Break),
            "w:br" => match element.attribute("type").as_deref() {
                Some("page" | "column") => {
                    self.findings.report.leave_out("page break", None);
                    None
                }
                _ => Some(Content::Break),
            },
            "w:noBreakHyphen" => text("\u{2011}"),
            "w:softHyphen" => text("\u{ad}"),
            "w:sym" => {
                let font = element.attribute("font").unwrap_or_default();
                let code = element.attribute("char").unwrap_or_default();
                let number = u32::from_str_radix(&code, 16).ok();
                let known = number.and_then(|number| symbols::character(&font, number));
                if known.is_none() {
                    self.findings.report.leave_out("symbol", Some(&format!("{font} {code}")));
                }
                known.map(|c| Content::Text(c.to_string()))
            }
            "w:footnoteReference" | "w:endnoteReference" => {
                let kind =
                    if element.name == "w:footnoteReference" { "w:footnote" } else { "w:endnote" };
                let id = element.attribute("id")?;
                Some(Content::Note(self.note(kind, &id)))
            }
            _ => None,
        }
    }

    fn field_sign(&mut self, element: &Element) -> WordResult<()> {
        match element.attribute("fldCharType").as_deref() {
            Some("begin") => {
                let shown = self.form_field()?;
                self.begin_field();
                if let Some(shown) = shown {
                    // What a form shows is in its data, not in a result.
                    self.begin_result();
                    self.push(Content::Text(shown), Look::default());
                }
                return Ok(());
            }
            Some("separate") => self.begin_result(),
            Some("end") => self.end_field(),
            _ => {}
        }
        self.xml.skip()
    }

    /// Reads the data of a field in a form, and returns what is shown of a box or a choice.
    fn form_field(&mut self) -> WordResult<Option<String>> {
        let (mut ticked, mut chosen, mut entries) = (None, 0, Vec::new());
        while let Some(data) = self.xml.next_element()? {
            let _ = data;
            while let Some(part) = self.xml.next_element()? {
                let is_box = part.name == "w:checkBox";
                while let Some(state) = self.xml.next_element()? {
                    match state.name.as_str() {
                        "w:default" | "w:checked" if is_box => ticked = Some(state.is_on()),
                        "w:result" => chosen = state.number("val").unwrap_or_default(),
                        "w:listEntry" => entries.extend(state.value()),
                        _ => {}
                    }
                    self.xml.skip()?;
                }
                if is_box {
                    ticked = ticked.or(Some(false));
                }
            }
        }
        let ticked = ticked.map(|ticked| tick(ticked).to_owned());
        Ok(ticked.or_else(|| entries.into_iter().nth(chosen)))
    }

    /// Reads words with their pronunciation above: the words stay.
    fn ruby(&mut self, look: Look) -> WordResult<()> {
        while let Some(child) = self.xml.next_element()? {
            match child.name.as_str() {
                "w:rt" => {
                    let words = self.words()?;
                    self.findings.report.leave_out("pronunciation", Some(&words));
                }
                name if is_property(name) => self.xml.skip()?,
                _ => self.run_child(&child, look)?,
            }
        }
        Ok(())
    }
}

/// Returns the character of a box to tick.
fn tick(ticked: bool) -> &'static str {
    if ticked { "☒" } else { "☐" }
}

/// Returns whether an element only says how others look.
fn is_property(name: &str) -> bool {
    name.ends_with("Pr")
        || name.ends_with("PrEx")
        || name == "w:footnoteRef"
        || name == "w:endnoteRef"
}

/// Returns a text without the line ends and indentation of a file that was set out for reading.
fn without_line_ends(text: &str) -> &str {
    let start = text.len() - text.trim_start().len();
    let text = if text[..start].contains('\n') { &text[start..] } else { text };
    let end = text.trim_end().len();
    if text[end..].contains('\n') { &text[..end] } else { text }
}
