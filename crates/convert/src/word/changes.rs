//! Tracked changes as replacements in the Markdown without them.
//!
//! Both views are written, and each says where its sites are. What stands between two sites is the
//! same in both, except for what changes with them: numbers of later entries, signs of a mark that
//! a site cuts. Such a difference belongs to the site before it, or to the one it touches. So all
//! changes together always give exactly the Markdown of the document with all of them accepted.

use std::collections::HashMap;
use std::ops::Range;

use crate::markdown::{ChangeEdge, Written};
use crate::{ImportedChange, ImportedPart, ImportedSuggestion};

use super::model::Revision;
use super::views::Site;

/// Replacement in bytes of the Markdown without the changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Replacement {
    /// Site that it belongs to.
    pub site: usize,
    pub range: Range<usize>,
    pub insert: String,
}

/// Place of a site in both texts.
struct PlacedSite {
    site: usize,
    old: Range<usize>,
    new: Range<usize>,
}

/// Returns the replacements that make the new text of the old one, in the order of their places.
pub(super) fn replacements(old: &Written, new: &Written, all: &[Site]) -> Vec<Replacement> {
    let sites = all.len();
    if sites == 0 {
        return Vec::new();
    }
    let (old_places, new_places) = (ranges(&old.changes, 0, sites), ranges(&new.changes, 0, sites));
    let mut placed: Vec<PlacedSite> = Vec::new();
    for (site, (old, new)) in old_places.into_iter().zip(new_places).enumerate() {
        let (Some(old), Some(new)) = (old, new) else { continue };
        let follows = placed
            .last()
            .is_none_or(|before| before.old.end <= old.start && before.new.end <= new.start);
        if follows {
            placed.push(PlacedSite { site, old, new });
        }
    }
    let mut comparison = Comparison { old: &old.markdown, new: &new.markdown, out: Vec::new() };
    let (mut old_at, mut new_at, mut before) = (0, 0, None);
    for place in &placed {
        let owners = Owners {
            before,
            unplaced: between(before, place.site),
            behind: Some(place.site),
            is_restyled: all[place.site].is_restyled,
        };
        comparison.between_sites(old_at..place.old.start, new_at..place.new.start, &owners);
        comparison.site(place);
        (old_at, new_at, before) = (place.old.end, place.new.end, Some(place.site));
    }
    let unplaced = between(before, sites);
    let owners = Owners { before, unplaced, behind: None, is_restyled: false };
    comparison.between_sites(old_at..old.markdown.len(), new_at..new.markdown.len(), &owners);
    comparison.out
}

/// Returns the sites between one and the next.
fn between(before: Option<usize>, behind: usize) -> Range<usize> {
    before.map_or(0, |before| before + 1)..behind
}

/// Returns where each of `count` sites or threads is, of which the first has the number `first`, if
/// both of its edges are in the text.
pub(super) fn ranges(
    edges: &[ChangeEdge],
    first: usize,
    count: usize,
) -> Vec<Option<Range<usize>>> {
    let mut starts = vec![None; count];
    let mut ranges = vec![None; count];
    for edge in edges {
        let Some(number) = edge.change.checked_sub(first).filter(|it| *it < count) else {
            continue;
        };
        if edge.is_start {
            starts[number] = Some(edge.at);
        } else if let Some(start) = starts[number].filter(|start| *start <= edge.at) {
            ranges[number] = Some(start..edge.at);
        }
    }
    ranges
}

/// Sites that a difference between two places may belong to.
struct Owners {
    before: Option<usize>,
    /// Sites that have no place of their own, as in code.
    unplaced: Range<usize>,
    behind: Option<usize>,
    /// `true` if the signs before the site behind change with it.
    is_restyled: bool,
}

impl Owners {
    /// Returns the site of the difference of this number, which may touch the next place.
    fn of(&self, number: usize, touches_behind: bool) -> usize {
        if !self.unplaced.is_empty() {
            return (self.unplaced.start + number).min(self.unplaced.end - 1);
        }
        let behind = self.behind.filter(|_| touches_behind || self.is_restyled);
        behind.or(self.before).or(self.behind).unwrap_or_default()
    }
}

