//! Approving and rejecting: what people see, what they may do, what becomes of the text, and what
//! the model learns.

use crate::support::{Person, Request, Script, TestServer};

mod approving;
mod deadlines;
mod moving_text;
mod permissions;
mod races;
mod reconnecting;
mod refused_decisions;
mod shown_requests;
mod single_changes;
mod undoing;

const BEFORE: &str = "Teh keeper wrote every night.\n\nHe recieved few visitors there.\n\nThe lamp was allways lit.\n";
const AFTER: &str = "The keeper wrote every night.\n\nHe received few visitors there.\n\nThe lamp was always lit.\n";

/// A model that corrects three words, and says "Done." to whatever comes of it.
fn correcting() -> Script {
    Script::rewriting(AFTER)
}

/// Ana has asked for three corrections; Ben sits beside her.
fn three_changes(copydesk: &TestServer) -> (Person, Person, String, Request) {
    let (ana, ben) = (copydesk.editor("Ana"), copydesk.editor("Ben"));
    ben.opens(&ana.creates(BEFORE));
    let run = ana.asks("Fix the spelling");
    let request = ana.sees_request();
    ben.sees_request();
    (ana, ben, run, request)
}
