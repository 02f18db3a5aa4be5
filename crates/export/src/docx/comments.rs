//! Comments of a Word document: their text and authors, their answers, and their places.
//!
//! Each comment of a thread has a number, and is at the place of the thread. Word knows answers,
//! and discussions that have ended, by the identifiers of the last paragraphs of comments.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io;

use super::super::annotated::{AnnotatedText, MarkedPart, PieceMark};
use super::super::remarks::{AnnotationRemark, RemarkPlace};
use super::revisions::attributes;
use super::steps::{CommentNumbers, RemarkMark};
use super::xml::{HEAD, WORD, escape};

/// Namespaces of what newer versions of Word add.
const EXTENSIONS: &str = "xmlns:mc=\"http://schemas.openxmlformats.org/markup-compatibility/2006\" \
    xmlns:w14=\"http://schemas.microsoft.com/office/word/2010/wordml\" \
    xmlns:w15=\"http://schemas.microsoft.com/office/word/2012/wordml\" mc:Ignorable=\"w14 w15\"";
/// Initials of what this server says about a change, by which an import knows it.
const REMARK: &str = "AI";
/// First number of the bookmarks around changes; smaller ones are of footnotes.
const FIRST_BOOKMARK: usize = 1_000_000;

/// Comments of a document by the numbers of their remarks. Those without words are not written: the
/// change itself names its author.
pub(super) struct NumberedComments<'a> {
    remarks: Vec<(&'a AnnotationRemark, CommentNumbers)>,
}

impl<'a> NumberedComments<'a> {
    pub fn of(marked: &'a AnnotatedText) -> Self {
        let mut first = 0;
        let number = |remark: &'a AnnotationRemark| {
            let count = remark.comments().filter(|(_, text)| !text.is_empty()).count();
            let numbers = CommentNumbers { first, count };
            first += count;
            (remark, numbers)
        };
        Self { remarks: marked.remarks.iter().map(number).collect() }
    }

    /// Returns what stands at a mark; nothing for a remark that is not written.
    pub fn mark(&self, mark: PieceMark) -> Option<RemarkMark> {
        let numbers = |remark: usize| {
            let (remark, numbers) = self.remarks.get(remark)?;
            let place = remark.thread.as_ref().map(|thread| thread.place);
            (numbers.count > 0).then_some((place.unwrap_or(RemarkPlace::Point), *numbers))
        };
        Some(match mark {
            PieceMark::Passage(remark) => RemarkMark::Begin(numbers(remark)?.1),
            PieceMark::Remark(remark) => match numbers(remark)? {
                (RemarkPlace::Passage, numbers) => RemarkMark::End(numbers),
                (RemarkPlace::Point | RemarkPlace::Document, numbers) => RemarkMark::Point(numbers),
            },
            PieceMark::HunkStart(hunk) => RemarkMark::HunkStart(hunk),
            PieceMark::HunkEnd(hunk) => RemarkMark::HunkEnd(hunk),
        })
    }

    /// Writes the texts. Those of passages in footnotes, by their first numbers, begin with the
    /// words that they are on.
    pub fn write(&self, in_notes: &HashSet<usize>, out: &mut impl io::Write) -> io::Result<()> {
        writeln!(out, "{HEAD}<w:comments {WORD} {EXTENSIONS}>")?;
        for (remark, numbers) in &self.remarks {
            for ((signature, text), number) in remark.comments().zip(numbers.range()) {
                let initials = match remark.thread {
                    Some(_) => initials(&signature.author),
                    None => REMARK.to_owned(),
                };
                write!(
                    out,
                    "<w:comment w:id=\"{number}\" {} w:initials=\"{}\">",
                    attributes(signature),
                    escape(&initials)
                )?;
                if let Some(thread) = remark.thread.as_ref().filter(|_| number == numbers.first) {
                    let deleted = thread.deleted_words.as_deref().unwrap_or_default();
                    paragraphs("DeletedWords", "", deleted, out)?;
                    let is_in_note = in_notes.contains(&number);
                    let words = if is_in_note { thread.words.as_str() } else { "" };
                    paragraphs("NoteWords", "", words, out)?;
                }
                paragraphs("CommentText", &paragraph_id(number), text, out)?;
                writeln!(out, "</w:comment>")?;
            }
        }
        writeln!(out, "</w:comments>")
    }

    /// Writes which comments are answers, and which discussions have ended.
    pub fn write_threads(&self, out: &mut impl io::Write) -> io::Result<()> {
        writeln!(out, "{HEAD}<w15:commentsEx {EXTENSIONS}>")?;
        for (remark, numbers) in &self.remarks {
            let Some(thread) = &remark.thread else { continue };
            let done = u8::from(thread.is_resolved);
            for number in numbers.range() {
                let id = paragraph_id(number).replace("w14:", "w15:");
                let parent = paragraph_id(numbers.first).replace("w14:paraId", "w15:paraIdParent");
                let parent = if number == numbers.first { String::new() } else { parent };
                writeln!(out, "<w15:commentEx{id}{parent} w15:done=\"{done}\"/>")?;
            }
        }
        writeln!(out, "</w15:commentsEx>")
    }
}

/// Returns the attribute with the identifier of the last paragraph of a comment.
fn paragraph_id(number: usize) -> String {
    format!(" w14:paraId=\"{:08X}\"", number + 1)
}

/// Writes lines as paragraphs, of which the last has the identifier.
fn paragraphs(style: &str, id: &str, text: &str, out: &mut impl io::Write) -> io::Result<()> {
    let last = text.lines().count();
    for (index, line) in text.lines().enumerate() {
        let id = if index + 1 == last { id } else { "" };
        write!(
            out,
            "<w:p{id}><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr><w:r><w:t xml:space=\"preserve\">{}</w:t></w:r></w:p>",
            escape(line)
        )?;
    }
    Ok(())
}

/// Returns the initials of a person, which are never those of a remark.
fn initials(name: &str) -> String {
    let firsts = name.split_whitespace().filter_map(|word| word.chars().next());
    let initials: String = firsts.take(3).collect();
    if initials == REMARK { "A".to_owned() } else { initials }
}

/// Appends what stands at a mark.
pub(super) fn write_mark(mark: RemarkMark, out: &mut String) {
    match mark {
        RemarkMark::Begin(numbers) => begin(numbers, out),
        RemarkMark::End(numbers) => end(numbers, out),
        RemarkMark::Point(numbers) => {
            begin(numbers, out);
            end(numbers, out);
        }
        RemarkMark::HunkStart(MarkedPart { hunk, number }) => {
            let id = FIRST_BOOKMARK + number;
            // The names of bookmarks are unique.
            let name = format!("_Change{hunk}_{number}");
            _ = write!(out, "<w:bookmarkStart w:id=\"{id}\" w:name=\"{name}\"/>");
        }
        RemarkMark::HunkEnd(part) => {
            _ = write!(out, "<w:bookmarkEnd w:id=\"{}\"/>", FIRST_BOOKMARK + part.number);
        }
    }
}

fn begin(numbers: CommentNumbers, out: &mut String) {
    for number in numbers.range() {
        _ = write!(out, "<w:commentRangeStart w:id=\"{number}\"/>");
    }
}

fn end(numbers: CommentNumbers, out: &mut String) {
    for number in numbers.range() {
        _ = write!(out, "<w:commentRangeEnd w:id=\"{number}\"/>");
    }
    for number in numbers.range() {
        _ = write!(
            out,
            "<w:r><w:rPr><w:rStyle w:val=\"CommentReference\"/></w:rPr><w:commentReference w:id=\"{number}\"/></w:r>"
        );
    }
}
