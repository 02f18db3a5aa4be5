//! Count of the bytes that connections keep in their buffers.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Count of kept bytes: of one connection, one person or the server.
#[derive(Debug, Default)]
pub(super) struct RetainedBytes(AtomicUsize);

impl RetainedBytes {
    pub(super) fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn remove(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Counts nothing any more; returns the bytes that were counted.
    pub(super) fn take(&self) -> usize {
        self.0.swap(0, Ordering::Relaxed)
    }

    pub(super) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}
