//! Comments of a Word document: threads with their replies, and the passages that they are on.

use std::collections::HashMap;
use std::ops::Range;

use crate::markdown::Written;
use crate::{ImportedComment, ImportedThread, Report};

use super::changes::{PlacedChange, Utf16Positions, ranges};
use super::error::WordResult;
use super::inlines::plain;
use super::model::{Atom, Content, FIRST_THREAD, StoryBlock, View};
use super::package::{Package, Relations};
use super::story::{Findings, StoryReader};
use super::styles::Styles;

/// Longest words of a thread by which it is found, in bytes.
const LONGEST_WORDS: usize = 1_000;
/// Style of the words that an orphaned thread of this server was on.
const DELETED_WORDS: &str = "DeletedWords";
/// Style of the words in a footnote that a thread of this server is on.
const NOTE_WORDS: &str = "NoteWords";
/// Initials of remarks that this server adds to changes.
const REMARK: &str = "AI";
/// Beginning of the line of a remark that this server writes anew.
const MEANING: &str = "Changes the meaning: ";

/// Comment of the file.
#[derive(Debug, Default)]
struct WordComment {
    id: String,
    author: String,
    at: Option<String>,
    is_remark: bool,
    text: String,
    deleted_words: Option<String>,
    note_words: Option<String>,
    /// Identifiers of its paragraphs.
    paragraphs: Vec<String>,
}

/// Comment and the answers to it.
#[derive(Debug)]
pub(super) struct WordThread {
    comments: Vec<WordComment>,
    is_resolved: bool,
}

/// Answer to another comment, and whether the discussion has ended.
struct CommentExtension {
    parent: Option<String>,
    is_done: bool,
}

/// Reads the threads of a file, and says in `findings` which comments began them.
pub(super) fn read_threads(
    package: &mut Package,
    parts: (&str, &str),
    styles: &Styles,
    findings: &mut Findings,
) -> WordResult<Vec<WordThread>> {
    let comments = read_comments(package, parts.0, styles, &mut findings.report)?;
    let extensions = read_extensions(package, parts.1)?;
    let known = |paragraph: &String| extensions.get(paragraph);
    let of_paragraph: HashMap<&String, usize> = comments
        .iter()
        .enumerate()
        .flat_map(|(index, comment)| comment.paragraphs.iter().map(move |it| (it, index)))
        .collect();
    let parents: Vec<Option<usize>> = comments
        .iter()
        .map(|comment| {
            let mut found = comment.paragraphs.iter().filter_map(known);
            found.find_map(|it| of_paragraph.get(it.parent.as_ref()?).copied())
        })
        .collect();
    let roots: Vec<usize> = (0..comments.len()).map(|index| root(index, &parents)).collect();
    let mut threads: Vec<WordThread> = Vec::new();
    let mut thread_of_root: HashMap<usize, usize> = HashMap::new();
    for (index, comment) in comments.iter().enumerate().filter(|(index, _)| roots[*index] == *index)
    {
        let is_resolved = comment.paragraphs.iter().filter_map(known).any(|it| it.is_done);
        findings.threads.insert(comment.id.clone(), threads.len());
        thread_of_root.insert(index, threads.len());
        threads.push(WordThread { comments: Vec::new(), is_resolved });
    }
    for (comment, root) in comments.into_iter().zip(roots) {
        if let Some(thread) = thread_of_root.get(&root) {
            threads[*thread].comments.push(comment);
        }
    }
    Ok(threads)
}

/// Returns the comment that began the thread of another. A circle of answers has none, so each of
/// its comments begins one.
fn root(index: usize, parents: &[Option<usize>]) -> usize {
    let mut at = index;
    for _ in 0..parents.len() {
        match parents[at] {
            Some(parent) => at = parent,
            None => return at,
        }
    }
    index
}

fn read_comments(
    package: &mut Package,
    part: &str,
    styles: &Styles,
    report: &mut Report,
) -> WordResult<Vec<WordComment>> {
    let Some(mut xml) = package.part(part)? else { return Ok(Vec::new()) };
    let (nowhere, mut unused) = (Relations::new(), Findings::default());
    let mut comments = Vec::new();
    while xml.next_element()?.is_some() {
        while let Some(element) = xml.next_element()? {
            let attribute = |name| element.attribute(name).unwrap_or_default();
            let mut comment = WordComment {
                id: attribute("id"),
                author: attribute("author").trim().to_owned(),
                at: element.attribute("date"),
                is_remark: attribute("initials") == REMARK,
                ..WordComment::default()
            };
            while let Some(block) = xml.next_element()? {
                comment.paragraphs.extend(block.attribute("paraId"));
                let mut blocks = Vec::new();
                let mut reader = StoryReader::new(&mut xml, styles, &nowhere, &mut unused);
                reader.block(&block, &mut blocks)?;
                comment.add(&blocks);
            }
            comment.text.truncate(comment.text.trim_end().len());
            if comment.text.is_empty() {
                report.leave_out("comment without words", None);
            } else {
                comments.push(comment);
            }
        }
    }
    Ok(comments)
}

