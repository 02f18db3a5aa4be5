//! No rewrite takes away words that the model has not read: they are people's, and it would not know of them.

use crate::tools::Takes;

use super::{Denial, Outlook};

/// Words that are unread stay, unless the call names them.
pub fn taken(outlook: &Outlook<'_>) -> Result<(), Denial> {
    let parts = || outlook.proposal.hunks.iter().flat_map(|hunk| &hunk.parts);
    match outlook.takes {
        Takes::Unnamed if parts().any(|part| outlook.unread.touches(part.from, part.to)) => {
            Err(Denial(format!(
                "This would take away words that you have not read, at units {} of version {}; nothing was proposed. Read \
                 them with {} first",
                outlook.unread, outlook.base.version, outlook.reads_with
            )))
        }
        Takes::Unnamed | Takes::Named | Takes::Nothing => Ok(()),
    }
}

/// A text for an empty document is not put beside another one that came there meanwhile, such as by the call before.
pub fn filled(outlook: &Outlook<'_>) -> Result<(), Denial> {
    let (base, now) = (&outlook.base.text, &outlook.caught_up.now.text);
    match outlook.takes {
        Takes::Unnamed if base.is_empty() && !now.is_empty() => {
            let told = "The document was empty when you wrote this, and no longer is; nothing was proposed. Propose what \
                        it is to read as a whole";
            Err(Denial(told.into()))
        }
        Takes::Unnamed | Takes::Named | Takes::Nothing => Ok(()),
    }
}
