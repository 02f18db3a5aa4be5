//! Both views of a document with tracked changes: all rejected, and all accepted.
//!
//! Each place where something is tracked is a *site*. Its edges are put into the paragraphs first,
//! stay in both views, and say where the site is in each.

use super::model::{
    Atom, Content, FIRST_THREAD, Look, Paragraph, Revision, StoryBlock, StoryRow, StoryTable,
    Tracked, View,
};

/// Stretch of a document that one author changed, with nothing between that stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// Indices of its revisions.
    pub revisions: Vec<usize>,
    /// `true` if it is in a note, whose reference may be in another site of the same change.
    pub is_in_note: bool,
    /// `true` if it begins with a change of the kind of its paragraph, whose signs stand before it.
    pub is_restyled: bool,
}

/// Puts the edges of sites into stories.
pub(super) struct SiteMarker<'a> {
    revisions: &'a [Revision],
    pub sites: Vec<Site>,
    /// `true` if a site is open; it is the last one.
    is_open: bool,
    is_in_note: bool,
}

impl<'a> SiteMarker<'a> {
    pub fn new(revisions: &'a [Revision]) -> Self {
        Self { revisions, sites: Vec::new(), is_open: false, is_in_note: false }
    }

    /// Puts the edges of sites into a story.
    pub fn mark(&mut self, blocks: &mut [StoryBlock], is_in_note: bool) {
        self.is_in_note = is_in_note;
        self.blocks(blocks);
        let mut edges = Vec::new();
        self.step(None, &mut edges);
        put_into_last(blocks, edges);
    }

    fn blocks(&mut self, blocks: &mut [StoryBlock]) {
        for block in blocks {
            match block {
                StoryBlock::Paragraph(paragraph) => self.paragraph(paragraph),
                StoryBlock::Table(table) => {
                    let cells = table.rows.iter_mut().flat_map(|row| &mut row.cells);
                    cells.for_each(|cell| self.blocks(&mut cell.blocks));
                }
            }
        }
    }

    fn paragraph(&mut self, paragraph: &mut Paragraph) {
        let mut marked = Vec::with_capacity(paragraph.atoms.len());
        if let Some(before) = &paragraph.before {
            let known = self.sites.len();
            self.step(Some(before.revision), &mut marked);
            if let Some(begun) = self.sites.get_mut(known) {
                begun.is_restyled = true;
            }
        }
        for atom in std::mem::take(&mut paragraph.atoms) {
            // Edges of threads neither begin nor end a site.
            if !is_edge(&atom) {
                self.step(atom.tracked.revision(), &mut marked);
            }
            marked.push(atom);
        }
        self.step(paragraph.mark.revision(), &mut marked);
        paragraph.atoms = marked;
    }

    /// Goes on to something that has this revision, and adds the edges before it.
    fn step(&mut self, revision: Option<usize>, out: &mut Vec<Atom>) {
        if self.is_open
            && let (Some(site), Some(revision)) = (self.sites.last_mut(), revision)
            && is_of_one_change(&self.revisions[site.revisions[0]], &self.revisions[revision])
        {
            if site.revisions.last() != Some(&revision) {
                site.revisions.push(revision);
            }
            return;
        }
        if std::mem::take(&mut self.is_open) {
            out.push(edge(self.sites.len() - 1, false));
        }
        if let Some(revision) = revision {
            let is_in_note = self.is_in_note;
            self.sites.push(Site { revisions: vec![revision], is_in_note, is_restyled: false });
            self.is_open = true;
            // Before the edges of threads here, so that these do not say on which side of a mark
            // the site begins.
            let at = out.iter().rposition(|atom| !is_edge(atom)).map_or(0, |last| last + 1);
            let at = at + out[at..].iter().rposition(is_site_edge).map_or(0, |last| last + 1);
            out.insert(at, edge(self.sites.len() - 1, true));
        }
    }
}

fn is_of_one_change(one: &Revision, other: &Revision) -> bool {
    one.author == other.author && one.move_name == other.move_name
}

/// Returns the edge of a site or a thread.
pub(super) fn edge(site: usize, is_start: bool) -> Atom {
    Atom {
        content: Content::Edge { site, is_start },
        look: Look::default(),
        tracked: Tracked::default(),
    }
}

fn is_edge(atom: &Atom) -> bool {
    matches!(atom.content, Content::Edge { .. })
}

fn is_site_edge(atom: &Atom) -> bool {
    matches!(atom.content, Content::Edge { site, .. } if site < FIRST_THREAD)
}

