//! Files that other programs wrote.