struct Comparison<'a> {
    old: &'a str,
    new: &'a str,
    out: Vec<Replacement>,
}

impl Comparison<'_> {
    /// Adds the replacement of a site itself.
    fn site(&mut self, place: &PlacedSite) {
        let insert = &self.new[place.new.clone()];
        if self.old[place.old.clone()] != *insert {
            self.add(place.site, place.old.clone(), insert.to_owned());
        }
    }

    /// Adds the differences between two sites.
    fn between_sites(&mut self, old: Range<usize>, new: Range<usize>, owners: &Owners) {
        let (before, after) = (&self.old[old.clone()], &self.new[new.clone()]);
        if before == after {
            return;
        }
        let old_lines: Vec<&str> = before.split_inclusive('\n').collect();
        let new_lines: Vec<&str> = after.split_inclusive('\n').collect();
        if old_lines.len() != new_lines.len() {
            return self.difference(old, new, 0, owners);
        }
        // With as many lines, each has its counterpart: numbers of entries differ.
        let (mut old_at, mut new_at, mut number) = (old.start, new.start, 0);
        let mut differences = Vec::new();
        for (one, other) in old_lines.iter().zip(&new_lines) {
            let (next_old, next_new) = (old_at + one.len(), new_at + other.len());
            if one != other {
                differences.push((old_at..next_old, new_at..next_new, number));
                number += 1;
            }
            (old_at, new_at) = (next_old, next_new);
        }
        for (old_line, new_line, number) in differences {
            let is_last = old_line.end == old.end;
            let owners = Owners {
                before: owners.before,
                unplaced: owners.unplaced.clone(),
                behind: owners.behind.filter(|_| is_last || owners.before.is_none()),
                is_restyled: owners.is_restyled && is_last,
            };
            self.difference(old_line, new_line, number, &owners);
        }
    }

    /// Adds one difference without what both have at its ends.
    fn difference(&mut self, old: Range<usize>, new: Range<usize>, number: usize, owners: &Owners) {
        let (one, other) = (&self.old[old.clone()], &self.new[new.clone()]);
        let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b);
        let head: usize = same.map(|(c, _)| c.len_utf8()).sum();
        let same = one[head..].chars().rev().zip(other[head..].chars().rev());
        let tail: usize = same.take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
        let site = owners.of(number, tail == 0 && head > 0);
        let insert = other[head..other.len() - tail].to_owned();
        self.add(site, old.start + head..old.end - tail, insert);
    }

    /// Adds a replacement. One that touches the replacement before, of the same site, becomes one
    /// with it.
    fn add(&mut self, site: usize, range: Range<usize>, insert: String) {
        if let Some(last) = self.out.last_mut()
            && last.site == site
            && last.range.end == range.start
        {
            last.range.end = range.end;
            last.insert.push_str(&insert);
            return;
        }
        self.out.push(Replacement { site, range, insert });
    }
}

/// Suggestions of a file, and where the change of each site is: the suggestion, and the index of
/// the change in it.
pub(super) type SuggestionsOfSites = (Vec<ImportedSuggestion>, Vec<ChangeOfSite>);
type ChangeOfSite = Option<(usize, usize)>;

