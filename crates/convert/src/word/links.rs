//! Links of a story.

use super::model::LinkTarget;
use super::story::Findings;

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
