//! The newest part of a document's history as bytes: each update as the JSON that was broadcast,
//! stored in blocks rather than in an allocation of its own.

use std::collections::VecDeque;

use copydesk_ids::{ClientId, Version};

/// Updates of a block; whole blocks are dropped, oldest first.
const BLOCK_UPDATES: usize = 512;
/// Bytes of JSON after which a new block is begun, so a block holds at most these and one update.
const BLOCK_BYTES: usize = 512 * 1024;

/// Limits for the log in memory: the newest updates are kept while both hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TailLimits {
    /// Updates that are kept at least, as long as they fit into `bytes`.
    pub updates: usize,
    /// Bytes of JSON after which older updates are dropped, whatever their number.
    pub bytes: usize,
}

/// The tail of the log. Holds every update from `start` to `end`, without gap.
#[derive(Clone, Debug)]
pub(super) struct UpdateLog {
    start: Version,
    end: Version,
    blocks: VecDeque<LogBlock>,
    /// Bytes of JSON in all blocks.
    bytes: usize,
    limits: TailLimits,
}

#[derive(Clone, Debug, Default)]
struct LogBlock {
    start: Version,
    json: String,
    entries: Vec<LogEntry>,
    authors: Vec<LogAuthor>,
}

#[derive(Debug, Clone, Copy)]
struct LogEntry {
    /// End of the update's JSON in the block, in bytes; the JSON begins where the previous entry's
    /// ends.
    end: usize,
    author: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct LogAuthor {
    client: ClientId,
    origin: Option<Box<str>>,
}

/// An update, borrowed from the log.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoggedUpdate<'a> {
    pub client: &'a ClientId,
    pub changes: &'a str,
    pub origin: Option<&'a str>,
}

impl UpdateLog {
    pub fn new(start: Version, limits: TailLimits) -> Self {
        Self { start, end: start, blocks: VecDeque::new(), bytes: 0, limits }
    }

    pub fn start(&self) -> Version {
        self.start
    }

    pub fn end(&self) -> Version {
        self.end
    }

    pub fn limits(&self) -> TailLimits {
        self.limits
    }

    /// Returns the memory held by the blocks, in bytes; origins and client names are not counted.
    pub fn size_bytes(&self) -> usize {
        let fixed = self.blocks.capacity() * size_of::<LogBlock>();
        fixed + self.blocks.iter().map(LogBlock::size_bytes).sum::<usize>()
    }

    /// Returns the updates after `version`, oldest first; `None` if the log does not hold them all.
    pub fn since(
        &self,
        version: Version,
    ) -> Option<impl ExactSizeIterator<Item = LoggedUpdate<'_>>> {
        (self.start..=self.end).contains(&version).then(|| self.after(version))
    }

    /// Returns the updates after `version`, which must be in the log.
    pub fn after(&self, version: Version) -> impl ExactSizeIterator<Item = LoggedUpdate<'_>> {
        let mut block = self.blocks.partition_point(|block| block.end() <= version);
        let mut at = self.blocks.get(block).map_or(0, |it| (version.0 - it.start.0) as usize);
        (0..(self.end.0 - version.0) as usize).map(move |_| {
            if at == self.blocks[block].entries.len() {
                (block, at) = (block + 1, 0);
            }
            at += 1;
            self.blocks[block].get(at - 1)
        })
    }

    /// Drops the oldest blocks beyond the limits. Not done by [`Self::append`], so that everything
    /// appended since the last call is still in the log.
    pub fn trim(&mut self) {
        while let Some(oldest) = self.blocks.front() {
            let held = (self.end.0 - self.start.0) as usize;
            let is_spare = held - oldest.entries.len() >= self.limits.updates;
            if !is_spare && self.bytes <= self.limits.bytes {
                break;
            }
            self.start = oldest.end();
            self.bytes -= oldest.json.len();
            self.blocks.pop_front();
        }
    }

    pub fn append(&mut self, client: &ClientId, origin: Option<&str>, changes: &str) {
        if self.blocks.back().is_none_or(LogBlock::is_full) {
            self.begin_block();
        }
        if let Some(block) = self.blocks.back_mut() {
            block.make_room(changes.len());
            block.json.push_str(changes);
            let author = block.author(client, origin);
            block.entries.push(LogEntry { end: block.json.len(), author });
            self.bytes += changes.len();
            self.end = self.end.next();
        }
    }

    /// Adds updates before the oldest one; the last of them led to [`Self::start`].
    pub fn prepend<'a>(&mut self, older: impl ExactSizeIterator<Item = LoggedUpdate<'a>>) {
        let start = Version(self.start.0.saturating_sub(older.len() as u64));
        let mut earlier = Self::new(start, self.limits);
        for update in older {
            earlier.append(update.client, update.origin, update.changes);
        }
        if let Some(last) = earlier.blocks.back_mut() {
            last.json.shrink_to_fit();
        }
        earlier.blocks.append(&mut self.blocks);
        self.blocks = earlier.blocks;
        self.bytes += earlier.bytes;
        self.start = start;
    }

    fn begin_block(&mut self) {
        let mut json = String::new();
        if let Some(full) = self.blocks.back_mut() {
            full.json.shrink_to_fit();
            json.reserve(full.json.len().min(BLOCK_BYTES));
        }
        let (entries, authors) = (Vec::new(), Vec::new());
        self.blocks.push_back(LogBlock { start: self.end, json, entries, authors });
    }
}

impl LogBlock {
    fn is_full(&self) -> bool {
        self.entries.len() >= BLOCK_UPDATES || self.json.len() >= BLOCK_BYTES
    }

    fn end(&self) -> Version {
        self.start.plus(self.entries.len())
    }

    fn size_bytes(&self) -> usize {
        self.json.capacity()
            + self.entries.capacity() * size_of::<LogEntry>()
            + self.authors.capacity() * size_of::<LogAuthor>()
    }

    /// Makes room for `more` bytes of JSON. Grows by a quarter: doubling would leave half of the
    /// memory empty where a long text is followed by keystrokes.
    fn make_room(&mut self, more: usize) {
        if self.json.capacity() - self.json.len() < more {
            self.json.reserve_exact(more.max(self.json.len() / 4));
        }
    }

    fn get(&self, at: usize) -> LoggedUpdate<'_> {
        let entry = self.entries[at];
        let start = if at == 0 { 0 } else { self.entries[at - 1].end };
        let author = &self.authors[entry.author as usize];
        LoggedUpdate {
            client: &author.client,
            changes: &self.json[start..entry.end],
            origin: author.origin.as_deref(),
        }
    }

    /// Returns the index of the author, who is usually one of the latest.
    fn author(&mut self, client: &ClientId, origin: Option<&str>) -> u32 {
        let known =
            self.authors.iter().rposition(|a| a.client == *client && a.origin.as_deref() == origin);
        let at = known.unwrap_or_else(|| {
            self.authors.push(LogAuthor { client: client.clone(), origin: origin.map(Box::from) });
            self.authors.len() - 1
        });
        at as u32
    }
}
