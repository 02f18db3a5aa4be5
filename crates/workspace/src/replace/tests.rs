//! Another program changes a file while it is replaced, at each place where it could.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::stamp;

/// Action of another program when a place is reached, once.
type OtherProgram = Box<dyn FnMut()>;

thread_local! {
    static OTHERS: RefCell<Vec<(&'static str, OtherProgram)>> = const { RefCell::new(Vec::new()) };
}

/// Does what another program was to do here.
pub(super) fn reached(place: &'static str) {
    let taken = OTHERS.with_borrow_mut(|others| {
        let at = others.iter().position(|(expected, _)| *expected == place)?;
        Some(others.remove(at).1)
    });
    if let Some(mut other) = taken {
        other();
    }
}

/// At this place, another program does this.
fn at_place(place: &'static str, other: impl FnMut() + 'static) {
    OTHERS.with_borrow_mut(|others| others.push((place, Box::new(other))));
}

const OLD: &str = "old\n";
const NEW: &str = "new\n";

struct ReplaceFixture {
    home: TempDir,
    workspace: Workspace,
}

impl ReplaceFixture {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("notes")).unwrap();
        fs::write(home.path().join("notes/a.txt"), OLD).unwrap();
        let workspace = Workspace::open(home.path(), &[]).unwrap();
        Self { home, workspace }
    }

    fn path(&self) -> PathBuf {
        self.home.path().join("notes/a.txt")
    }

    fn writes(&self) -> Result<ReplacedFile, WorkspaceError> {
        self.workspace.write("notes/a.txt", NEW, &stamp(OLD))
    }

    fn removes(&self) -> Result<ReplacedFile, WorkspaceError> {
        self.workspace.remove("notes/a.txt", &stamp(OLD))
    }

    fn reads(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    /// The names in the folder but for the file's.
    fn others(&self) -> Vec<String> {
        let names = fs::read_dir(self.home.path().join("notes")).unwrap().flatten();
        let names = names.map(|entry| entry.file_name().into_string().unwrap());
        names.filter(|name| name != "a.txt").collect()
    }

    /// Returns the text of the one version that was kept.
    fn kept(&self, kept: &str) -> String {
        let others = self.others();
        assert_eq!(others.len(), 1, "{others:?}");
        assert_eq!(format!("notes/{}", others[0]), kept);
        assert!(kept.starts_with("notes/a.txt.kept-by-copydesk-"), "{kept}");
        fs::read_to_string(self.home.path().join(kept)).unwrap()
    }
}

/// Another program renames its version into place.
fn renames_over(path: &Path, text: &'static str) -> impl FnMut() + 'static {
    let path = path.to_owned();
    move || {
        let beside = path.with_extension("theirs");
        fs::write(&beside, text).unwrap();
        fs::rename(&beside, &path).unwrap();
    }
}

fn overwrites(path: &Path, text: &'static str) -> impl FnMut() + 'static {
    let path = path.to_owned();
    move || fs::write(&path, text).unwrap()
}

fn is_changed(outcome: &Result<ReplacedFile, WorkspaceError>) -> bool {
    matches!(outcome, Err(WorkspaceError::Changed { .. }))
}

#[test]
fn a_version_that_comes_after_the_comparison_stays() {
    for rename in [true, false] {
        let ground = ReplaceFixture::new();
        if rename {
            at_place("workspace.staged", renames_over(&ground.path(), "theirs\n"));
        } else {
            at_place("workspace.staged", overwrites(&ground.path(), "theirs\n"));
        }
        let outcome = ground.writes();
        assert!(is_changed(&outcome), "{outcome:?}");
        assert_eq!((ground.reads().as_str(), ground.others().len()), ("theirs\n", 0));
    }
}

#[test]
fn a_version_that_comes_after_the_comparison_is_not_removed() {
    for place in ["workspace.staged", "workspace.exchanged"] {
        let ground = ReplaceFixture::new();
        let path = ground.path();
        let outcome = if place == "workspace.staged" {
            at_place(place, renames_over(&path, "theirs\n"));
            ground.removes()
        } else {
            // They have made it again meanwhile: theirs is not the one that was to be removed.
            at_place(place, overwrites(&path, "theirs\n"));
            ground.removes()
        };
        assert_eq!(is_changed(&outcome), place == "workspace.staged", "{outcome:?}");
        assert_eq!((ground.reads().as_str(), ground.others().len()), ("theirs\n", 0));
    }
}

#[test]
fn a_file_that_is_gone_by_then_is_not_made_again() {
    let ground = ReplaceFixture::new();
    let path = ground.path();
    at_place("workspace.staged", move || fs::remove_file(&path).unwrap());
    let outcome = ground.writes();
    assert!(is_changed(&outcome), "{outcome:?}");
    assert!(!ground.path().exists() && ground.others().is_empty());
}

#[test]
fn a_folder_or_link_in_its_place_stays() {
    let ground = ReplaceFixture::new();
    let path = ground.path();
    at_place("workspace.staged", move || {
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        fs::write(path.join("inside"), "theirs").unwrap();
    });
    let outcome = ground.writes();
    assert!(is_changed(&outcome), "{outcome:?}");
    assert_eq!(fs::read_to_string(ground.path().join("inside")).unwrap(), "theirs");
    assert!(ground.others().is_empty());

    let ground = ReplaceFixture::new();
    let path = ground.path();
    at_place("workspace.staged", move || {
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
    });
    let outcome = ground.writes();
    assert!(is_changed(&outcome), "{outcome:?}");
    assert_eq!(fs::read_link(ground.path()).unwrap(), Path::new("elsewhere"));
    assert!(ground.others().is_empty());
}

#[test]
fn where_two_versions_come_one_after_the_other_both_are_there() {
    for place in ["workspace.exchanged", "workspace.put_back"] {
        let ground = ReplaceFixture::new();
        at_place("workspace.staged", renames_over(&ground.path(), "first\n"));
        at_place(place, renames_over(&ground.path(), "second\n"));
        let outcome = ground.writes();
        if place == "workspace.put_back" {
            // The first was in its place again when the second came: that is a change like any
            // other.
            assert!(is_changed(&outcome), "{outcome:?}");
            assert_eq!((ground.reads().as_str(), ground.others().len()), ("second\n", 0));
            continue;
        }
        let Err(WorkspaceError::Kept { kept, .. }) = outcome else { panic!("{outcome:?}") };
        assert_eq!(ground.reads(), "second\n", "the newest is in its place");
        assert_eq!(ground.kept(&kept), "first\n");
    }
}

#[test]
fn what_is_written_through_a_file_that_stays_open_is_put_back() {
    let ground = ReplaceFixture::new();
    let path = ground.path();
    at_place("workspace.staged", move || {
        let mut writer = fs::File::options().append(true).open(&path).unwrap();
        at_place("workspace.settling", move || writer.write_all(b"late\n").unwrap());
    });
    let outcome = ground.writes();
    // It is held open to the end, so the old file is put back with what was written into it.
    assert!(matches!(outcome, Err(WorkspaceError::Busy { .. })), "{outcome:?}");
    assert_eq!((ground.reads(), ground.others().len()), (format!("{OLD}late\n"), 0));
}

#[test]
fn a_line_that_a_program_writes_and_closes_meanwhile_is_brought_over() {
    let ground = ReplaceFixture::new();
    let path = ground.path();
    at_place("workspace.staged", move || {
        let mut writer = fs::File::options().append(true).open(&path).unwrap();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(60));
            writer.write_all(b"late\n").unwrap();
        });
    });
    assert_eq!(ground.writes().unwrap(), ReplacedFile::default());
    assert_eq!((ground.reads(), ground.others().len()), (format!("{NEW}late\n"), 0));
}

