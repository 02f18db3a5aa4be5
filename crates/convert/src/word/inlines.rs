//! Words of a paragraph as a tree: marks around stretches that have them in common.

use crate::tree::Inline;

use super::model::{Atom, BOLD, CODE, Content, ITALIC, LinkTarget, MONOSPACED, STRUCK};
use super::wholes;

/// Mark around a stretch of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordMark {
    Link,
    Sign(u8),
}

/// Marks from the outermost to the innermost, where they cover the same words.
const MARKS: [WordMark; 4] =
    [WordMark::Link, WordMark::Sign(BOLD), WordMark::Sign(ITALIC), WordMark::Sign(STRUCK)];

/// Returns the words of a paragraph.
pub(super) fn inlines(atoms: &[Atom], links: &[LinkTarget]) -> Vec<Inline> {
    nest(&edges_beside_code(trimmed(atoms)), links, &[])
}

/// Returns the characters of a paragraph of code.
pub(super) fn plain(atoms: &[Atom]) -> String {
    let texts = atoms.iter().map(|atom| match &atom.content {
        Content::Text(text) => text.as_str(),
        Content::Formula { tex, .. } => tex.as_str(),
        Content::Break => "\n",
        Content::Picture { url, .. } => url.as_str(),
        Content::Note(_) | Content::Rule | Content::Edge { .. } => "",
    });
    texts.collect()
}

/// Returns whether an atom is code.
pub(super) fn is_code(atom: &Atom) -> bool {
    atom.look.marks & CODE != 0 && matches!(atom.content, Content::Text(_))
}

/// Returns atoms without blanks and breaks at both ends.
fn trimmed(atoms: &[Atom]) -> Vec<Atom> {
    let mut atoms = atoms.to_vec();
    trim_end(&mut atoms, |text| text.trim_start());
    atoms.reverse();
    trim_end(&mut atoms, |text| text.trim_end());
    atoms.reverse();
    atoms
}

/// Removes blanks and breaks from the first atoms.
fn trim_end(atoms: &mut Vec<Atom>, trim: impl Fn(&str) -> &str) {
    let mut at = 0;
    while let Some(atom) = atoms.get_mut(at) {
        match &mut atom.content {
            Content::Edge { .. } => at += 1,
            Content::Break => _ = atoms.remove(at),
            Content::Text(text) => {
                let rest = trim(text);
                if !rest.is_empty() {
                    *text = rest.to_owned();
                    return;
                }
                atoms.remove(at);
            }
            _ => return,
        }
    }
}

/// Moves edges of changes out of code, which is written as a whole.
fn edges_beside_code(atoms: Vec<Atom>) -> Vec<Atom> {
    wholes::joined(atoms, is_code, |one, other| one.look == other.look, |code| code)
}

fn nest(atoms: &[Atom], links: &[LinkTarget], done: &[WordMark]) -> Vec<Inline> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < atoms.len() {
        let longest = MARKS
            .iter()
            .filter(|mark| !done.contains(mark))
            .filter_map(|mark| extent(atoms, at, *mark).map(|end| (*mark, end)))
            .reduce(|best, next| if next.1 > best.1 { next } else { best });
        let Some((mark, end)) = longest else {
            at = leaf(atoms, at, &mut out);
            continue;
        };
        let content = nest(&atoms[at..end], links, &[done, &[mark]].concat());
        out.push(match mark {
            WordMark::Link => {
                let target = atoms[at].look.link.and_then(|link| links.get(link));
                let (url, title) =
                    target.map(|it| (it.url.clone(), it.title.clone())).unwrap_or_default();
                Inline::Link { url, title, content }
            }
            WordMark::Sign(BOLD) => Inline::Strong(content),
            WordMark::Sign(ITALIC) => Inline::Emphasis(content),
            WordMark::Sign(_) => Inline::Strikethrough(content),
        });
        at = end;
    }
    out
}

/// Returns where a mark that begins here ends; nothing if it does not begin here.
fn extent(atoms: &[Atom], start: usize, mark: WordMark) -> Option<usize> {
    let first = atoms.get(start)?;
    let has = |atom: &Atom| match mark {
        WordMark::Link => atom.look.link.is_some() && atom.look.link == first.look.link,
        WordMark::Sign(sign) => atom.look.marks & sign != 0,
    };
    if matches!(first.content, Content::Edge { .. }) || !has(first) {
        return None;
    }
    let mut end = start + 1;
    for (at, atom) in atoms.iter().enumerate().skip(start + 1) {
        match atom.content {
            Content::Edge { .. } => {}
            _ if has(atom) => end = at + 1,
            _ => break,
        }
    }
    Some(end)
}

/// Adds an atom without marks, or several that are one code. Returns the index of the next one.
fn leaf(atoms: &[Atom], at: usize, out: &mut Vec<Inline>) -> usize {
    let atom = &atoms[at];
    let inline = match &atom.content {
        Content::Text(_) if is_code(atom) => {
            let count = atoms[at..].iter().take_while(|next| is_code(next)).count();
            out.push(Inline::Code(plain(&atoms[at..at + count])));
            return at + count;
        }
        Content::Text(text) => Inline::Text(text.clone()),
        Content::Break => Inline::Break,
        Content::Formula { tex, .. } => Inline::Formula(tex.clone()),
        Content::Picture { url, description } => Inline::Picture {
            url: url.clone(),
            title: String::new(),
            description: description.clone(),
        },
        Content::Note(label) => Inline::NoteReference(label.clone()),
        Content::Edge { site, is_start: true } => Inline::ChangeStart(*site),
        Content::Edge { site, is_start: false } => Inline::ChangeEnd(*site),
        Content::Rule => return at + 1,
    };
    out.push(inline);
    at + 1
}

/// Makes letters of one width code, or what they were, as a document uses them.
pub(super) fn settle_monospaced(atoms: &mut [Atom], is_code: bool) {
    for atom in atoms {
        if atom.look.marks & MONOSPACED != 0 {
            atom.look.marks &= !MONOSPACED;
            if is_code {
                atom.look.marks |= CODE;
            }
        }
    }
}