impl WordComment {
    /// Adds the lines of some blocks.
    fn add(&mut self, blocks: &[StoryBlock]) {
        for block in blocks {
            match block {
                StoryBlock::Paragraph(paragraph) => {
                    let line = plain(&paragraph.atoms);
                    let lines = match paragraph.properties.style.as_deref() {
                        Some(DELETED_WORDS) => self.deleted_words.get_or_insert_default(),
                        Some(NOTE_WORDS) => self.note_words.get_or_insert_default(),
                        _ if self.text.is_empty() && line.trim().is_empty() => continue,
                        _ => &mut self.text,
                    };
                    let separator = if lines.is_empty() { "" } else { "\n" };
                    lines.extend([separator, &line]);
                }
                StoryBlock::Table(table) => {
                    let cells = table.rows.iter().flat_map(|row| &row.cells);
                    cells.for_each(|cell| self.add(&cell.blocks));
                }
            }
        }
    }
}

/// Reads what Word adds to comments, by the identifiers of their last paragraphs.
fn read_extensions(
    package: &mut Package,
    part: &str,
) -> WordResult<HashMap<String, CommentExtension>> {
    let mut extensions = HashMap::new();
    let Some(mut xml) = package.part(part)? else { return Ok(extensions) };
    while xml.next_element()?.is_some() {
        while let Some(element) = xml.next_element()? {
            if let Some(paragraph) = element.attribute("paraId") {
                let is_done = element.attribute("done");
                let is_done = is_done.is_some_and(|it| matches!(it.trim(), "1" | "true" | "on"));
                let parent = element.attribute("paraIdParent");
                extensions.insert(paragraph, CommentExtension { parent, is_done });
            }
            xml.skip()?;
        }
    }
    Ok(extensions)
}

/// Place of a thread in both views, in bytes.
struct ThreadRange {
    old: Range<usize>,
    /// The same in the text with all changes.
    new: Range<usize>,
}

/// Words that threads are on, as far as they are short.
pub(super) struct ThreadWords {
    /// Threads that have begun and not ended.
    open: Vec<usize>,
    words: Vec<String>,
}

impl ThreadWords {
    /// Collects the words that stand without the tracked changes.
    pub fn of(count: usize, stories: &[&[StoryBlock]]) -> Self {
        let mut found = Self { open: Vec::new(), words: vec![String::new(); count] };
        if count > 0 {
            for blocks in stories {
                found.blocks(blocks);
            }
        }
        found
    }

    fn blocks(&mut self, blocks: &[StoryBlock]) {
        for block in blocks {
            match block {
                StoryBlock::Paragraph(paragraph) => {
                    paragraph.atoms.iter().for_each(|atom| self.atom(atom));
                    self.add("\n");
                }
                StoryBlock::Table(table) => {
                    let cells = table.rows.iter().flat_map(|row| &row.cells);
                    cells.for_each(|cell| self.blocks(&cell.blocks));
                }
            }
        }
    }

    fn atom(&mut self, atom: &Atom) {
        match &atom.content {
            Content::Edge { site, is_start } => {
                let thread = site.checked_sub(FIRST_THREAD).filter(|it| *it < self.words.len());
                match thread {
                    Some(thread) if *is_start => self.open.push(thread),
                    Some(thread) => self.open.retain(|open| *open != thread),
                    None => {}
                }
            }
            Content::Text(text) if atom.tracked.is_in(View::Rejected) => self.add(text),
            _ => {}
        }
    }

    fn add(&mut self, text: &str) {
        for thread in &self.open {
            let words = &mut self.words[*thread];
            if words.len() <= LONGEST_WORDS {
                words.push_str(text);
            }
        }
    }

    /// Returns the words of a thread if they are whole.
    fn get(&self, thread: usize) -> Option<&str> {
        let words = self.words[thread].trim_matches('\n');
        (!words.is_empty() && words.len() <= LONGEST_WORDS).then_some(words)
    }
}

/// Returns the only place of these words within a range.
fn only_place(markdown: &str, within: Range<usize>, words: &str) -> Option<Range<usize>> {
    let mut found = markdown.get(within.clone())?.match_indices(words);
    let (at, _) = found.next().filter(|_| found.next().is_none())?;
    let start = within.start + at;
    Some(start..start + words.len())
}

