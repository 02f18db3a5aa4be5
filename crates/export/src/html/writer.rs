//! Markdown as HTML, event by event.

use std::fmt::Write as _;
use std::ops::Range;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Tag, TagEnd};

use super::super::markdown::{CommentFilter, is_end_without_blank};
use super::notes::PageNotes;
use super::raw::RawHtml;
use super::{escape_text, escaped};

/// Deepest nesting of elements; deeper ones are flattened.
const DEEPEST: usize = 100;
/// Schemes of addresses that are linked; addresses without a scheme are linked too.
const SCHEMES: [&str; 4] = ["http", "https", "mailto", "tel"];
/// Signs that an address may contain as they are. Others are written as `%XX`.
const SAFE_IN_ADDRESS: &str = "-_.+!*(),%#@?=;:/,$~[]";

/// Table that is being written.
#[derive(Default)]
struct PageTable {
    alignments: Vec<Alignment>,
    column: usize,
    is_head: bool,
}

/// Picture whose description is being read.
struct Picture {
    address: String,
    title: String,
    description: String,
    /// Number of Markdown's elements that are open around it.
    level: usize,
}

pub(super) struct PageWriter<'a> {
    source: &'a str,
    out: String,
    raw: RawHtml,
    /// Number of Markdown's own elements that are open.
    level: usize,
    /// Number of list items among them.
    items: usize,
    table: PageTable,
    picture: Option<Picture>,
    comments: CommentFilter,
    /// Lines of the block of HTML that is being read.
    html: String,
    notes: PageNotes,
    /// Places of the notes that are being written, each with the page before it.
    open_notes: Vec<(usize, String)>,
}

impl<'a> PageWriter<'a> {
    /// Begins a page after its `head`.
    pub fn new(source: &'a str, head: String) -> Self {
        let mut out = head;
        out.reserve(source.len() * 5 / 4);
        Self {
            source,
            out,
            raw: RawHtml::default(),
            level: 0,
            items: 0,
            table: PageTable::default(),
            picture: None,
            comments: CommentFilter::default(),
            html: String::new(),
            notes: PageNotes::default(),
            open_notes: Vec::new(),
        }
    }

    /// Returns the number of different tags that went through the cleaner.
    #[cfg(test)]
    pub fn cleaned_tags(&self) -> usize {
        self.raw.cleaned_tags()
    }

    /// Returns the page with its footnotes.
    pub fn finish(mut self) -> String {
        self.raw.leave(0, &mut self.out);
        self.notes.write(&mut self.out);
        self.out
    }

    /// Writes an event; `range` is its place in the source.
    pub fn event(&mut self, event: Event, range: &Range<usize>) {
        match event {
            Event::Start(Tag::HtmlBlock) => self.comments.begin(self.source, range),
            Event::Html(html) => {
                for visible in self.comments.visible(&html, range.start) {
                    self.html.push_str(&html[visible]);
                }
            }
            Event::End(TagEnd::HtmlBlock) => {
                let html = std::mem::take(&mut self.html);
                self.raw.write(&html, self.level, &mut self.out);
                self.raw.end_block();
            }
            Event::Start(tag) => {
                self.level += 1;
                self.start(tag);
            }
            Event::End(tag) => {
                self.raw.leave(self.level, &mut self.out);
                self.end(tag);
                self.level = self.level.saturating_sub(1);
            }
            words => self.words(words, range),
        }
    }

    fn words(&mut self, event: Event, range: &Range<usize>) {
        if self.raw.hides_text() && !matches!(event, Event::InlineHtml(_)) {
            return;
        }
        match event {
            Event::Text(text) => self.text(&text),
            Event::Code(code) if self.picture.is_none() => {
                self.out.push_str("<code>");
                self.text(&code);
                self.out.push_str("</code>");
            }
            Event::Code(code) => self.text(&code),
            Event::InlineMath(_) | Event::DisplayMath(_) => {
                // Formulas stay as they were written.
                let source = self.source;
                self.text(source.get(range.clone()).unwrap_or_default());
            }
            Event::InlineHtml(html) if self.picture.is_none() && !html.starts_with("<!--") => {
                self.raw.write(&html, self.level, &mut self.out);
            }
            Event::SoftBreak if is_end_without_blank(self.source, range) => {}
            Event::SoftBreak => self.text("\n"),
            Event::HardBreak if self.picture.is_none() => self.out.push_str("<br>\n"),
            Event::HardBreak => self.text(" "),
            Event::Rule => self.out.push_str("<hr>\n"),
            Event::TaskListMarker(done) => {
                let checked = if done { " checked" } else { "" };
                _ = write!(self.out, "<input type=\"checkbox\" disabled{checked}> ");
            }
            Event::FootnoteReference(name) => self.notes.reference(&name, &mut self.out),
            Event::InlineHtml(_) | Event::Html(_) | Event::Start(_) | Event::End(_) => {}
        }
    }