/// Puts edges at the end of the last paragraph.
pub(super) fn put_into_last(blocks: &mut [StoryBlock], edges: Vec<Atom>) {
    match blocks.last_mut() {
        Some(StoryBlock::Paragraph(paragraph)) => paragraph.atoms.extend(edges),
        Some(StoryBlock::Table(table)) => {
            let cell = table.rows.last_mut().and_then(|row| row.cells.last_mut());
            if let Some(cell) = cell {
                put_into_last(&mut cell.blocks, edges);
            }
        }
        None => {}
    }
}

/// Returns a story as a view shows it.
pub(super) fn project(blocks: &[StoryBlock], view: View) -> Vec<StoryBlock> {
    let mut projector = Projector { view, homeless: Vec::new() };
    let mut projected = projector.blocks(blocks);
    put_into_last(&mut projected, projector.homeless);
    projected
}

struct Projector {
    view: View,
    /// Edges whose paragraph is not in the view. They come to the beginning of the next one.
    homeless: Vec<Atom>,
}

impl Projector {
    fn blocks(&mut self, blocks: &[StoryBlock]) -> Vec<StoryBlock> {
        let mut out = Vec::new();
        // Paragraphs whose ends are not in the view, which the next one joins.
        let mut joined: Vec<Paragraph> = Vec::new();
        for block in blocks {
            match block {
                StoryBlock::Paragraph(paragraph) => {
                    let mut atoms = std::mem::take(&mut self.homeless);
                    let visible = paragraph.atoms.iter().filter(|it| it.tracked.is_in(self.view));
                    atoms.extend(visible.cloned());
                    joined.push(Paragraph { atoms, ..without_atoms(paragraph, self.view) });
                    if paragraph.mark.is_in(self.view) {
                        out.push(StoryBlock::Paragraph(join(&mut joined)));
                    }
                }
                StoryBlock::Table(table) => {
                    self.end_joined(&mut joined, &mut out);
                    if let Some(table) = self.table(table) {
                        out.push(StoryBlock::Table(table));
                    }
                }
            }
        }
        self.end_joined(&mut joined, &mut out);
        out
    }

    /// Ends paragraphs that nothing joins. Without content, only their edges go on.
    fn end_joined(&mut self, joined: &mut Vec<Paragraph>, out: &mut Vec<StoryBlock>) {
        if joined.is_empty() {
            return;
        }
        let paragraph = join(joined);
        if paragraph.has_content() {
            out.push(StoryBlock::Paragraph(paragraph));
        } else {
            self.homeless.extend(paragraph.atoms);
        }
    }

    fn table(&mut self, table: &StoryTable) -> Option<StoryTable> {
        let mut rows = Vec::new();
        for row in &table.rows {
            let cells: Vec<_> = row
                .cells
                .iter()
                .map(|cell| {
                    let is_shown = row.tracked.is_in(self.view);
                    let blocks = if is_shown { self.blocks(&cell.blocks) } else { Vec::new() };
                    if !is_shown {
                        self.homeless_of(&cell.blocks);
                    }
                    super::model::StoryCell { blocks, ..*cell }
                })
                .collect();
            if row.tracked.is_in(self.view) {
                rows.push(StoryRow { cells, ..*row });
            }
        }
        (!rows.is_empty()).then_some(StoryTable { rows, has_heading: table.has_heading })
    }

    /// Takes in the edges of blocks that are not in the view.
    fn homeless_of(&mut self, blocks: &[StoryBlock]) {
        for block in blocks {
            match block {
                StoryBlock::Paragraph(paragraph) => {
                    let edges = paragraph.atoms.iter().filter(|atom| is_edge(atom));
                    self.homeless.extend(edges.cloned());
                }
                StoryBlock::Table(table) => {
                    let cells = table.rows.iter().flat_map(|row| &row.cells);
                    cells.for_each(|cell| self.homeless_of(&cell.blocks));
                }
            }
        }
    }
}

/// Returns a paragraph as it is in a view, without its atoms.
fn without_atoms(paragraph: &Paragraph, view: View) -> Paragraph {
    let before = paragraph.before.as_ref().filter(|_| view == View::Rejected);
    let properties = before.map_or(&paragraph.properties, |before| &before.properties).clone();
    Paragraph { properties, mark: paragraph.mark, ..Paragraph::default() }
}

/// Joins paragraphs. The last one says what they are, as in Word, unless all content comes from
/// those before.
fn join(joined: &mut Vec<Paragraph>) -> Paragraph {
    let says = match joined.iter().rposition(Paragraph::has_content) {
        Some(last) if last + 1 < joined.len() => {
            joined.iter().position(Paragraph::has_content).unwrap_or(last)
        }
        _ => joined.len().saturating_sub(1),
    };
    let Paragraph { properties, mark, .. } = joined.get(says).cloned().unwrap_or_default();
    let atoms = joined.drain(..).flat_map(|it| it.atoms).collect();
    Paragraph { properties, mark, atoms, before: None }
}