/// Returns the threads where they are, and gives the remarks on changes to these.
pub(super) fn place_threads(
    (threads, words): (Vec<WordThread>, &ThreadWords),
    old: &Written,
    new: Option<&Written>,
    changes: &mut [PlacedChange<'_>],
) -> Vec<ImportedThread> {
    let count = threads.len();
    let old_ranges = ranges(&old.changes, FIRST_THREAD, count);
    let new_ranges = new.map(|new| ranges(&new.changes, FIRST_THREAD, count));
    let mut placed = Vec::with_capacity(count);
    for (index, thread) in threads.into_iter().enumerate() {
        let range = old_ranges[index].clone().map(|old_range| {
            let new_range = new_ranges.as_ref().and_then(|it| it[index].clone());
            ThreadRange { new: new_range.unwrap_or_else(|| old_range.clone()), old: old_range }
        });
        if let (Some(range), [remark]) = (&range, thread.comments.as_slice())
            && remark.is_remark
            && let Some(change) = changes.iter_mut().find(|it| it.is_explained(range, remark))
        {
            let lines: Vec<&str> =
                remark.text.lines().filter(|line| !line.starts_with(MEANING)).collect();
            if !lines.is_empty() {
                change.change.explanation = Some(lines.join("\n"));
            }
            continue;
        }
        let about = range.as_ref().and_then(|it| {
            let found = changes.iter().find(|change| change.is_discussed(it));
            found.map(|change| (change.suggestion, change.index))
        });
        let mut range = range.map(|it| it.old);
        if let Some(words) = words.get(index).filter(|_| about.is_none()) {
            // Code is one to the writer of Markdown, which says no places in it.
            let within = range.clone().unwrap_or(0..old.markdown.len());
            range = only_place(&old.markdown, within, words).or(range);
        }
        if let Some(words) = thread.comments.first().and_then(|it| it.note_words.as_ref()) {
            range = only_place(&old.markdown, 0..old.markdown.len(), words);
        }
        placed.push((range, about, thread));
    }
    finish(placed, &old.markdown)
}

impl PlacedChange<'_> {
    /// Returns whether a thread is about the change: on inserted words only, or on all of it.
    fn is_discussed(&self, thread: &ThreadRange) -> bool {
        if thread.old.is_empty() {
            let has = |site: &Range<usize>| {
                thread.new.start.max(site.start) < thread.new.end.min(site.end)
            };
            return self.new.iter().any(has);
        }
        hull(&self.old) == Some(thread.old.clone()) && hull(&self.new) == Some(thread.new.clone())
    }

    /// Returns whether a remark is the explanation of the change, directly behind it.
    fn is_explained(&self, remark: &ThreadRange, comment: &WordComment) -> bool {
        let is_behind = |sites: &[Range<usize>], place: &Range<usize>| {
            sites.iter().any(|site| *place == (site.end..site.end))
        };
        *self.author == *comment.author
            && is_behind(&self.old, &remark.old)
            && is_behind(&self.new, &remark.new)
    }
}

fn hull(ranges: &[Range<usize>]) -> Option<Range<usize>> {
    Some(ranges.first()?.start..ranges.iter().map(|it| it.end).max()?)
}

type PlacedThread = (Option<Range<usize>>, Option<(usize, usize)>, WordThread);

/// Returns threads with positions in UTF-16 units.
fn finish(placed: Vec<PlacedThread>, markdown: &str) -> Vec<ImportedThread> {
    let without_line_ends = |range: &Range<usize>| {
        let words = markdown.get(range.clone()).unwrap_or_default();
        let start = range.start + words.len() - words.trim_start_matches('\n').len();
        start..(range.start + words.trim_end_matches('\n').len()).max(start)
    };
    let of = |range: &Option<Range<usize>>| range.as_ref().map(without_line_ends);
    let mut edges: Vec<usize> = placed
        .iter()
        .filter_map(|(range, ..)| of(range))
        .flat_map(|it| [it.start, it.end])
        .collect();
    edges.sort_unstable();
    let mut positions = Utf16Positions::new(markdown);
    let units: HashMap<usize, usize> =
        edges.into_iter().map(|edge| (edge, positions.at(edge))).collect();
    placed
        .into_iter()
        .map(|(range, about, thread)| {
            let WordThread { mut comments, is_resolved } = thread;
            let deleted_words = comments.iter_mut().find_map(|it| it.deleted_words.take());
            let range = of(&range).map(|it| (units[&it.start], units[&it.end]));
            // A place without words is one of the document, unless it was one of words.
            let is_place = |it: &(usize, usize)| it.0 < it.1 || deleted_words.is_some();
            ImportedThread {
                range: range.filter(is_place),
                about,
                deleted_words,
                comments: comments.into_iter().map(comment).collect(),
                is_resolved,
            }
        })
        .collect()
}

fn comment(WordComment { author, at, text, .. }: WordComment) -> ImportedComment {
    ImportedComment { author, at, text }
}
