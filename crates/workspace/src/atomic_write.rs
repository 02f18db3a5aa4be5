//! Atomic writes: a file is written under a temporary name in its folder, and then put in its place
//! in one step. Files that a crash leaves behind are removed, or kept under a name that people
//! find.

use std::ffi::OsStr;
use std::io::{Error, ErrorKind, Read as _, Result, Write as _};
use std::time::{Duration, Instant, SystemTime};

use cap_fs_ext::{DirExt as _, FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use super::Workspace;
use super::path_names::check_guarded;
use super::resolved_path::ResolvedPath;
use super::temporary_names::{SetAsideFile, is_ours, set_aside_name, temporary_name};
use super::text_file::stamp_of_bytes;

/// Age from which a temporary file counts as left behind. One in use, also by another server in the
/// folder, is there for moments.
const IS_LEFT: Duration = Duration::from_secs(10);
/// Largest number of files and folders that are searched for files left behind.
const MOST_ENTRIES: usize = 1_000_000;
/// Largest depth of folders, and longest time, of the search for files left behind.
const DEEPEST: usize = 64;
const LONGEST: Duration = Duration::from_secs(10);

pub(super) fn create(spot: &ResolvedPath, content: &str) -> Result<()> {
    let ResolvedPath { folder, name } = spot;
    let beside = temporary_name();
    let made = write(folder, &beside, content, None).and_then(|()| place(folder, &beside, name));
    if made.is_err() {
        // The temporary file is no longer needed; it may be missing.
        folder.remove_file(&beside).ok();
    }
    made?;
    sync(folder);
    Ok(())
}

/// Writes the new content of a file under another name in its folder, durably; returns the name,
/// which says which contents may be removed after a crash. The owner and permissions of `old` stay.
pub(super) fn stage(
    spot: &ResolvedPath,
    content: &str,
    old: (&super::TextFile, &Metadata),
) -> Result<String> {
    let beside = temporary_name();
    let set_aside = set_aside_name(&spot.name, &super::stamp(content), &old.0.stamp);
    let staged = write(&spot.folder, &beside, content, Some(old.1))
        .and_then(|()| spot.folder.rename(&beside, &spot.folder, &set_aside));
    if staged.is_err() {
        spot.folder.remove_file(&beside).ok();
    }
    staged.map(|()| set_aside)
}

/// Makes changes of names in a folder durable, if the file system supports it.
pub(super) fn sync(folder: &Dir) {
    folder.open(".").and_then(|folder| folder.sync_all()).ok();
}

/// Swaps two files, folders or links in one step.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub(super) fn exchange(folder: &Dir, one: &str, other: &OsStr) -> Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    Ok(renameat_with(folder, one, folder, other, RenameFlags::EXCHANGE)?)
}

/// Fails, because other systems have no such step.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(super) fn exchange(_: &Dir, _: &str, _: &OsStr) -> Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Renames a temporary file to a name that people find, and returns that name. Replaces nothing.
pub(super) fn keep(folder: &Dir, beside: &str, label: &str) -> Result<String> {
    let id = uuid::Uuid::new_v4().simple().to_string();
    let kept = format!("{label}.kept-by-copydesk-{}", &id[..8]);
    match place(folder, beside, OsStr::new(&kept)) {
        // A folder has no second name, and not every system can rename it without replacing.
        Err(error) if is_unknown(&error) => folder.rename(beside, folder, &kept)?,
        placed => placed?,
    }
    sync(folder);
    Ok(kept)
}

fn write(folder: &Dir, name: &str, content: &str, old: Option<&Metadata>) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).follow(FollowSymlinks::No);
    let mut file = folder.open_with(name, &options)?;
    file.write_all(content.as_bytes())?;
    if let Some(old) = old {
        give(&file, old)?;
        // After the owner: a change of owner clears permission bits.
        file.set_permissions(old.permissions())?;
    }
    file.sync_all()
}

