//! The newest part of a document's history as bytes: each update as the JSON that was broadcast, in blocks, without an allocation of its own.

use std::collections::VecDeque;

use crate::ids::{ClientId, Version};

/// Updates per block; whole blocks are dropped from the old end.
const BLOCK: usize = 512;

/// The tail of the log. Holds every update from `start` to `end`, without gap.
#[derive(Debug)]
pub(super) struct Log {
    start: Version,
    end: Version,
    blocks: VecDeque<Block>,
    keep: usize,
}

/// Up to [`BLOCK`] updates, one after the other.
#[derive(Debug, Default)]
struct Block {
    json: String,
    entries: Vec<Entry>,
    authors: Vec<Author>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Where its JSON ends; it begins where that of the entry before ends.
    end: u32,
    /// Index into the authors of the block.
    author: u32,
}

#[derive(Debug, PartialEq, Eq)]
struct Author {
    client: ClientId,
    origin: Option<Box<str>>,
}

/// An update where it lies in the log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Logged<'a> {
    pub client: &'a ClientId,
    pub changes: &'a str,
    pub origin: Option<&'a str>,
}

impl Log {
    /// An empty log that begins at `start` and keeps at least the newest `keep` updates.
    pub fn new(start: Version, keep: usize) -> Self {
        Self { start, end: start, blocks: VecDeque::new(), keep }
    }

    /// The version before the oldest update that is still here.
    pub fn start(&self) -> Version {
        self.start
    }

    /// The version after the newest update.
    pub fn end(&self) -> Version {
        self.end
    }

    /// How many of the newest updates it holds at least.
    pub fn keeps(&self) -> usize {
        self.keep
    }

    /// Memory held by the blocks; origins and client names are not counted.
    pub fn size_bytes(&self) -> usize {
        let fixed = self.blocks.capacity() * size_of::<Block>();
        fixed + self.blocks.iter().map(Block::size_bytes).sum::<usize>()
    }

    /// The updates after `version`, oldest first; nothing if the log does not hold them all.
    pub fn since(&self, version: Version) -> Option<impl ExactSizeIterator<Item = Logged<'_>>> {
        (self.start..=self.end).contains(&version).then(|| self.after(version))
    }

    /// The updates after `version`, which must be in the log.
    pub fn after(&self, version: Version) -> impl ExactSizeIterator<Item = Logged<'_>> {
        let newer = (version.0 - self.start.0) as usize..(self.end.0 - self.start.0) as usize;
        newer.map(|at| self.blocks[at / BLOCK].get(at % BLOCK))
    }

    /// Adds an update.
    pub fn append(&mut self, client: &ClientId, origin: Option<&str>, changes: &str) {
        if self.blocks.back().is_none_or(|block| block.entries.len() == BLOCK) {
            self.begin_block();
        }
        if let Some(block) = self.blocks.back_mut() {
            block.json.push_str(changes);
            let author = block.author(client, origin);
            block.entries.push(Entry { end: block.json.len() as u32, author });
            self.end = self.end.next();
        }
    }

    /// Forgets the updates after `version`, which must be in the log.
    pub fn truncate(&mut self, version: Version) {
        debug_assert!(version >= self.start && version <= self.end, "{version} is not in the log");
        let keep = (version.0.saturating_sub(self.start.0)) as usize;
        self.blocks.truncate(keep.div_ceil(BLOCK));
        if let (Some(block), partial @ 1..) = (self.blocks.back_mut(), keep % BLOCK) {
            block.entries.truncate(partial);
            block.json.truncate(block.entries.last().map_or(0, |entry| entry.end as usize));
        }
        self.end = version;
    }

    fn begin_block(&mut self) {
        let mut json = String::new();
        if let Some(full) = self.blocks.back_mut() {
            full.json.shrink_to_fit();
            json.reserve(full.json.len());
        }
        let held = (self.end.0 - self.start.0) as usize;
        if held >= self.keep + BLOCK && self.blocks.pop_front().is_some() {
            self.start = self.start.plus(BLOCK);
        }
        self.blocks.push_back(Block {
            json,
            entries: Vec::with_capacity(BLOCK),
            authors: Vec::new(),
        });
    }
}

impl Block {
    fn size_bytes(&self) -> usize {
        self.json.capacity()
            + self.entries.capacity() * size_of::<Entry>()
            + self.authors.capacity() * size_of::<Author>()
    }

    fn get(&self, at: usize) -> Logged<'_> {
        let entry = self.entries[at];
        let start = if at == 0 { 0 } else { self.entries[at - 1].end as usize };
        let author = &self.authors[entry.author as usize];
        Logged {
            client: &author.client,
            changes: &self.json[start..entry.end as usize],
            origin: author.origin.as_deref(),
        }
    }

    /// Index of the author, who is usually one of the latest.
    fn author(&mut self, client: &ClientId, origin: Option<&str>) -> u32 {
        let known =
            self.authors.iter().rposition(|a| a.client == *client && a.origin.as_deref() == origin);
        let at = known.unwrap_or_else(|| {
            self.authors.push(Author { client: client.clone(), origin: origin.map(Box::from) });
            self.authors.len() - 1
        });
        at as u32
    }
}
