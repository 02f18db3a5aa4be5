//! Things within a line that are written as a whole and that a file has as words: code, and
//! pictures and formulas as this server exports them.

use super::model::{Atom, Content, FORMULA, LinkTarget, PICTURE};

/// Makes pictures and formulas of the words whose styles say that they are.
pub(super) fn settle(atoms: Vec<Atom>, links: &[LinkTarget]) -> Vec<Atom> {
    if !atoms.iter().any(|atom| atom.look.marks & (PICTURE | FORMULA) != 0) {
        return atoms;
    }
    let has = |mark: u8| {
        move |atom: &Atom| atom.look.marks & mark != 0 && matches!(atom.content, Content::Text(_))
    };
    let is_same_link = |one: &Atom, other: &Atom| one.look.link == other.look.link;
    let atoms = joined(atoms, has(PICTURE), is_same_link, |words| {
        let address = words[0].look.link.and_then(|link| links.get(link));
        let picture = address.map(|address| {
            let description = text_of(&words);
            let is_address = description == address.url;
            let description = if is_address { String::new() } else { description };
            Content::Picture { url: address.url.clone(), description }
        });
        whole(words, picture, PICTURE)
    });
    joined(
        atoms,
        has(FORMULA),
        |_, _| true,
        |words| {
            let formula = formula_in(&text_of(&words));
            whole(words, formula, FORMULA)
        },
    )
}

/// Joins stretches of atoms: what `make` returns of a stretch stands in its place, and edges of
/// changes in it beside that. `is_part` says which atoms can be in one, `is_alike` which of them
/// follow each other.
pub(super) fn joined(
    atoms: Vec<Atom>,
    is_part: impl Fn(&Atom) -> bool,
    is_alike: impl Fn(&Atom, &Atom) -> bool,
    make: impl Fn(Vec<Atom>) -> Vec<Atom>,
) -> Vec<Atom> {
    let mut out: Vec<Atom> = Vec::with_capacity(atoms.len());
    let mut rest = atoms.into_iter().peekable();
    while let Some(atom) = rest.next() {
        if !is_part(&atom) {
            out.push(atom);
            continue;
        }
        // Edges up to the last part, and those behind it.
        let (mut parts, mut edges, mut behind) = (vec![atom], Vec::new(), Vec::new());
        while let Some(next) = rest.next_if(|it| {
            matches!(it.content, Content::Edge { .. }) || (is_part(it) && is_alike(&parts[0], it))
        }) {
            if is_part(&next) {
                parts.push(next);
                edges.append(&mut behind);
            } else {
                behind.push(next);
            }
        }
        // The first change in the stretch covers all of it.
        let is_start = |it: &Atom| matches!(it.content, Content::Edge { is_start: true, .. });
        if edges.first().is_some_and(is_start) {
            out.push(edges.remove(0));
        }
        out.extend(make(parts));
        out.append(&mut edges);
        out.append(&mut behind);
    }
    out
}

fn text_of(atoms: &[Atom]) -> String {
    let texts = atoms.iter().filter_map(|atom| match &atom.content {
        Content::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// Returns the words as one thing, with the marks that all of them have, or as they are.
fn whole(words: Vec<Atom>, content: Option<Content>, mark: u8) -> Vec<Atom> {
    let (Some(content), Some(first)) = (content, words.first()) else { return words };
    let mut look = first.look;
    for atom in &words {
        look.marks &= atom.look.marks;
    }
    look.marks &= !mark;
    if mark == PICTURE {
        look.link = None;
    }
    vec![Atom { content, look, tracked: first.tracked }]
}

/// Returns the formula that some words are, with the dollar signs around it.
fn formula_in(words: &str) -> Option<Content> {
    let words = words.trim();
    let inside = |sign: &str| words.strip_prefix(sign)?.strip_suffix(sign).map(str::trim);
    let (tex, is_block) = match inside("$$") {
        Some(tex) => (tex, true),
        None => (inside("$")?, false),
    };
    (!tex.is_empty()).then(|| Content::Formula { tex: tex.to_owned(), is_block })
}
