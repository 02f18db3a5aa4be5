//! Elements within lines.

use crate::report::LONGEST_EXAMPLE;
use crate::tree::Inline;

use super::dom::Id;
use super::flow::Flow;
use super::reader::{Context, Reader};
use super::style::White;

/// Nodes before the first pronunciation in an element of ruby, at most.
const RUBY_BASE: usize = 200;

impl Reader<'_> {
    /// Reads an element that does not begin a line.
    pub fn inline_element(&mut self, id: Id, mut context: Context, flow: &mut Flow) {
        match self.dom.name(id) {
            "br" => flow.line_break(context.marks),
            "wbr" => {}
            "a" => {
                context.marks.link = self.link(id).or(context.marks.link);
                self.children(id, context, flow);
            }
            "img" => self.picture(id, context, flow),
            "input" => self.input(id, context, flow),
            "q" => {
                flow.text("“", context.marks, White::Collapsed);
                self.children(id, context, flow);
                flow.text("”", context.marks, White::Collapsed);
            }
            "iframe" => self.embedded(id, context, flow),
            "video" | "audio" | "object" | "embed" | "canvas" => {
                let name = if self.dom.name(id) == "object" {
                    "embedded document"
                } else {
                    self.dom.name(id)
                };
                let example =
                    self.dom.attribute(id, "title").or(self.dom.attribute(id, "aria-label"));
                self.report.leave_out(name, example);
                self.children(id, context, flow);
            }
            "select" => self.choice(id, context, flow),
            "textarea" => {
                flow.end_line(&self.links);
                self.children(id, context, flow);
                flow.end_line(&self.links);
            }
            "sup" | "sub" => {
                if !self.found_notes.has_reference(id) {
                    self.report.decide("raised or lowered text");
                }
                self.children(id, context, flow);
            }
            "ruby" => {
                if self.dom.within(id).take(RUBY_BASE).any(|it| self.dom.name(it) == "rt") {
                    let example = self.dom.first_words(id, LONGEST_EXAMPLE);
                    self.report.leave_out("pronunciation", Some(&example));
                }
                self.children(id, context, flow);
            }
            _ => self.children(id, context, flow),
        }
    }

    /// Reads a box to tick that makes no task.
    fn input(&mut self, id: Id, context: Context, flow: &mut Flow) {
        if self.dom.is(id, "type", "checkbox") && !context.is_task {
            let sign = if self.dom.attribute(id, "checked").is_some() { "☑ " } else { "☐ " };
            flow.inline(Inline::Text(sign.to_owned()), context.marks);
        }
    }

    /// Reads a frame, whose words for old browsers are characters, not elements.
    fn embedded(&mut self, id: Id, context: Context, flow: &mut Flow) {
        let name = self.dom.attribute(id, "title").or(self.dom.attribute(id, "src"));
        self.report.leave_out("embedded document", name);
        let inner = super::parse::parse(&self.dom.text(id));
        flow.text(&inner.text(0), context.marks, context.white);
    }

    /// Reads the choice that is shown.
    fn choice(&mut self, id: Id, context: Context, flow: &mut Flow) {
        let options = || self.dom.within(id).filter(|it| self.dom.name(*it) == "option");
        let chosen = options().find(|it| self.dom.attribute(*it, "selected").is_some());
        if let Some(option) = chosen.or_else(|| options().next()) {
            self.children(option, context, flow);
        }
    }
}
