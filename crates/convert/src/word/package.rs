//! Parts of a Word document in their zip: found by their relations, unpacked within limits.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{self, BufReader, Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use super::error::{WordError, WordResult};
use super::xml::XmlReader;

/// Largest file, in bytes.
pub(super) const LARGEST_FILE: usize = 32 << 20;
/// Largest sum of what is unpacked, in bytes.
pub(super) const LARGEST_UNPACKED: u64 = 256 << 20;
/// Largest number of files in the zip.
pub(super) const MOST_ENTRIES: usize = 2_000;

/// First bytes of the container of old and of encrypted documents.
const OLD_CONTAINER: &[u8] = &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/// Error of a read that would go over [`LARGEST_UNPACKED`].
#[derive(Debug, thiserror::Error)]
#[error("the parts are too large")]
pub(super) struct BudgetSpent;

/// Target of a relation.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    /// Last word of its type, such as `hyperlink` or `styles`.
    pub kind: String,
    /// Address outside of the file, or name of a part.
    pub target: String,
    /// `true` if the target is outside of the file.
    pub is_external: bool,
}

/// Relations of one part, by their identifiers.
pub(super) type Relations = HashMap<String, Relation>;

/// Opened file.
pub(super) struct Package<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// Bytes that may still be unpacked.
    budget: Cell<u64>,
}

impl<'a> Package<'a> {
    /// Opens a file.
    pub fn open(bytes: &'a [u8]) -> WordResult<Self> {
        Self::open_within(bytes, LARGEST_UNPACKED)
    }

    /// Opens a file of which only so many bytes are unpacked.
    pub fn open_within(bytes: &'a [u8], largest_unpacked: u64) -> WordResult<Self> {
        if bytes.starts_with(OLD_CONTAINER) {
            return Err(WordError::OldOrEncrypted);
        }
        if bytes.starts_with(b"{\\rtf") {
            return Err(WordError::OtherFormat("a document in Rich Text Format (.rtf)"));
        }
        if bytes.starts_with(b"%PDF") {
            return Err(WordError::OtherFormat("a PDF document"));
        }
        if !bytes.starts_with(b"PK") {
            return Err(WordError::NotWord);
        }
        if bytes.len() > LARGEST_FILE {
            return Err(WordError::TooLarge);
        }
        let zip = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| WordError::Damaged(format!("the zip cannot be read: {error}")))?;
        if zip.len() > MOST_ENTRIES {
            return Err(WordError::TooManyParts);
        }
        Ok(Self { zip, budget: Cell::new(largest_unpacked) })
    }

    /// Returns the name of the main part.
    pub fn main_part(&mut self) -> WordResult<String> {
        let relations = self.relations("")?;
        let main = relations.values().find(|it| it.kind == "officeDocument" && !it.is_external);
        let part = main.map_or_else(|| "word/document.xml".to_owned(), |it| it.target.clone());
        if self.name_in_zip(&part).is_none() || part.starts_with("xl/") || part.starts_with("ppt/")
        {
            return Err(self.other_format());
        }
        Ok(part)
    }

    /// Returns what a zip without a Word document is.
    fn other_format(&self) -> WordError {
        let has = |name: &str| self.zip.file_names().any(|known| known.starts_with(name));
        if has("xl/workbook") {
            WordError::OtherFormat("a spreadsheet (.xlsx)")
        } else if has("ppt/presentation") {
            WordError::OtherFormat("a presentation (.pptx)")
        } else if has("META-INF/container.xml") {
            WordError::OtherFormat("an e-book (.epub)")
        } else if has("META-INF/manifest.xml") && has("content.xml") {
            WordError::OtherFormat("a document of OpenOffice or LibreOffice (.odt)")
        } else {
            WordError::NotWord
        }
    }

    /// Returns the title in the file's properties.
    pub fn title(&mut self) -> WordResult<Option<String>> {
        let relations = self.relations("")?;
        let properties = relations.values().find(|it| it.kind == "core-properties");
        let part = properties.map_or("docProps/core.xml", |it| it.target.as_str());
        let Some(mut xml) = self.part(part)? else { return Ok(None) };
        while let Some(root) = xml.next_element()? {
            if root.name != "?:coreProperties" {
                xml.skip()?;
                continue;
            }
            while let Some(property) = xml.next_element()? {
                let text = xml.text()?;
                if property.name == "dc:title" {
                    let title = text.split_whitespace().collect::<Vec<_>>().join(" ");
                    return Ok((!title.is_empty()).then_some(title));
                }
            }
        }
        Ok(None)
    }

    /// Returns the relations of a part; those of the whole package for an empty name.
    pub fn relations(&mut self, part: &str) -> WordResult<Relations> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let separator = if folder.is_empty() { "" } else { "/" };
        let name = format!("{folder}{separator}_rels/{file}.rels");
        let mut relations = Relations::new();
        let Some(mut xml) = self.part(&name)? else { return Ok(relations) };
        while xml.next_element()?.is_some() {
            while let Some(relation) = xml.next_element()? {
                let (id, kind) = (relation.attribute("Id"), relation.attribute("Type"));
                let (target, mode) =
                    (relation.attribute("Target"), relation.attribute("TargetMode"));
                xml.skip()?;
                let (Some(id), Some(kind), Some(target)) = (id, kind, target) else { continue };
                let is_external = mode.is_some_and(|mode| mode == "External");
                let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
                let target = if is_external { target } else { resolve(folder, &target) };
                relations.insert(id, Relation { kind, target, is_external });
            }
        }
        Ok(relations)
    }

    /// Opens a part; nothing if there is none of that name.
    pub fn part<'p>(&'p mut self, name: &'p str) -> WordResult<Option<XmlReader<'p>>> {
        let Some(index) = self.name_in_zip(name) else { return Ok(None) };
        let file = match self.zip.by_index(index) {
            Ok(file) => file,
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => {
                return Err(WordError::OldOrEncrypted);
            }
            Err(error) => return Err(WordError::Damaged(format!("{name}: {error}"))),
        };
        let counted = CountedReader { file, budget: &self.budget };
        Ok(Some(XmlReader::new(Box::new(BufReader::new(counted)), name)))
    }

    /// Returns the index of a part. Names of parts do not distinguish case.
    fn name_in_zip(&self, name: &str) -> Option<usize> {
        self.zip.index_for_name(name).or_else(|| {
            let is_same = |known: &str| {
                known.trim_start_matches('/').replace('\\', "/").eq_ignore_ascii_case(name)
            };
            self.zip.file_names().position(is_same)
        })
    }
}

/// Returns the name of a part that is named in a part of `folder`.
fn resolve(folder: &str, target: &str) -> String {
    let mut path: Vec<&str> = Vec::new();
    if !target.starts_with('/') {
        path.extend(folder.split('/').filter(|step| !step.is_empty()));
    }
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." => _ = path.pop(),
            step => path.push(step),
        }
    }
    path.join("/")
}

/// Reader that counts what is unpacked, whatever the headers of the zip say.
struct CountedReader<'a, R> {
    file: R,
    budget: &'a Cell<u64>,
}

impl<R: Read> Read for CountedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        let Some(left) = self.budget.get().checked_sub(count as u64) else {
            return Err(io::Error::other(BudgetSpent));
        };
        self.budget.set(left);
        Ok(count)
    }
}
