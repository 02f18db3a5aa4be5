//! Text of an error on standard error.

use anyhow::Error;

/// Returns an error and its causes in one line, without a cause that the words before end with.
pub fn error_text(error: &Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let words = cause.to_string();
        if !text.ends_with(&words) {
            text = format!("{text}: {words}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io;

    use anyhow::Context as _;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("copydesk.lock: {source}")]
    struct FileError {
        source: io::Error,
    }

    #[test]
    fn every_cause_is_said_once() {
        let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
        let file = || FileError { source: refused() };
        let text = |error: Error| error_text(&error);
        assert_eq!(text(file().into()), "copydesk.lock: permission denied");
        let opened: Result<(), _> = Err(file());
        let opened = opened.context("cannot start").unwrap_err();
        assert_eq!(text(opened), "cannot start: copydesk.lock: permission denied");
        let read: Result<(), _> = Err(refused());
        assert_eq!(
            text(read.context("cannot read").unwrap_err()),
            "cannot read: permission denied"
        );
    }
}