    fn text(&mut self, text: &str) {
        match &mut self.picture {
            Some(picture) => picture.description.push_str(text),
            None => escape_text(text, &mut self.out),
        }
    }

    /// Writes the beginning of an element. Inside the description of a picture there are none.
    fn start(&mut self, tag: Tag) {
        if self.picture.is_some() {
            return;
        }
        match tag {
            Tag::Image { dest_url, title, .. } => {
                self.picture = Some(Picture {
                    address: dest_url.into_string(),
                    title: title.into_string(),
                    description: String::new(),
                    level: self.level,
                });
            }
            Tag::FootnoteDefinition(name) => {
                let place = self.notes.place(&name);
                self.open_notes.push((place, std::mem::take(&mut self.out)));
            }
            Tag::Table(alignments) => {
                self.table = PageTable { alignments, ..PageTable::default() };
                self.out.push_str("<table dir=\"auto\"><thead>");
            }
            Tag::TableHead | Tag::TableRow => {
                (self.table.is_head, self.table.column) = (tag == Tag::TableHead, 0);
                self.out.push_str("<tr>");
            }
            Tag::TableCell => self.cell(),
            Tag::List(_) => {
                // A list inside of an item begins on a line of its own.
                if !self.out.ends_with('\n') {
                    self.out.push('\n');
                }
                self.element(&start_tag(&tag, self.items > 0));
            }
            Tag::Item => {
                self.items += 1;
                self.element("<li dir=\"auto\">");
            }
            tag => self.element(&start_tag(&tag, self.items > 0)),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        if let Some(picture) = self.picture.take_if(|picture| picture.level == self.level) {
            return self.out.push_str(&picture.tag());
        }
        if self.picture.is_some() {
            return;
        }
        match tag {
            TagEnd::FootnoteDefinition => {
                if let Some((place, before)) = self.open_notes.pop() {
                    let content = std::mem::replace(&mut self.out, before);
                    self.notes.add(place, &content);
                }
            }
            TagEnd::Table => self.out.push_str("</tbody></table>\n"),
            TagEnd::TableHead => self.out.push_str("</tr></thead>\n<tbody>"),
            TagEnd::TableRow => self.out.push_str("</tr>\n"),
            TagEnd::TableCell => {
                self.out.push_str(if self.table.is_head { "</th>" } else { "</td>" });
                self.table.column += 1;
            }
            TagEnd::Item => {
                self.items = self.items.saturating_sub(1);
                self.element("</li>\n");
            }
            tag => self.element(end_tag(tag)),
        }
    }

    /// Writes the beginning or the end of an element, unless it is too deep.
    fn element(&mut self, tag: &str) {
        if self.level <= DEEPEST {
            self.out.push_str(tag);
        }
    }

    fn cell(&mut self) {
        let side = match self.table.alignments.get(self.table.column) {
            Some(Alignment::Left) => "left",
            Some(Alignment::Center) => "center",
            Some(Alignment::Right) => "right",
            Some(Alignment::None) | None => "",
        };
        let name = if self.table.is_head { "th" } else { "td" };
        if side.is_empty() {
            self.out.extend(["<", name, ">"]);
        } else {
            self.out.extend(["<", name, " style=\"text-align: ", side, "\">"]);
        }
    }
}

impl Picture {
    fn tag(&self) -> String {
        let mut tag = String::from("<img");
        if is_safe_address(&self.address) {
            tag.push_str(" src=\"");
            escape_address(&self.address, &mut tag);
            tag.push('"');
        }
        _ = write!(tag, " alt=\"{}\"", escaped(&self.description));
        if !self.title.is_empty() {
            _ = write!(tag, " title=\"{}\"", escaped(&self.title));
        }
        tag.push('>');
        tag
    }
}

/// Returns the beginning of an element that needs no state.
fn start_tag(tag: &Tag, is_in_item: bool) -> String {
    let simple = match tag {
        // The direction of an item counts for its paragraphs too.
        Tag::Paragraph if is_in_item => "<p>",
        Tag::Paragraph => "<p dir=\"auto\">",
        Tag::BlockQuote(_) => "<blockquote>\n",
        Tag::List(None) => "<ul>\n",
        Tag::Emphasis => "<em>",
        Tag::Strong => "<strong>",
        Tag::Strikethrough => "<del>",
        Tag::Superscript => "<sup>",
        Tag::Subscript => "<sub>",
        Tag::Heading { level, .. } => return format!("<h{} dir=\"auto\">", *level as u8),
        Tag::List(Some(1)) => "<ol>\n",
        Tag::List(Some(start)) => return format!("<ol start=\"{start}\">\n"),
        Tag::CodeBlock(CodeBlockKind::Fenced(info)) => return code_tag(info),
        Tag::CodeBlock(CodeBlockKind::Indented) => "<pre><code>",
        Tag::Link { dest_url, title, .. } => return link_tag(dest_url, title),
        _ => "",
    };
    simple.to_owned()
}

fn code_tag(info: &str) -> String {
    match info.split_whitespace().next() {
        Some(language) => format!("<pre><code class=\"language-{}\">", escaped(language)),
        None => "<pre><code>".to_owned(),
    }
}

fn link_tag(address: &str, title: &str) -> String {
    if !is_safe_address(address) {
        return "<a>".to_owned();
    }
    let mut tag = String::from("<a href=\"");
    escape_address(address, &mut tag);
    tag.push_str("\" rel=\"noopener noreferrer\"");
    if !title.is_empty() {
        _ = write!(tag, " title=\"{}\"", escaped(title));
    }
    tag.push('>');
    tag
}

fn end_tag(tag: TagEnd) -> &'static str {
    match tag {
        TagEnd::Paragraph => "</p>\n",
        TagEnd::BlockQuote(_) => "</blockquote>\n",
        TagEnd::List(false) => "</ul>\n",
        TagEnd::List(true) => "</ol>\n",
        TagEnd::CodeBlock => "</code></pre>\n",
        TagEnd::Emphasis => "</em>",
        TagEnd::Strong => "</strong>",
        TagEnd::Strikethrough => "</del>",
        TagEnd::Superscript => "</sup>",
        TagEnd::Subscript => "</sub>",
        TagEnd::Link => "</a>",
        TagEnd::Heading(HeadingLevel::H1) => "</h1>\n",
        TagEnd::Heading(HeadingLevel::H2) => "</h2>\n",
        TagEnd::Heading(HeadingLevel::H3) => "</h3>\n",
        TagEnd::Heading(HeadingLevel::H4) => "</h4>\n",
        TagEnd::Heading(HeadingLevel::H5) => "</h5>\n",
        TagEnd::Heading(HeadingLevel::H6) => "</h6>\n",
        _ => "",
    }
}

