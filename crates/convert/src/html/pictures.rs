//! Pictures. Those of the web stay as addresses, others are counted.

use crate::addresses::is_web;
use crate::tree::Inline;

use super::dom::Id;
use super::flow::Flow;
use super::reader::{Context, Reader};
use super::style::{Style, White};

impl Reader<'_> {
    /// Reads a picture.
    pub fn picture(&mut self, id: Id, context: Context, flow: &mut Flow) {
        let is_box = self.dom.is(id, "aria-roledescription", "checkbox");
        if is_box || self.is_unseen(id) {
            return;
        }
        let description =
            self.dom.value(id, "alt").split_whitespace().collect::<Vec<_>>().join(" ");
        let is_sign = !description.is_empty()
            && description.chars().count() <= 8
            && !description.chars().any(|sign| sign.is_alphanumeric() || sign.is_ascii());
        if is_sign {
            // Signs such as 😄, which pages draw themselves.
            return flow.text(&description, context.marks, White::Collapsed);
        }
        let places = ["src", "data-src", "data-original"];
        let mut sources = places.iter().filter_map(|place| self.dom.attribute(id, place));
        let of_web = |source: &str| self.address(source.trim()).filter(|url| is_web(url));
        if let Some(url) = sources.find_map(of_web) {
            let title = self.dom.value(id, "title").trim().to_owned();
            flow.inline(Inline::Picture { url, title, description }, context.marks);
        } else {
            self.report.leave_out("picture", Some(&description));
            flow.text(&description, context.marks, White::Collapsed);
        }
    }

    /// Returns whether a picture is a dot that only counts readers.
    fn is_unseen(&self, id: Id) -> bool {
        let style = Style::of(self.dom, id);
        let is_dot = |side: &str| {
            let size = style.get(side).or_else(|| self.dom.attribute(id, side)).unwrap_or_default();
            matches!(size.trim().trim_end_matches("px"), "0" | "1")
        };
        is_dot("width") && is_dot("height")
    }
}
