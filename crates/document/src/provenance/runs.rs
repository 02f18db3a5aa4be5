//! A long list of runs that is spliced near one place again and again: chunks of bounded size.

use std::ops::Range;

/// Maximum number of runs of a chunk; a splice copies about one chunk.
const CHUNK: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SourceRun {
    pub len: u32,
    pub source: u32,
}

/// Runs of a text. Neighbours may have equal sources only where two chunks meet.
#[derive(Clone, Debug, Default)]
pub(super) struct SourceRuns {
    chunks: Vec<RunChunk>,
    len: usize,
}

#[derive(Clone, Debug)]
struct RunChunk {
    len: usize,
    runs: Vec<SourceRun>,
}

impl SourceRuns {
    /// Returns the length of the whole text in units.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Replaces a range of units, which must be in the text, by `new`.
    pub fn splice(&mut self, range: Range<usize>, new: &[SourceRun]) {
        debug_assert!(range.start <= range.end && range.end <= self.len, "{range:?}");
        let (first, before) = self.find(range.start);
        let (last, until) = self.find(range.end);
        let mut rebuilt = Vec::with_capacity(CHUNK + new.len() + 2);
        if let Some(chunk) = self.chunks.get(first) {
            push_slice(&mut rebuilt, &chunk.runs, 0..before);
        }
        for &run in new {
            push(&mut rebuilt, run);
        }
        if let Some(chunk) = self.chunks.get(last) {
            push_slice(&mut rebuilt, &chunk.runs, until..chunk.len);
        }
        let inserted: usize = new.iter().map(|run| run.len as usize).sum();
        self.len = self.len - range.len() + inserted;
        let replaced = first..(last + 1).min(self.chunks.len());
        if rebuilt.len() <= CHUNK && replaced.len() == 1 && !rebuilt.is_empty() {
            self.chunks[first] = RunChunk::new(rebuilt);
        } else {
            let pieces = rebuilt.chunks(CHUNK / 2).map(|piece| RunChunk::new(piece.to_vec()));
            self.chunks.splice(replaced, pieces.collect::<Vec<_>>());
        }
    }

    /// Returns the runs of a range of units, cut at the end of the text; neighbours have different
    /// sources.
    pub fn slice(&self, range: Range<usize>) -> Vec<SourceRun> {
        let end = range.end.min(self.len);
        let mut found = Vec::new();
        if range.start >= end {
            return found;
        }
        let (first, before) = self.find(range.start);
        let mut at = range.start - before;
        for chunk in &self.chunks[first..] {
            if at >= end {
                break;
            }
            let from = range.start.saturating_sub(at);
            push_slice(&mut found, &chunk.runs, from..(end - at).min(chunk.len));
            at += chunk.len;
        }
        found
    }

    /// Returns the chunk that contains a position (of two that meet there, the first), and the
    /// number of its units before the position.
    fn find(&self, at: usize) -> (usize, usize) {
        let mut before = at;
        for (index, chunk) in self.chunks.iter().enumerate() {
            if before <= chunk.len {
                return (index, before);
            }
            before -= chunk.len;
        }
        (self.chunks.len(), before)
    }
}

impl RunChunk {
    fn new(runs: Vec<SourceRun>) -> Self {
        Self { len: runs.iter().map(|run| run.len as usize).sum(), runs }
    }
}

fn push(runs: &mut Vec<SourceRun>, new: SourceRun) {
    match runs.last_mut() {
        _ if new.len == 0 => {}
        Some(last) if last.source == new.source => last.len += new.len,
        _ => runs.push(new),
    }
}

fn push_slice(runs: &mut Vec<SourceRun>, from: &[SourceRun], range: Range<usize>) {
    let mut at = 0;
    for &SourceRun { len, source } in from {
        let (start, end) = (range.start.max(at), range.end.min(at + len as usize));
        if start < end {
            push(runs, SourceRun { len: (end - start) as u32, source });
        }
        at += len as usize;
        if at >= range.end {
            break;
        }
    }
}