/// Gives a file the owner and group of the file before, as far as this process may.
#[cfg(unix)]
fn give(file: &File, old: &Metadata) -> Result<()> {
    use cap_std::fs::MetadataExt as _;
    use rustix::fs::{Gid, Uid, fchown};
    use rustix::io::Errno;
    let made = file.metadata()?;
    if (made.uid(), made.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    let (owner, group) = (Uid::from_raw(old.uid()), Gid::from_raw(old.gid()));
    // A process that may not change the owner may still be in the group.
    let given = fchown(file, Some(owner), Some(group)).or_else(|_| fchown(file, None, Some(group)));
    match given {
        // A file system without owners returns these errors.
        Ok(()) | Err(Errno::PERM | Errno::INVAL | Errno::NOTSUP | Errno::NOSYS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn give(_: &File, _: &Metadata) -> Result<()> {
    Ok(())
}

/// Method that puts a new file in its place, and never replaces a file that was created meanwhile.
type CreateMethod = fn(&Dir, &str, &OsStr) -> Result<()>;

/// Methods, best first; a file system may support only the last.
const WAYS: [CreateMethod; 3] = [by_rename, by_link, by_claim];

/// Puts a file in its place, under a name that no file has.
pub(super) fn place(folder: &Dir, beside: &str, name: &OsStr) -> Result<()> {
    let (last, ways) = (WAYS[WAYS.len() - 1], &WAYS[..WAYS.len() - 1]);
    for way in ways {
        match way(folder, beside, name) {
            Err(error) if is_unknown(&error) => {}
            done => return done,
        }
    }
    last(folder, beside, name)
}

/// Returns `true` if a file system does not support an operation at all.
pub(super) fn is_unknown(error: &Error) -> bool {
    use ErrorKind::{InvalidInput, PermissionDenied, TooManyLinks, Unsupported};
    // An operation that is really not permitted is not permitted to the last method either.
    matches!(error.kind(), Unsupported | InvalidInput | PermissionDenied | TooManyLinks)
}

/// Renames in one step; no second name is left.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn by_rename(folder: &Dir, beside: &str, name: &OsStr) -> Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    Ok(renameat_with(folder, beside, folder, name, RenameFlags::NOREPLACE)?)
}

/// Fails, because other systems have no such rename.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn by_rename(_: &Dir, _: &str, _: &OsStr) -> Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Adds the second name in one step, then removes the first.
fn by_link(folder: &Dir, beside: &str, name: &OsStr) -> Result<()> {
    folder.hard_link(beside, folder, name)?;
    // If the power fails here, `removed_second` recognises the name that stays.
    folder.remove_file(beside)
}

/// Reserves the name by an empty file, which only one process can create, and then replaces that.
fn by_claim(folder: &Dir, beside: &str, name: &OsStr) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).follow(FollowSymlinks::No);
    folder.open_with(name, &options)?;
    let placed = folder.rename(beside, folder, name);
    if placed.is_err() {
        folder.remove_file(name).ok();
    }
    placed
}

/// Removes the second name of a file in its folder, if this program gave it; `true` if it did.
pub(super) fn removed_second(spot: &ResolvedPath, file: &Metadata) -> bool {
    if file.nlink() != 2 {
        return false;
    }
    let Ok(entries) = spot.folder.entries() else { return false };
    let is_same = |it: &Metadata| (it.dev(), it.ino()) == (file.dev(), file.ino());
    for name in entries.flatten().map(|entry| entry.file_name()) {
        let is_it = name.to_str().is_some_and(is_ours)
            && name != spot.name
            && spot.folder.symlink_metadata(&name).is_ok_and(|it| is_same(&it));
        if is_it {
            return spot.folder.remove_file(&name).is_ok();
        }
    }
    false
}

impl Workspace {
    /// Removes the temporary files that earlier processes left when they ended in the middle of
    /// writing, and returns their number. Guarded folders, links, and files that another server is
    /// writing are not touched.
    pub fn clear_left_over(&self) -> usize {
        let Ok(root) = self.folder("") else { return 0 };
        let mut search =
            LeftoverSearch { workspace: self, seen: 0, until: Instant::now() + LONGEST };
        search.below(&root, 0)
    }
}

struct LeftoverSearch<'a> {
    workspace: &'a Workspace,
    seen: usize,
    until: Instant,
}

