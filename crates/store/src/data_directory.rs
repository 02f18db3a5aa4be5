//! Files of the data directory, which is private to its owner and served by one process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::time::Duration;

use super::{StoreError, StoreResult};

pub(super) const DATABASE: &str = "copydesk.sqlite";

/// Name of a database that is being filled by a transfer.
pub(super) const INCOMPLETE: &str = "copydesk.sqlite.incomplete";

/// File that is locked while a server runs: the database's own locks come and go with transactions.
const LOCK: &str = "copydesk.lock";

/// Attempts to take the lock. A visitor holds it while it brings the database up to date; a server
/// that starts in that moment must not give up.
const LOCK_TRIES: u32 = 5;
const LOCK_PAUSE: Duration = Duration::from_millis(100);

/// Creates a data directory and its parents, the directory itself with mode 0700.
pub fn create_data_directory(path: &Path) -> StoreResult<()> {
    if path.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(StoreError::file(path))
}

/// Creates the file with mode 0600 unless it exists. SQLite gives its journals the same mode.
pub(super) fn create_private(path: &Path) -> StoreResult<()> {
    match private(OpenOptions::new().write(true).create_new(true)).open(path) {
        Ok(file) => file.sync_all().map_err(StoreError::file(path)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(StoreError::file(path)(error)),
    }
}

pub(super) fn check_complete(directory: &Path) -> StoreResult<()> {
    let is_incomplete = directory.join(INCOMPLETE).is_file() && !directory.join(DATABASE).is_file();
    let place = || directory.display().to_string();
    if is_incomplete { Err(StoreError::Incomplete { place: place() }) } else { Ok(()) }
}

/// Locks the directory for this process; the operating system unlocks it when the process ends.
pub(super) async fn lock(directory: &Path) -> StoreResult<File> {
    for _ in 1..LOCK_TRIES {
        if let Some(mut file) = try_lock(directory)? {
            // Only words of an error lack it, if there is no room for it.
            leave_number(&mut file).ok();
            return Ok(file);
        }
        tokio::time::sleep(LOCK_PAUSE).await;
    }
    let number = fs::read_to_string(directory.join(LOCK)).unwrap_or_default();
    let process = number.trim().parse::<u32>().ok();
    Err(StoreError::InUse {
        place: directory.display().to_string(),
        server: process.map(|id| format!("process {id}")),
    })
}

pub(super) fn try_lock(directory: &Path) -> StoreResult<Option<File>> {
    let path = directory.join(LOCK);
    let mut options = OpenOptions::new();
    // Not truncated: until the lock is ours, the number in it is another process's.
    let file = private(options.read(true).write(true).create(true).truncate(false))
        .open(&path)
        .map_err(StoreError::file(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(StoreError::file(&path)(error)),
    }
}

/// Makes the names in a file's folder survive a loss of power, if the file system supports it.
pub(super) fn sync_folder(file: &Path) {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).ok();
}

/// Writes the process number into the lock file, for the error message of the next process.
fn leave_number(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    writeln!(file, "{}", std::process::id())
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
