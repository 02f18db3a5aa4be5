//! Formulas, once, although pages hold them several times.

use crate::tree::{Block, Inline};

use super::dom::{Dom, Id};
use super::flow::Flow;
use super::reader::{Context, Reader};
use super::style::White;

/// Classes of elements that are one formula, with its parts for different browsers in it.
const CLASSES: [&str; 8] = [
    "katex",
    "katex-display",
    "mwe-math-element",
    "MathJax",
    "MathJax_Display",
    "MathJax_SVG",
    "MathJax_CHTML",
    "MathJax_SVG_Display",
];

impl Reader<'_> {
    /// Reads an element if it is a formula.
    pub fn formula(&mut self, id: Id, context: Context, flow: &mut Flow) -> bool {
        let dom = self.dom;
        let name = dom.name(id);
        if name == "script" {
            let kind = dom.value(id, "type").to_ascii_lowercase();
            if kind.starts_with("math/tex") {
                self.push_formula(&dom.text(id), kind.contains("display"), context, flow);
                return true;
            }
            return false;
        }
        if dom.has_class(id, &["MathJax_Preview"]) {
            return true;
        }
        let is_formula = name == "math" || name == "mjx-container" || dom.has_class(id, &CLASSES);
        if !is_formula {
            return false;
        }
        if has_script_behind(dom, id) {
            return true;
        }
        let is_block = dom.within(id).take(12).any(|it| is_display(dom, it));
        if let Some(tex) = tex_of(dom, id) {
            self.push_formula(&tex, is_block, context, flow);
            return true;
        }
        // Without its notation, the words that are seen stand for it.
        let math = dom.within(id).find(|it| dom.name(*it) == "math").unwrap_or(id);
        let words = dom.words(math);
        if words.is_empty() {
            self.report.leave_out("formula", None);
        }
        flow.text(&words, context.marks, White::Collapsed);
        true
    }

    fn push_formula(&mut self, tex: &str, is_block: bool, context: Context, flow: &mut Flow) {
        let tex = without_style(tex.trim());
        if is_block {
            flow.end_line(&self.links);
            flow.push(Block::Formula(tex.to_owned()));
        } else {
            flow.inline(Inline::Formula(tex.to_owned()), context.marks);
        }
    }
}

fn is_display(dom: &Dom, id: Id) -> bool {
    dom.has_class(
        id,
        &["katex-display", "MathJax_Display", "MathJax_SVG_Display", "mwe-math-element-block"],
    ) || (matches!(dom.name(id), "math" | "mjx-container")
        && (dom.is(id, "display", "block") || dom.is(id, "display", "true")))
}

/// Returns the notation of a formula in TeX.
fn tex_of(dom: &Dom, id: Id) -> Option<String> {
    let is_tex = |it: &Id| {
        dom.name(*it) == "annotation"
            && ["application/x-tex", "tex", "latex", "application/x-latex"]
                .iter()
                .any(|kind| dom.is(*it, "encoding", kind))
    };
    if let Some(note) = dom.within(id).find(is_tex) {
        return Some(dom.text(note)).filter(|tex| !tex.trim().is_empty());
    }
    let stated = dom.within(id).find_map(|it| match dom.name(it) {
        "math" => dom.attribute(it, "alttext").or(dom.attribute(it, "data-latex")),
        "img" => dom.attribute(it, "alt"),
        _ => dom.attribute(it, "data-latex").or(dom.attribute(it, "data-tex")),
    });
    stated.filter(|tex| !tex.trim().is_empty()).map(str::to_owned)
}

/// Returns whether the script that a formula was made of stands behind it, and is read instead.
fn has_script_behind(dom: &Dom, id: Id) -> bool {
    let is_script =
        |it: Id| dom.name(it) == "script" && dom.value(it, "type").starts_with("math/tex");
    let around = dom.ancestors(id).take(1).filter(|it| dom.has_class(*it, &CLASSES));
    std::iter::once(id).chain(around).any(|it| dom.sibling(it, 1).is_some_and(is_script))
}

/// Takes off the braces in which Wikipedia puts a formula.
fn without_style(tex: &str) -> &str {
    let inner = tex.strip_prefix("{\\displaystyle").or_else(|| tex.strip_prefix("{\\textstyle"));
    inner.and_then(|it| it.strip_suffix('}')).map_or(tex, str::trim)
}
