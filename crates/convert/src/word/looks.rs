//! Looks of characters, out of what paragraphs, styles and the characters themselves state.

use super::model::{Atom, BOLD, CODE, FORMULA, ITALIC, Look, MONOSPACED, PICTURE, STRUCK};
use super::properties::RunProperties;
use super::styles::{ParagraphRole, ResolvedStyle, Styles};

/// Returns the look of characters in a paragraph of this style and role.
pub(super) fn look(
    run: &RunProperties,
    paragraph: &ResolvedStyle,
    role: ParagraphRole,
    styles: &Styles,
) -> Look {
    let style = run.style.as_deref().and_then(|id| styles.of_characters(id));
    let style_mark = style.map_or(0, |style| style.mark);
    // The look of pictures and formulas is how they are set apart, and no mark.
    let is_whole = style_mark & (PICTURE | FORMULA) != 0;
    let style_run = style.map(|style| &style.run).filter(|_| !is_whole);
    let mut marks = 0;
    // The look of a heading or a quotation belongs to it, and its words need no marks for it.
    let from_paragraph = |stated: Option<bool>| role == ParagraphRole::Body && stated == Some(true);
    let toggle = |direct: Option<bool>, own: Option<bool>, around: Option<bool>| {
        // Two styles that both say bold cancel each other.
        direct.unwrap_or(own.unwrap_or(false) != from_paragraph(around))
    };
    let states = [
        (BOLD, run.bold, style_run.and_then(|it| it.bold), paragraph.run.bold),
        (ITALIC, run.italic, style_run.and_then(|it| it.italic), paragraph.run.italic),
        (STRUCK, run.struck, style_run.and_then(|it| it.struck), paragraph.run.struck),
    ];
    for (mark, direct, own, around) in states {
        if toggle(direct, own, around) {
            marks |= mark;
        }
    }
    let is_monospaced = run
        .monospaced
        .or(style_run.and_then(|it| it.monospaced))
        .or(paragraph.run.monospaced.filter(|_| role == ParagraphRole::Body))
        .unwrap_or_default();
    marks |= style_mark;
    if style_mark == 0 && is_monospaced && role != ParagraphRole::Code {
        marks |= MONOSPACED;
    }
    Look { marks, link: None }
}

/// Makes words code, for paragraphs of code where no block of code can stand.
pub(super) fn mark_as_code(atoms: &mut [Atom]) {
    for atom in atoms {
        atom.look.marks |= CODE;
    }
}
