//! The files that the editor is built from, and the built editor that a source archive holds.
//!
//! An archive of a release has `web/dist`, and in `web/dist.sha256` the SHA-256 sums of the built
//! files and of the files that they were built from. `sha256sum --check` in `web/` reads it too.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use sha2::{Digest as _, Sha256};

/// Files and folders below `web/` that the editor is built from.
pub const SOURCES: [&str; 7] = [
    "package.json",
    "package-lock.json",
    "index.html",
    "tsconfig.json",
    "vite.config.ts",
    "public",
    "src",
];
/// File of the sums in `web/`.
pub const SUMS: &str = "dist.sha256";
/// Folder of the built editor in `web/`.
pub const DIST: &str = "dist";

/// Returns all files of `sources`, relative to `root`, in a fixed order. Tests are left out: the
/// editor is not built from them.
pub fn files(root: &Path, sources: &[&str]) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = sources.iter().map(PathBuf::from).collect();
    while let Some(next) = open.pop() {
        if root.join(&next).is_dir() {
            for entry in fs::read_dir(root.join(&next))? {
                open.push(next.join(entry?.file_name()));
            }
        } else if !next.to_string_lossy().contains(".test.") {
            found.push(next);
        }
    }
    found.sort();
    Ok(found)
}

/// Returns `web/dist`, if the sums agree with it and with the sources; otherwise a reason for
/// people.
pub fn archived_editor(web: &Path) -> Result<PathBuf, String> {
    let stated = fs::read_to_string(web.join(SUMS))
        .map_err(|error| format!("there is no web/{SUMS} of a source archive: {error}"))?;
    let found = sums(web).map_err(|error| format!("cannot read web/: {error}"))?;
    let stated: BTreeSet<&str> = stated.lines().collect();
    let found: BTreeSet<&str> = found.lines().collect();
    let differs = stated.symmetric_difference(&found).next();
    match differs.and_then(|line| line.split_once("  ")) {
        Some((_, path)) => Err(format!("web/{SUMS} does not agree with web/{path}")),
        None if differs.is_some() => Err(format!("web/{SUMS} has a line that is no sum")),
        None if web.join(DIST).join("index.html").is_file() => Ok(web.join(DIST)),
        None => Err(format!("web/{DIST} has no editor")),
    }
}

/// Returns the sums of the sources and of the built editor, as `sha256sum` prints them.
pub fn sums(web: &Path) -> io::Result<String> {
    let mut lines = String::new();
    for file in files(web, &[&SOURCES[..], &[DIST]].concat())? {
        for byte in Sha256::digest(fs::read(web.join(&file))?) {
            let _ = write!(lines, "{byte:02x}");
        }
        let path = file.to_string_lossy().replace('\\', "/");
        let _ = writeln!(lines, "  {path}");
    }
    Ok(lines)
}
