//! Parsing with html5ever, within limits: pages are hostile.
//!
//! The tree builder looks through all open elements for many tags, and opens marks that were left
//! open again in each paragraph. So elements are not nested deeper than [`MOST_OPEN`], and if marks
//! are opened again too often, they are closed.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{Tracer, TreeBuilder, TreeBuilderOpts};
use html5ever::{LocalName, TokenizerResult};

use super::dom::Dom;
use super::sink::{Handle, Sink};

/// Maximum number of elements and marks that are open at once.
const MOST_OPEN: usize = 160;
/// Elements that one tag opens at most: those that a table needs, and its own.
const OPENED_BY_TAG: usize = 4;
/// Elements that are made for each tag before marks that were left open are closed.
const MOST_MADE_PER_TAG: usize = 6;
/// Attributes of one tag that are read. Others are compared with all before them.
pub const MOST_ATTRIBUTES: usize = 500;

/// Elements that nothing is nested in.
const LEAVES: [&str; 22] = [
    "area", "base", "br", "col", "embed", "hr", "iframe", "img", "input", "link", "meta",
    "noembed", "noframes", "param", "script", "source", "style", "textarea", "title", "track",
    "wbr", "xmp",
];
/// Marks that are opened again in the next paragraph if they were left open.
const MARKS: [&str; 14] = [
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
];

/// Parses a page or a fragment.
pub fn parse(html: &str) -> Dom {
    let sink = Sink::default();
    let options = TreeBuilderOpts {
        scripting_enabled: false,
        drop_doctype: true,
        ..TreeBuilderOpts::default()
    };
    let limited = Limited {
        builder: TreeBuilder::new(sink, options),
        open: Cell::new(0),
        tags: Cell::new(0),
        is_flooded: Cell::new(false),
        is_after_blank: Cell::new(false),
        dropped: RefCell::default(),
    };
    let tokenizer = Tokenizer::new(limited, TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(without_long_tags(html).as_str()));
    // Scripts are not run, so reading goes on behind each.
    while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
    tokenizer.end();
    tokenizer.sink.builder.sink.into_dom()
}

/// Tokens on their way to the tree builder.
struct Limited {
    builder: TreeBuilder<Handle, Sink>,
    /// Upper bound of the elements and marks that are open.
    open: Cell<usize>,
    tags: Cell<usize>,
    is_flooded: Cell<bool>,
    /// `true` if a blank stands for the tags before.
    is_after_blank: Cell<bool>,
    /// Tags that were left out and whose end tags are to come, by name.
    dropped: RefCell<HashMap<LocalName, usize>>,
}

impl TokenSink for Limited {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        let Token::TagToken(tag) = &token else {
            self.is_after_blank.set(false);
            return self.builder.process_token(token, line);
        };
        self.tags.set(self.tags.get() + 1);
        self.close_flooding_marks(line);
        let is_left_out = match tag.kind {
            TagKind::StartTag => !self.may_open(tag),
            TagKind::EndTag => self.ends_dropped(&tag.name),
        };
        if !is_left_out {
            return self.builder.process_token(token, line);
        }
        if super::block_names::is_block_name(&tag.name) && !self.is_after_blank.replace(true) {
            // Words of two blocks do not run together.
            return self.builder.process_token(Token::CharacterTokens(" ".into()), line);
        }
        TokenSinkResult::Continue
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

impl Limited {
    fn may_open(&self, tag: &Tag) -> bool {
        if LEAVES.contains(&&*tag.name) {
            return true;
        }
        if self.open.get() + OPENED_BY_TAG > MOST_OPEN {
            let counter = Counter(Cell::new(0));
            self.builder.trace_handles(&counter);
            self.open.set(counter.0.get());
        }
        let is_flood = self.is_flooded.get() && MARKS.contains(&&*tag.name);
        if is_flood || self.open.get() + OPENED_BY_TAG > MOST_OPEN {
            *self.dropped.borrow_mut().entry(tag.name.clone()).or_default() += 1;
            return false;
        }
        self.open.set(self.open.get() + OPENED_BY_TAG);
        true
    }

    fn ends_dropped(&self, name: &LocalName) -> bool {
        match self.dropped.borrow_mut().get_mut(name) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }

    /// Closes all marks if a page makes the tree builder open them again and again.
    fn close_flooding_marks(&self, line: u64) {
        let most = self.tags.get() * MOST_MADE_PER_TAG + 4 * MOST_OPEN;
        if self.is_flooded.get() || self.builder.sink.made() < most {
            return;
        }
        self.is_flooded.set(true);
        for name in MARKS {
            for _ in 0..MOST_OPEN {
                let tag = Tag {
                    kind: TagKind::EndTag,
                    name: LocalName::from(name),
                    self_closing: false,
                    attrs: Vec::new(),
                    had_duplicate_attributes: false,
                };
                _ = self.builder.process_token(Token::TagToken(tag), line);
            }
        }
    }
}

/// Counts handles.
struct Counter(Cell<usize>);

impl Tracer for Counter {
    type Handle = Handle;

    fn trace_handle(&self, _: &Handle) {
        self.0.set(self.0.get() + 1);
    }
}

/// Cuts tags behind so many attributes that comparing them takes long.
fn without_long_tags(html: &str) -> String {
    let mut kept = String::with_capacity(html.len());
    let (mut is_tag, mut quote, mut attributes) = (false, None, 0_usize);
    let mut before = ' ';
    for sign in html.chars() {
        let is_cut = is_tag && attributes > MOST_ATTRIBUTES;
        match (is_tag, quote, sign) {
            (true, Some(open), sign) if sign == open => quote = None,
            (true, None, '"' | '\'') if before == '=' => quote = Some(sign),
            (true, None, '>') => (is_tag, attributes) = (false, 0),
            (true, None, sign) if sign.is_ascii_whitespace() || sign == '/' => attributes += 1,
            (false, _, sign) if before == '<' && sign.is_ascii_alphabetic() => is_tag = true,
            _ => {}
        }
        if !is_cut || !is_tag {
            kept.push(sign);
        }
        if !(is_tag && sign.is_ascii_whitespace()) {
            before = sign;
        }
    }
    kept
}

/// Handle's name, shared by its copies.
pub type Name = Rc<html5ever::QualName>;
