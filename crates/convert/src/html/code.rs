//! Code, exactly as it was: its lines, its blanks and its language.

use crate::tree::Block;

use super::block_names::is_block_name;
use super::dom::{Data, Dom, Id};
use super::flow::Flow;
use super::reader::{Context, Reader};
use super::style::{Style, White};

/// Classes of columns that number the lines of code.
const LINE_NUMBERS: [&str; 15] = [
    "lineno",
    "linenos",
    "line-number",
    "line-numbers",
    "line-numbers-rows",
    "linenumber",
    "gutter",
    "blob-num",
    "hljs-ln-numbers",
    "rouge-gutter",
    "line_number",
    "diff-line-num",
    "lnt",
    "react-line-number",
    "ln",
];
/// Beginnings of classes before the name of a language.
const PREFIXES: [&str; 5] =
    ["language-", "lang-", "highlight-source-", "highlight-text-", "brush-"];
/// Names that say that code has no language.
const NO_LANGUAGES: [&str; 9] =
    ["none", "plaintext", "plain", "text", "txt", "undefined", "auto", "nohighlight", "default"];

impl Reader<'_> {
    /// Reads an element if it is a block of code.
    pub fn is_code_block(
        &mut self,
        id: Id,
        style: Style<'_>,
        context: Context,
        flow: &mut Flow,
    ) -> bool {
        let is_code = match self.dom.name(id) {
            "pre" | "listing" | "xmp" | "plaintext" => true,
            "code" | "samp" | "tt" => has_lines(self.dom, id, context.white),
            "div" | "section" => style.white() == Some(White::Kept) && style.is_monospaced(),
            _ => false,
        };
        if !is_code {
            return false;
        }
        flow.end_line(&self.links);
        let mut text = String::new();
        code_text(self.dom, id, &mut text);
        self.push_code(id, &text, flow);
        true
    }

    /// Reads a table that shows code with numbers of lines.
    pub fn is_code_table(&mut self, id: Id, context: Context, flow: &mut Flow) -> bool {
        let cells = || self.dom.within(id).filter(|it| matches!(self.dom.name(*it), "td" | "th"));
        let is_code = cells().any(|it| {
            is_line_number(self.dom, it) || self.dom.has_class(it, &["blob-code", "hljs-ln-code"])
        });
        if !is_code {
            return false;
        }
        let with_code: Vec<Id> = cells()
            .filter(|it| !is_line_number(self.dom, *it))
            .filter(|it| self.dom.within(*it).any(|it| self.dom.name(it) == "pre"))
            .collect();
        for cell in &with_code {
            self.children(*cell, context, flow);
        }
        if with_code.is_empty() {
            let mut text = String::new();
            code_text(self.dom, id, &mut text);
            self.push_code(id, &text, flow);
        }
        true
    }

    fn push_code(&self, id: Id, text: &str, flow: &mut Flow) {
        let text = text.strip_suffix('\n').unwrap_or(text).replace('\u{a0}', " ");
        if !text.trim().is_empty() {
            flow.push(Block::Code { language: language(self.dom, id), text });
        }
    }
}

/// Returns whether code within a line has several lines.
fn has_lines(dom: &Dom, id: Id, white: White) -> bool {
    // Elements whose blanks are kept are looked at as a whole, the outermost for those in it.
    let mut kept_until = 0;
    dom.within(id).enumerate().skip(1).any(|(place, it)| match &dom.nodes[it].data {
        Data::Text(text) => white == White::Kept && text.trim_end().contains('\n'),
        Data::Element { .. } => {
            let style = Style::of(dom, it);
            let is_kept = style.white() == Some(White::Kept) && place >= kept_until;
            if is_kept {
                kept_until = place + dom.within(it).count();
            }
            dom.name(it) == "br"
                || is_block_name(dom.name(it))
                || style.is("display", "block")
                || (is_kept && dom.text(it).trim_end().contains('\n'))
        }
        _ => false,
    })
}