impl LeftoverSearch<'_> {
    fn below(&mut self, folder: &Dir, depth: usize) -> usize {
        let mut removed = 0;
        // A folder that cannot be read has no file of this program.
        let Ok(entries) = folder.entries() else { return 0 };
        for entry in entries.flatten() {
            self.seen += 1;
            if self.seen > MOST_ENTRIES || Instant::now() > self.until {
                return removed;
            }
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            let name_text = name.to_string_lossy();
            // A folder with the name of a temporary file is guarded, and never entered.
            if kind.is_dir() && depth < DEEPEST && check_guarded(&name_text).is_ok() {
                let inner = folder.open_dir_nofollow(&name);
                let is_open = |it: &Metadata| !self.workspace.is_closed(it);
                if let Ok(inner) = inner
                    && inner.dir_metadata().is_ok_and(|it| is_open(&it))
                {
                    removed += self.below(&inner, depth + 1);
                }
            } else if is_ours(&name_text) && is_left(folder, &name) {
                removed += usize::from(settle(folder, &name_text));
            }
        }
        removed
    }
}

/// Removes a file that a crash left, or renames it for people if its text may exist nowhere else.
fn settle(folder: &Dir, name: &str) -> bool {
    let Some(set_aside) = SetAsideFile::read(name) else {
        // This file was never complete.
        let is_file = folder.symlink_metadata(name).is_ok_and(|it| it.is_file());
        return is_file && folder.remove_file(name).is_ok();
    };
    let content = read_whole(folder, name);
    if content.is_ok_and(|content| set_aside.is_needless(&stamp_of_bytes(&content))) {
        return folder.remove_file(name).is_ok();
    }
    let kept = keep(folder, name, set_aside.label);
    if let Ok(kept) = &kept {
        tracing::warn!(
            file = set_aside.label,
            kept,
            "a file changed while it was replaced and the server stopped; the other version is kept"
        );
    }
    kept.is_ok()
}

fn read_whole(folder: &Dir, name: &str) -> Result<Vec<u8>> {
    if !folder.symlink_metadata(name)?.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    let mut content = Vec::new();
    let file = super::files::open(folder, OsStr::new(name))?;
    // No tool writes a longer file.
    file.take(super::LARGEST_FILE + 1).read_to_end(&mut content)?;
    Ok(content)
}

/// Returns `true` if no process writes the file any more. A file that was set aside has the
/// modification time of its content, but its rename changed its status time.
fn is_left(folder: &Dir, name: &OsStr) -> bool {
    let Ok(it) = folder.symlink_metadata(name) else { return false };
    let Ok(modified) = it.modified() else { return false };
    let is_set_aside = name.to_str().is_some_and(|name| SetAsideFile::read(name).is_some());
    let renamed = status_changed(&it).filter(|_| is_set_aside);
    let touched = renamed.map_or(modified.into_std(), |at| at.max(modified.into_std()));
    SystemTime::now().duration_since(touched).is_ok_and(|age| age >= IS_LEFT)
}