/// Returns the changes of each author.
pub(super) fn suggestions(
    markdown: &str,
    replacements: Vec<Replacement>,
    sites: &[Site],
    revisions: &[Revision],
) -> SuggestionsOfSites {
    let change_of_site = changes_of_sites(sites, revisions);
    let mut suggestions: Vec<ImportedSuggestion> = Vec::new();
    // Where the changes of all sites are: the suggestion and the index of the change in it.
    let mut known: HashMap<usize, (usize, usize)> = HashMap::new();
    let mut positions = Utf16Positions::new(markdown);
    for replacement in replacements {
        let Some(site) = sites.get(replacement.site) else { continue };
        let from = positions.at(replacement.range.start);
        let to = positions.at(replacement.range.end);
        let part = ImportedPart { from, to, insert: replacement.insert };
        let change = change_of_site[replacement.site];
        if let Some((suggestion, index)) = known.get(&change) {
            suggestions[*suggestion].changes[*index].parts.push(part);
        } else {
            let author = &revisions[site.revisions[0]].author;
            let place = suggestions.iter().position(|it| it.author == *author);
            let place = place.unwrap_or_else(|| {
                suggestions.push(ImportedSuggestion {
                    author: author.clone(),
                    at: None,
                    changes: Vec::new(),
                });
                suggestions.len() - 1
            });
            known.insert(change, (place, suggestions[place].changes.len()));
            suggestions[place]
                .changes
                .push(ImportedChange { parts: vec![part], explanation: None });
        }
        if let Some((suggestion, _)) = known.get(&change) {
            let newest = site.revisions.iter().filter_map(|it| revisions[*it].at.as_ref()).max();
            let at = &mut suggestions[*suggestion].at;
            if newest > at.as_ref() {
                *at = newest.cloned();
            }
        }
    }
    let of_sites = change_of_site.iter().map(|change| known.get(change).copied()).collect();
    (suggestions, of_sites)
}

/// Change with the places of its sites in both texts.
pub(super) struct PlacedChange<'a> {
    pub author: String,
    pub suggestion: usize,
    pub index: usize,
    pub change: &'a mut ImportedChange,
    pub old: Vec<Range<usize>>,
    pub new: Vec<Range<usize>>,
}

/// Returns all changes with the places of their sites.
pub(super) fn placed_changes<'a>(
    (suggestions, of_sites): (&'a mut [ImportedSuggestion], &[ChangeOfSite]),
    old: &Written,
    new: &Written,
) -> Vec<PlacedChange<'a>> {
    let (old, new) =
        (ranges(&old.changes, 0, of_sites.len()), ranges(&new.changes, 0, of_sites.len()));
    let mut sites: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
    for (site, change) in of_sites.iter().enumerate() {
        if let Some(change) = change {
            sites.entry(*change).or_default().push(site);
        }
    }
    let placed = suggestions.iter_mut().enumerate().flat_map(|(suggestion, of)| {
        let ImportedSuggestion { author, changes, .. } = of;
        let author = &*author;
        changes
            .iter_mut()
            .enumerate()
            .map(move |(index, change)| (author.clone(), suggestion, index, change))
    });
    placed
        .map(|(author, suggestion, index, change)| {
            let own = sites.get(&(suggestion, index)).map_or(&[][..], Vec::as_slice);
            let of = |ranges: &[Option<Range<usize>>]| {
                own.iter().filter_map(|site| ranges[*site].clone()).collect()
            };
            PlacedChange { author, suggestion, index, change, old: of(&old), new: of(&new) }
        })
        .collect()
}

/// Returns the change of each site: both places of a move are one change, and a note that comes or
/// goes with its reference.
fn changes_of_sites(sites: &[Site], revisions: &[Revision]) -> Vec<usize> {
    let mut moves: HashMap<(&str, &str), usize> = HashMap::new();
    let mut of_revision: HashMap<usize, usize> = HashMap::new();
    let mut changes = Vec::with_capacity(sites.len());
    for (index, site) in sites.iter().enumerate() {
        let first = &revisions[site.revisions[0]];
        let key_of_move = first.move_name.as_deref().map(|name| (first.author.as_str(), name));
        let change = match key_of_move {
            Some(key) => *moves.entry(key).or_insert(index),
            None if site.is_in_note => {
                of_revision.get(&site.revisions[0]).copied().unwrap_or(index)
            }
            None => index,
        };
        if !site.is_in_note {
            for revision in &site.revisions {
                of_revision.entry(*revision).or_insert(change);
            }
        }
        changes.push(change);
    }
    changes
}

/// Counts UTF-16 units up to places that never go back.
pub(super) struct Utf16Positions<'a> {
    text: &'a str,
    bytes: usize,
    units: usize,
}

impl<'a> Utf16Positions<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, bytes: 0, units: 0 }
    }

    pub fn at(&mut self, bytes: usize) -> usize {
        let more = self.text.get(self.bytes..bytes).unwrap_or_default();
        self.units += more.encode_utf16().count();
        self.bytes = self.bytes.max(bytes);
        self.units
    }
}