/// Returns `true` if a browser runs nothing at the address.
fn is_safe_address(address: &str) -> bool {
    // Browsers leave out blanks and control characters in front of and inside a scheme.
    let written = |c: &char| !c.is_whitespace() && !c.is_control();
    let scheme: String =
        address.chars().filter(written).take_while(|c| !"/?#".contains(*c)).collect();
    match scheme.split_once(':') {
        Some((scheme, _)) => SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()),
        None => true,
    }
}

/// Writes an address as the value of an attribute.
fn escape_address(address: &str, out: &mut String) {
    for c in address.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '\'' => out.push_str("&#x27;"),
            c if c.is_ascii_alphanumeric() || SAFE_IN_ADDRESS.contains(c) => out.push(c),
            c => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    _ = write!(out, "%{byte:02X}");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_that_run_nothing_are_linked() {
        for address in ["", "a/b:c", "#n", "?a:b", "https://a.example/", "MAILTO:a@b.example"] {
            assert!(is_safe_address(address), "{address}");
        }
        for address in
            ["javascript:x", " java\tscript:x", "\u{1}JavaScript:x", "data:x", "file:///x", ":x"]
        {
            assert!(!is_safe_address(address), "{address}");
        }
    }

    #[test]
    fn an_address_cannot_end_its_attribute() {
        let mut out = String::new();
        escape_address("https://a.example/a_(b)?x=1&y=\"><b>é 'c'", &mut out);
        assert_eq!(out, "https://a.example/a_(b)?x=1&amp;y=%22%3E%3Cb%3E%C3%A9%20&#x27;c&#x27;");
    }
}
