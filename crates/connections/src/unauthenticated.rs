//! Connections and clients without a token, counted by address: the one with most makes room.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Weak};

#[derive(Debug)]
pub(super) struct UnauthenticatedTable<T> {
    /// Entries by number, the oldest first.
    all: BTreeMap<u64, (IpAddr, Weak<T>)>,
    by_address: HashMap<IpAddr, usize>,
}

impl<T> Default for UnauthenticatedTable<T> {
    fn default() -> Self {
        Self { all: BTreeMap::new(), by_address: HashMap::new() }
    }
}

impl<T> UnauthenticatedTable<T> {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn count_of(&self, peer: IpAddr) -> usize {
        self.by_address.get(&peer).copied().unwrap_or_default()
    }

    pub(super) fn add(&mut self, number: u64, peer: IpAddr, added: Weak<T>) {
        if self.all.insert(number, (peer, added)).is_none() {
            *self.by_address.entry(peer).or_default() += 1;
        }
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<Weak<T>> {
        let (peer, removed) = self.all.remove(&number)?;
        if let Some(count) = self.by_address.get_mut(&peer) {
            *count -= 1;
            if *count == 0 {
                self.by_address.remove(&peer);
            }
        }
        Some(removed)
    }

    pub(super) fn take_oldest_from(&mut self, address: IpAddr) -> Option<Arc<T>> {
        loop {
            let number = *self.all.iter().find(|(_, (peer, _))| *peer == address)?.0;
            if let Some(oldest) = self.remove(number).and_then(|it| it.upgrade()) {
                return Some(oldest);
            }
        }
    }

    /// Removes and returns the oldest from the address with the most, or from several such.
    pub(super) fn take_oldest_of_most(&mut self) -> Option<Arc<T>> {
        loop {
            let most = self.by_address.values().max().copied()?;
            let fits = |peer: &IpAddr| self.by_address.get(peer) == Some(&most);
            let number = *self.all.iter().find(|(_, (peer, _))| fits(peer))?.0;
            if let Some(oldest) = self.remove(number).and_then(|it| it.upgrade()) {
                return Some(oldest);
            }
        }
    }

    /// Returns all with their addresses, the oldest first. The caller drops them without the lock
    /// of this table: one that is dropped looks for its entry.
    pub(super) fn live(&self) -> Vec<(IpAddr, Arc<T>)> {
        let live = |(peer, it): &(IpAddr, Weak<T>)| Some((*peer, it.upgrade()?));
        self.all.values().filter_map(live).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_with_the_most_makes_room_its_oldest_first() {
        let names = ["a1", "b1", "a2", "b2", "b3"].map(Arc::new);
        let mut table = UnauthenticatedTable::default();
        for (number, name) in (0..).zip(&names) {
            let last = if name.starts_with('a') { 1 } else { 2 };
            table.add(number, [192, 0, 2, last].into(), Arc::downgrade(name));
        }
        let left: Vec<_> =
            std::iter::from_fn(|| table.take_oldest_of_most()).map(|name| *name).collect();
        assert_eq!(left, ["b1", "a1", "b2", "a2", "b3"]);
        assert_eq!((table.len(), table.by_address.len()), (0, 0));
    }
}
