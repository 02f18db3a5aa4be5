//! The source archive of a release: it holds the sources and the editor that was built from them,
//! and the build script takes that editor only while both agree with their sums.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::root;
use crate::web_sources::{DIST, SOURCES, SUMS, archived_editor, files, sums};

/// The editor that the build script has just built from the sources.
const EDITOR: &str = env!("COPYDESK_WEB_DIST");

/// Makes the archive in a folder, if this is a checkout. The archive has no history of its own.
fn archive(folder: &Path) -> Option<PathBuf> {
    if !root().join(".git").exists() {
        // Written past the test runner, which would keep it to itself.
        let words = "\n*** SKIPPED: the source archive: this is no checkout\n";
        std::io::stderr().write_all(words.as_bytes()).ok();
        return None;
    }
    let archive = folder.join("copydesk.tar.gz");
    let made = Command::new(root().join("packaging/source_archive.sh"))
        .args([EDITOR, "1.2.3"])
        .arg(&archive)
        .status()
        .unwrap();
    assert!(made.success());
    Some(archive)
}

/// Unpacks the archive of this checkout in a folder. Returns the folder of the sources.
fn unpacked(folder: &Path) -> Option<PathBuf> {
    let archive = archive(folder)?;
    let unpacked =
        Command::new("tar").arg("xzf").arg(&archive).arg("-C").arg(folder).status().unwrap();
    assert!(unpacked.success());
    Some(folder.join("copydesk-1.2.3"))
}

/// Returns the files that a commit of everything would have, relative to the root.
fn of_the_checkout() -> BTreeSet<PathBuf> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    listed.split_terminator('\0').map(PathBuf::from).filter(|it| root().join(it).exists()).collect()
}

#[test]
fn a_source_archive_holds_the_sources_and_the_editor_that_was_built_from_them() {
    let folder = tempfile::tempdir().unwrap();
    let Some(tree) = unpacked(folder.path()) else { return };

    let expected = of_the_checkout();
    for file in &expected {
        let (found, wanted) = (fs::read(tree.join(file)), fs::read(root().join(file)));
        assert_eq!(found.ok(), wanted.ok(), "{}", file.display());
    }
    let web = tree.join("web");
    let editor = files(Path::new(EDITOR), &["."]).unwrap();
    for file in &editor {
        assert_eq!(
            fs::read(web.join(DIST).join(file)).ok(),
            fs::read(Path::new(EDITOR).join(file)).ok(),
            "{}",
            file.display()
        );
    }
    let all = Command::new("find").arg(&tree).args(["-type", "f"]).output().unwrap().stdout;
    let all = String::from_utf8(all).unwrap().lines().count();
    assert_eq!(all, expected.len() + editor.len() + 1, "nothing else but the sums");
    assert_eq!(archived_editor(&web), Ok(web.join(DIST)));
}

#[test]
fn the_same_files_make_the_same_archive() {
    let [one, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let Some(first) = archive(one.path()) else { return };
    let second = archive(other.path()).unwrap();
    assert!(fs::read(first).unwrap() == fs::read(second).unwrap(), "the archives differ");
}

#[test]
fn a_container_builds_the_editor_from_the_same_files() {
    let dockerfile = fs::read_to_string(root().join("Dockerfile")).unwrap();
    let copied: BTreeSet<_> = dockerfile
        .lines()
        .filter(|line| line.starts_with("COPY web/"))
        .flat_map(str::split_whitespace)
        .filter_map(|word| word.strip_prefix("web/"))
        .collect();
    assert_eq!(copied, BTreeSet::from(SOURCES));
}

/// A small `web` folder whose sums agree.
fn web() -> tempfile::TempDir {
    let web = tempfile::tempdir().unwrap();
    let files = ["package.json", "src/main.tsx", "src/main.test.ts", "dist/index.html"];
    for file in files {
        let path = web.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    for file in ["package-lock.json", "index.html", "tsconfig.json", "vite.config.ts"] {
        fs::write(web.path().join(file), file).unwrap();
    }
    fs::create_dir(web.path().join("public")).unwrap();
    fs::write(web.path().join(SUMS), sums(web.path()).unwrap()).unwrap();
    web
}

#[test]
fn an_archived_editor_is_used_while_it_agrees_with_its_sources() {
    let web = web();
    let web = web.path();
    let refused = |path: &str| {
        assert_eq!(
            archived_editor(web),
            Err(format!("web/{SUMS} does not agree with web/{path}")),
            "{path}"
        );
    };
    assert_eq!(archived_editor(web), Ok(web.join(DIST)));
    fs::write(web.join("src/main.test.ts"), "a test is no source").unwrap();
    assert_eq!(archived_editor(web), Ok(web.join(DIST)));

    for file in ["src/main.tsx", "dist/index.html"] {
        fs::write(web.join(file), "changed").unwrap();
        refused(file);
        fs::write(web.join(file), file).unwrap();
    }
    for file in ["src/more.ts", "dist/more.js"] {
        fs::write(web.join(file), "new").unwrap();
        refused(file);
        fs::remove_file(web.join(file)).unwrap();
    }
    assert_eq!(archived_editor(web), Ok(web.join(DIST)));

    fs::remove_file(web.join(SUMS)).unwrap();
    let reason = archived_editor(web).unwrap_err();
    assert!(reason.starts_with("there is no web/dist.sha256 of a source archive"), "{reason}");
}
