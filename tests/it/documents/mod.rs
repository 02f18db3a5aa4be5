//! Documents and their text: written by several people, kept, imported, exported.

mod bin;
mod collab;
pub mod converge;
mod exports;
mod files;
mod imports;
mod library;
mod presence;
mod provenance;
