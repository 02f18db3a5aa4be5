//! Documents and their text: written by several people, kept, imported, exported.

mod bin;
mod collab;
mod comments;
pub mod converge;
mod exports;
mod files;
mod imports;
mod library;
mod mentions;
mod presence;
mod provenance;
mod reviews;
