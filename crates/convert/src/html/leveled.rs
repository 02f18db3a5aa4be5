//! Lists whose entries stand beside each other, each with the number of its level.

use crate::tree::{Block, Entry, List};

/// Entry with its level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeveledEntry {
    /// Level, 1 for the outermost.
    pub level: usize,
    /// Its number; nothing for a bullet.
    pub number: Option<u64>,
    pub entry: Entry,
}

/// Entries of one list, from top to bottom.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Leveled(pub Vec<LeveledEntry>);

/// List that may get more entries.
struct OpenList {
    level: usize,
    list: List,
}

impl Leveled {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number that an entry of a level would have, if it goes on with the list.
    pub fn next_number(&self, level: usize) -> u64 {
        let before = self.0.iter().rev().take_while(|it| it.level >= level);
        let before = before.filter(|it| it.level == level).find_map(|it| it.number);
        before.map_or(1, |number| number.saturating_add(1))
    }

    /// Returns the lists that the levels make.
    pub fn into_blocks(self) -> Vec<Block> {
        let mut made = Vec::new();
        let mut open: Vec<OpenList> = Vec::new();
        for LeveledEntry { level, number, entry } in self.0 {
            while open.len() > 1 && open.last().is_some_and(|it| it.level > level) {
                // Above a level that begins too deep, nothing may be open.
                if open[open.len() - 2].level < level {
                    break;
                }
                close(&mut open, &mut made);
            }
            if let Some(last) = open.last_mut() {
                last.level = if last.level > level { level } else { last.level };
                let next =
                    last.list.start.map(|it| it.saturating_add(last.list.entries.len() as u64));
                if last.level == level && next != number {
                    close(&mut open, &mut made);
                }
            }
            if open.last().is_none_or(|it| it.level < level) {
                let list = List { start: number, loose: false, entries: Vec::new() };
                open.push(OpenList { level, list });
            }
            if let Some(last) = open.last_mut() {
                last.list.entries.push(entry);
            }
        }
        while !open.is_empty() {
            close(&mut open, &mut made);
        }
        made
    }
}

/// Closes the innermost list. It belongs to the last entry of the one around it.
fn close(open: &mut Vec<OpenList>, made: &mut Vec<Block>) {
    let Some(OpenList { list, .. }) = open.pop() else { return };
    let around = open.last_mut().and_then(|it| it.list.entries.last_mut());
    around.map_or(made, |entry| &mut entry.blocks).push(Block::List(list));
}
