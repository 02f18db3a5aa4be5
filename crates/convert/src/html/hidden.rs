//! Parts of a page that it holds and does not show.

use super::dom::Id;
use super::reader::Reader;
use super::style::Style;

impl Reader<'_> {
    /// Returns whether an element is left out with what is in it. Words that are hidden are
    /// counted.
    pub fn is_left_out(&mut self, id: Id) -> bool {
        match self.dom.name(id) {
            "head" | "title" | "style" | "script" | "template" | "link" | "meta" | "rt" | "rp"
            | "rtc" | "datalist" | "xml" | "source" | "track" | "param" | "col" | "colgroup"
            | "area" => {
                return true;
            }
            "svg" => {
                if !self.dom.is(id, "aria-hidden", "true") {
                    self.report.leave_out("picture", Some(&self.dom.words(id)));
                }
                return true;
            }
            _ => {}
        }
        if self.is_comment(id) || self.is_permalink(id) {
            return true;
        }
        let is_hidden =
            self.dom.attribute(id, "hidden").is_some() || Style::of(self.dom, id).is_hidden();
        if is_hidden {
            let words = self.dom.words(id);
            if !words.is_empty() {
                self.report.leave_out("hidden text", Some(&words));
            }
        }
        is_hidden
    }

    /// Returns whether an element is a comment of Word, or a mark of one in the text.
    fn is_comment(&mut self, id: Id) -> bool {
        let style = Style::of(self.dom, id);
        if style.is("mso-element", "comment") && !style.is("mso-element", "comment-list") {
            self.report.leave_out("comment", Some(&self.dom.words(id)));
            return true;
        }
        let is_rule = self.dom.has_class(id, &["msocomoff"]) && self.dom.name(id) == "hr";
        let leads_to_comment = self.dom.name(id) == "a"
            && self.dom.value(id, "href").contains("#_msocom_")
            && !style.is("mso-comment-reference", "");
        is_rule || leads_to_comment || self.dom.has_class(id, &["MsoCommentReference"])
    }

    /// Returns whether an element is the sign beside a heading that links to itself.
    fn is_permalink(&self, id: Id) -> bool {
        const CLASSES: [&str; 5] =
            ["headerlink", "anchor", "header-anchor", "anchor-link", "hash-link"];
        self.dom.name(id) == "a"
            && self.dom.value(id, "href").contains('#')
            && self.dom.has_class(id, &CLASSES)
            && matches!(
                self.dom.first_words(id, 8).trim_matches('\u{200b}'),
                "" | "¶" | "#" | "🔗" | "§"
            )
    }
}
