//! Outcomes of commands, and the exit codes they stand for.

/// Outcome of a command that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// Success.
    Fine,
    /// Load test in which something was lost.
    Incomplete,
    /// Options that contradict each other.
    Misunderstood,
    /// Data with errors.
    Findings,
    /// Data that cannot be read.
    Unreadable,
    /// Request that people rejected, or that failed.
    Refused,
    /// Request that expired, or that was not decided in time.
    Late,
}

impl CommandOutcome {
    /// Returns the exit code of the process.
    pub fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Findings | Self::Refused | Self::Incomplete => 1,
            Self::Unreadable | Self::Misunderstood => 2,
            Self::Late => 3,
        }
    }
}
