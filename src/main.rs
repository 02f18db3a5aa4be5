//! The `copydesk` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    // All in the library, which is built once for this binary and for the tests.
    copydesk::server::main()
}
