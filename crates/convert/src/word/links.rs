//! Addresses that are safe to follow.

use super::story::{Findings, LinkTarget};

/// Schemes of addresses that may be linked.
const SCHEMES: [&str; 5] = ["http", "https", "mailto", "tel", "ftp"];

/// Returns an address if it is safe to follow from a document that others wrote. Addresses without
/// a scheme would lead into the folder of the file, so they are not.
pub(super) fn safe_url(address: &str) -> Option<String> {
    let address: String = address.trim().chars().filter(|c| !c.is_control()).collect();
    let (scheme, _) = address.split_once(':')?;
    SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()).then_some(address)
}

impl Findings {
    /// Returns the index of a link. Links side by side to one address are one.
    pub fn link(&mut self, url: String, title: String) -> usize {
        let target = LinkTarget { url, title };
        if self.links.last() != Some(&target) {
            self.links.push(target);
        }
        self.links.len() - 1
    }
}