#[test]
fn a_late_rewrite_of_the_old_file_is_put_back_or_kept() {
    // Through a second name, which no look at open files sees.
    let rewrite = |ground: &ReplaceFixture| {
        let folder = ground.home.path().join("notes");
        move || {
            let old = fs::read_dir(&folder).unwrap().flatten().map(|it| it.path());
            let ours =
                |it: &PathBuf| it.file_name().unwrap().to_str().unwrap().starts_with(".copydesk-");
            fs::write(old.into_iter().find(ours).unwrap(), "theirs\n").unwrap();
        }
    };
    let ground = ReplaceFixture::new();
    at_place("workspace.settling", rewrite(&ground));
    let outcome = ground.writes();
    assert!(is_changed(&outcome), "{outcome:?}");
    assert_eq!((ground.reads().as_str(), ground.others().len()), ("theirs\n", 0));

    let ground = ReplaceFixture::new();
    let (theirs, mut newest) = (rewrite(&ground), overwrites(&ground.path(), "newest\n"));
    at_place("workspace.settling", move || {
        theirs();
        newest();
    });
    let kept = ground.writes().unwrap().kept.unwrap();
    assert_eq!(ground.reads(), "newest\n");
    assert_eq!(ground.kept(&kept), "theirs\n");
}

#[test]
fn a_file_that_a_program_holds_open_for_writing_is_not_replaced() {
    let ground = ReplaceFixture::new();
    let writer = fs::File::options().append(true).open(ground.path()).unwrap();
    let outcome = ground.writes();
    assert!(matches!(outcome, Err(WorkspaceError::Busy { .. })), "{outcome:?}");
    assert_eq!((ground.reads().as_str(), ground.others().len()), (OLD, 0));
    drop(writer);
    let reader = fs::File::open(ground.path()).unwrap();
    ground.writes().unwrap();
    assert_eq!((ground.reads().as_str(), ground.others().len()), (NEW, 0));
    drop(reader);
}

#[test]
fn without_an_exchange_the_file_is_compared_once_more() {
    let ground = ReplaceFixture::new();
    let spot =
        ground.workspace.spot("notes/a.txt", crate::resolved_path::MissingFolder::Refuse).unwrap();
    let (old, metadata) = ground.workspace.read_at(&spot, "notes/a.txt").unwrap();
    let change = FileReplacement {
        workspace: &ground.workspace,
        spot: &spot,
        path: "notes/a.txt",
        old: &old,
        content: Some(NEW),
    };
    let staged = atomic_write::stage(&spot, NEW, (&old, &metadata)).unwrap();
    fs::write(ground.path(), "theirs\n").unwrap();
    assert!(matches!(change.rename_over(&staged), Err(WorkspaceError::Changed { .. })));
    assert_eq!((ground.reads().as_str(), ground.others().len()), ("theirs\n", 0));
    fs::write(ground.path(), OLD).unwrap();
    let staged = atomic_write::stage(&spot, NEW, (&old, &metadata)).unwrap();
    change.rename_over(&staged).unwrap();
    assert_eq!((ground.reads().as_str(), ground.others().len()), (NEW, 0));
}
