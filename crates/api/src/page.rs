//! Lists that are read page by page.

/// Part of a list.
#[derive(Clone, Debug)]
pub struct ListPage<T> {
    /// Items of this part, in order.
    pub items: Vec<T>,
    /// `true` if there are items after these.
    pub more: bool,
}

impl<T> ListPage<T> {
    /// Returns the first `limit` items of a list that was read with one item more.
    pub fn cut(mut items: Vec<T>, limit: usize) -> Self {
        let more = items.len() > limit;
        items.truncate(limit);
        Self { items, more }
    }

    /// Returns the last item if the list goes on after it.
    pub fn end(&self) -> Option<&T> {
        self.items.last().filter(|_| self.more)
    }
}