/// Adds the characters of code. Elements that are lines end with a line end.
fn code_text(dom: &Dom, id: Id, into: &mut String) {
    for child in dom.children(id) {
        match &dom.nodes[*child].data {
            // Blanks between the rows of a table are not seen.
            Data::Text(text)
                if text.trim().is_empty()
                    && matches!(dom.name(id), "table" | "tbody" | "thead" | "tr") => {}
            Data::Text(text) => into.push_str(text),
            Data::Element { .. } => code_element(dom, *child, into),
            _ => {}
        }
    }
}

fn code_element(dom: &Dom, id: Id, into: &mut String) {
    let name = dom.name(id);
    let style = Style::of(dom, id);
    let is_unseen = is_line_number(dom, id)
        || style.is_hidden()
        || style.is("user-select", "none")
        || style.is("-webkit-user-select", "none")
        || matches!(name, "button" | "script" | "style" | "template");
    if is_unseen {
        return;
    }
    if name == "br" {
        return into.push('\n');
    }
    let is_line = (is_block_name(name) && !matches!(name, "td" | "th"))
        || style.is("display", "block")
        || style.is("display", "flex");
    if !is_line {
        return code_text(dom, id, into);
    }
    if !into.is_empty() && !into.ends_with('\n') {
        into.push('\n');
    }
    let before = into.len();
    code_text(dom, id, into);
    let is_empty_row = name == "tr" && into.len() == before;
    if is_empty_row || (into.len() > before && !into.ends_with('\n')) {
        into.push('\n');
    }
}

fn is_line_number(dom: &Dom, id: Id) -> bool {
    dom.has_class(id, &LINE_NUMBERS)
}

/// Returns the language that an element, one in it or one around it names.
fn language(dom: &Dom, id: Id) -> String {
    let inside = dom.within(id).take(8).filter(|it| dom.is_element(*it));
    let around = dom.ancestors(id).take(7);
    let named = inside.chain(around).find_map(|it| named_language(dom, it));
    named.unwrap_or_default()
}

fn named_language(dom: &Dom, id: Id) -> Option<String> {
    let is_language = |name: &str| {
        let name = name.trim().to_ascii_lowercase();
        let is_name = !name.is_empty()
            && name.len() <= 30
            && name.chars().all(|sign| sign.is_ascii_alphanumeric() || "+-#._".contains(sign))
            && !NO_LANGUAGES.contains(&name.as_str());
        is_name.then_some(name)
    };
    let attributes = ["data-lang", "data-language", "data-code-language", "data-canonical-lang"];
    if let Some(name) = attributes.iter().find_map(|it| is_language(dom.value(id, it))) {
        return Some(name);
    }
    // Elsewhere, `lang` is the language of people.
    if dom.name(id) == "pre"
        && let Some(name) = is_language(dom.value(id, "lang"))
    {
        return Some(name);
    }
    let classes = dom.value(id, "class");
    if let Some((_, behind)) = classes.split_once("brush:") {
        return is_language(behind.trim_start().split([';', ' ']).next()?);
    }
    let prefixed = dom.classes(id).find_map(|class| {
        let name = PREFIXES.iter().find_map(|prefix| class.strip_prefix(prefix))?;
        is_language(name.strip_suffix("-basic").unwrap_or(name))
    });
    if prefixed.is_some() {
        return prefixed;
    }
    // `sourceCode python`, `hljs js`, `highlight ruby`.
    let mut rest = dom.classes(id).filter(|class| !is_general(class));
    let is_highlighted = dom.classes(id).any(is_general);
    let only = rest.next().filter(|_| is_highlighted && rest.next().is_none());
    only.filter(|name| name.len() <= 12).and_then(is_language)
}

fn is_general(class: &str) -> bool {
    matches!(class, "sourceCode" | "hljs" | "highlight" | "src" | "code-block")
}
