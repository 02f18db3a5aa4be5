//! Names of the files that are written before they replace another one.

use std::ffi::OsStr;

/// Beginning of the names of temporary files; a random UUID follows.
const PREFIX: &str = ".copydesk-";
/// Number of hexadecimal digits of a hash in a name: enough that no two contents have equal ones.
const HASH_DIGITS: usize = 32;
/// Largest length of a file's name within a set-aside file's name, which has 255 bytes at most.
const LONGEST_LABEL: usize = 120;
pub(super) fn temporary_name() -> String {
    format!("{PREFIX}{}", uuid::Uuid::new_v4().simple())
}

/// Returns the name for a file that changes places with the file `name`. It contains the stamps of
/// the two contents that are not needed any more, and `name`, under which any other content is
/// kept.
pub(super) fn set_aside_name(name: &OsStr, new: &str, old: &str) -> String {
    let hash = |stamp: &str| -> String {
        let digits = stamp.strip_prefix("sha256:").unwrap_or(stamp);
        digits.chars().take(HASH_DIGITS).collect()
    };
    let name = name.to_string_lossy();
    let mut end = name.len().min(LONGEST_LABEL);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}-{}-{}-{}", temporary_name(), hash(new), hash(old), &name[..end])
}

/// Returns `true` for a name that only this program gives to files: the prefix and a random UUID,
/// and for a file that was set aside the stamps.
pub(super) fn is_ours(name: &str) -> bool {
    let Some((id, rest)) = name.strip_prefix(PREFIX).and_then(|id| id.split_at_checked(32)) else {
        return false;
    };
    let is_random = uuid::Uuid::try_parse(id).is_ok_and(|parsed| {
        parsed.get_version() == Some(uuid::Version::Random) && id == parsed.simple().to_string()
    });
    is_random && (rest.is_empty() || SetAsideFile::read(name).is_some())
}

/// Data in a name from [`set_aside_name`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SetAsideFile<'a> {
    /// Beginnings of the hashes of the two contents that are not needed any more.
    hashes: [&'a str; 2],
    /// Name of the file that it belongs to, perhaps cut.
    pub(super) label: &'a str,
}

impl<'a> SetAsideFile<'a> {
    /// Reads the data in a name; `None` if the name is another one.
    pub(super) fn read(name: &'a str) -> Option<Self> {
        let (_, rest) = name.strip_prefix(PREFIX)?.split_at_checked(32)?;
        let mut parts = rest.strip_prefix('-')?.splitn(3, '-');
        let (new, old, label) = (parts.next()?, parts.next()?, parts.next()?);
        let is_hash =
            |it: &str| it.len() == HASH_DIGITS && it.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_one = is_hash(new) && is_hash(old) && !label.is_empty();
        is_one.then_some(Self { hashes: [new, old], label })
    }

    /// Returns `true` for the stamp of a content that is not needed any more.
    pub(super) fn is_needless(&self, stamp: &str) -> bool {
        let digits = stamp.strip_prefix("sha256:").unwrap_or_default();
        self.hashes.iter().any(|hash| digits.starts_with(hash))
    }
}