#[cfg(unix)]
fn status_changed(it: &Metadata) -> Option<SystemTime> {
    use cap_std::fs::MetadataExt as _;
    let seconds = Duration::from_secs(u64::try_from(it.ctime()).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(seconds)
}

#[cfg(not(unix))]
fn status_changed(_: &Metadata) -> Option<SystemTime> {
    None
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const LEFT: &str = ".copydesk-0e6ce55e8c7d4a0a9a86a7d3f5bb7f3e";

    fn ground() -> (tempfile::TempDir, Workspace) {
        let home = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(home.path(), &[&home.path().join("data")]).unwrap();
        (home, workspace)
    }

    fn has(home: &tempfile::TempDir, path: &str, age: Duration) {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "left").unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }

    #[test]
    fn each_way_puts_a_new_file_and_never_replaces_one() {
        for (way, by) in WAYS.iter().zip(["rename", "link", "claim"]) {
            let (home, workspace) = ground();
            let folder = workspace.folder("").unwrap();
            write(&folder, LEFT, "new", None).unwrap();
            way(&folder, LEFT, OsStr::new("a.txt")).unwrap();
            assert_eq!(fs::read_to_string(home.path().join("a.txt")).unwrap(), "new", "{by}");
            assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "{by} leaves nothing");
            write(&folder, LEFT, "newer", None).unwrap();
            let refused = way(&folder, LEFT, OsStr::new("a.txt")).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::AlreadyExists, "{by}");
            assert_eq!(fs::read_to_string(home.path().join("a.txt")).unwrap(), "new", "{by}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_system_that_knows_no_links_is_no_hindrance() {
        for errno in
            [rustix::io::Errno::PERM, rustix::io::Errno::OPNOTSUPP, rustix::io::Errno::INVAL]
        {
            assert!(is_unknown(&errno.into()), "{errno}");
        }
        for errno in [rustix::io::Errno::EXIST, rustix::io::Errno::NOSPC, rustix::io::Errno::ROFS] {
            assert!(!is_unknown(&errno.into()), "{errno}");
        }
    }

    #[test]
    fn what_was_left_beside_files_is_removed_and_nothing_else() {
        let (home, _) = ground();
        let old = Duration::from_mins(1);
        let removed = [LEFT.to_owned(), format!("a/b/{LEFT}")];
        let stays = [
            format!("data/{LEFT}"),
            format!(".git/{LEFT}"),
            ".copydesk-notes".to_owned(),
            ".copydesk-0e6ce55e8c7d1a0a9a86a7d3f5bb7f3e".to_owned(),
            ".copydesk-0E6CE55E8C7D4A0A9A86A7D3F5BB7F3E".to_owned(),
            "a/b.txt".to_owned(),
        ];
        for path in removed.iter().chain(&stays) {
            has(&home, path, old);
        }
        // The data folder is known by what it is, so it has to be there.
        let workspace = Workspace::open(home.path(), &[&home.path().join("data")]).unwrap();
        let young = ".copydesk-1e6ce55e8c7d4a0a9a86a7d3f5bb7f3e";
        has(&home, young, Duration::ZERO);
        assert_eq!(workspace.clear_left_over(), 2);
        assert!(removed.iter().all(|path| !home.path().join(path).exists()));
        assert!(stays.iter().all(|path| home.path().join(path).exists()));
        assert!(home.path().join(young).exists(), "someone may be writing it");
    }

    #[test]
    fn a_second_name_that_a_crash_left_does_not_stop_the_next_edit() {
        let (home, workspace) = ground();
        has(&home, "a.txt", Duration::ZERO);
        fs::hard_link(home.path().join("a.txt"), home.path().join(LEFT)).unwrap();
        let seen = workspace.read_if_exists("a.txt").unwrap().unwrap().stamp;
        workspace.write("a.txt", "new", &seen).unwrap();
        assert!(!home.path().join(LEFT).exists());
        // A name that someone else gave it is left, and the file with it.
        fs::hard_link(home.path().join("a.txt"), home.path().join("b.txt")).unwrap();
        assert!(workspace.read_if_exists("a.txt").is_err());
    }

    #[test]
    fn of_a_file_that_was_set_aside_only_what_no_one_needs_is_removed() {
        let (home, workspace) = ground();
        let (new, old) = (super::super::stamp("new"), super::super::stamp("old"));
        let name = || set_aside_name(OsStr::new("a.txt"), &new, &old);
        let names: Vec<_> = ["new", "old", "old and more"]
            .map(|text| {
                let name = name();
                assert!(is_ours(&name), "{name}");
                fs::write(home.path().join(&name), text).unwrap();
                name
            })
            .into();
        let folder = workspace.folder("").unwrap();
        assert!(names.iter().all(|name| !is_left(&folder, OsStr::new(name))), "they are young");
        assert!(names.iter().all(|name| settle(&folder, name)));
        let left: Vec<_> =
            fs::read_dir(home.path()).unwrap().flatten().map(|it| it.path()).collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert!(left[0].to_str().unwrap().contains("a.txt.kept-by-copydesk-"), "{left:?}");
        assert_eq!(fs::read_to_string(&left[0]).unwrap(), "old and more");
    }

    #[test]
    fn tools_make_nothing_that_would_be_taken_for_a_file_on_its_way() {
        let (_home, workspace) = ground();
        assert!(workspace.check(LEFT, "x").is_err());
        assert!(workspace.check(".copydesk-notes", "x").is_ok());
    }
}
