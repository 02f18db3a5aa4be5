//! Owner's secret, kept in a file so that every start prints the same link.
//!
//! The store has only a hash, and a link needs the secret. So the file is beside the database,
//! readable by its owner only: a program that can read it can read and write the database anyway.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use super::{AuthError, AuthResult, TokenSecret};

const FILE: &str = "owner.token";

/// Returns the secret in the data directory; the first time, generates it. The caller must hold the
/// directory ([`StoreAccess::Serve`](copydesk_store::StoreAccess::Serve)): two simultaneous calls
/// would print different links.
pub fn owner_secret(data: &Path) -> AuthResult<TokenSecret> {
    let path = data.join(FILE);
    let failed = |source| AuthError::File { path: path.clone(), source };
    match fs::read_to_string(&path) {
        Ok(text) => {
            make_private(&path).map_err(failed)?;
            TokenSecret::chosen(&text)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let secret = TokenSecret::generate()?;
            keep(data, &secret).map_err(failed)?;
            Ok(secret)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Returns the secret in the data directory, if a server has stored one; generates nothing.
pub fn kept_owner_secret(data: &Path) -> AuthResult<Option<TokenSecret>> {
    let path = data.join(FILE);
    match fs::read_to_string(&path) {
        Ok(text) => TokenSecret::chosen(&text).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(AuthError::File { path, source }),
    }
}

/// Stores the secret by a rename: after a crash there is a complete secret or none.
fn keep(data: &Path, secret: &TokenSecret) -> io::Result<()> {
    let aside = data.join("owner.token.new");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&aside)?;
    make_private(&aside)?;
    writeln!(file, "{}", secret.expose())?;
    file.sync_all()?;
    fs::rename(&aside, data.join(FILE))
}

/// Makes a file private: one that was copied or restored may be readable by others.
#[cfg(unix)]
fn make_private(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))
}

/// Does nothing: on other systems the directory's own protection has to suffice.
#[cfg(not(unix))]
fn make_private(_path: &Path) -> io::Result<()> {
    Ok(())
}
