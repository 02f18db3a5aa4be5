//! A document's review settings, and the server's for documents that say nothing themselves.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};

use crate::approvals::{
    ApprovalRequirement, ApprovalRule, DecisionPolicy, DecisionRequirements, ToolPolicy,
};
use crate::document::{ChangeSet, InsertSide};

/// Frozen words are quoted up to this length.
const QUOTE_CHARS: usize = 120;

/// The server's defaults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerSettings {
    /// Whether every change waits for a person.
    pub approvals: ApprovalSwitch,
    /// Milliseconds until a request expires; 0 waits for ever.
    pub timeout_ms: u64,
    /// How the calls of a run are approved that says nothing about it, if its asker may have that.
    #[serde(default)]
    pub permission_mode: PermissionMode,
}

/// What an owner set while the server ran, to be kept over a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenSettings {
    /// The owner's choice.
    pub set: ServerSettings,
    /// What the server had been started with at that time.
    pub started_with: ServerSettings,
}

impl ChosenSettings {
    /// The settings of a server that is started with `now`: an option that was changed since is the newer choice.
    pub fn over(self, now: &ServerSettings) -> ServerSettings {
        let Self { set, started_with } = self;
        let &ServerSettings { approvals, timeout_ms, permission_mode } = now;
        ServerSettings {
            permission_mode: if permission_mode == started_with.permission_mode {
                set.permission_mode
            } else {
                permission_mode
            },
            approvals: if approvals == started_with.approvals { set.approvals } else { approvals },
            timeout_ms: if timeout_ms == started_with.timeout_ms {
                set.timeout_ms
            } else {
                timeout_ms
            },
        }
    }
}

/// How the calls of a run are approved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PermissionMode {
    /// People are asked (as the document's settings say).
    #[default]
    Sdk,
    /// Everything is applied at once; for owners, on servers that allow it.
    BypassPermissions,
    /// Nothing is changed before people have approved a plan; then they are asked about every change.
    ToolApproval,
    /// The Claude CLI with this server's tools.
    McpProxy,
}

impl PermissionMode {
    /// Every mode, in the order people are offered them.
    pub const ALL: [Self; 4] =
        [Self::BypassPermissions, Self::McpProxy, Self::ToolApproval, Self::Sdk];

    /// The mode of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sdk => "sdk",
            Self::BypassPermissions => "bypassPermissions",
            Self::ToolApproval => "toolApproval",
            Self::McpProxy => "mcpProxy",
        }
    }
}

impl fmt::Display for PermissionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether changes wait for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalSwitch {
    /// Every change waits.
    On,
    /// The server applies at once; logged, shown and undoable.
    Off,
}

impl ApprovalSwitch {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

/// What a document says itself; missing means the server's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnSettings {
    /// Who may decide.
    pub policy: Option<DecisionPolicy>,
    /// Stricter policies for some tools and sizes.
    pub policies: Option<Vec<ToolPolicy>>,
    /// Whether changes wait for a person.
    pub approvals: Option<ApprovalSwitch>,
    /// Milliseconds until a request expires; 0 waits for ever.
    pub timeout_ms: Option<u64>,
    /// Ranges no tool may touch, kept in positions of the newest version.
    pub frozen: Vec<(usize, usize)>,
}

/// The settings in force in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentSettings {
    /// Who may decide.
    pub policy: DecisionPolicy,
    /// Stricter policies for some tools and sizes.
    pub policies: Vec<ToolPolicy>,
    /// Whether changes wait for a person.
    pub approvals: ApprovalSwitch,
    /// Milliseconds until a request expires; 0 waits for ever.
    pub timeout_ms: u64,
    /// Ranges no tool may touch, in positions of the newest version.
    pub frozen: Vec<(usize, usize)>,
}

impl OwnSettings {
    /// Moves the frozen ranges over an update: what is typed at an edge stays outside, and a range whose words are all
    /// gone is gone.
    pub(super) fn follow(&mut self, change: &ChangeSet) {
        follow(&mut self.frozen, change);
    }

    /// Whether `policy` is asked for, for everything or for some tool or size.
    fn asks_for(&self, policy: DecisionPolicy) -> bool {
        let others = self.policies.iter().flatten().map(|other| other.policy);
        self.policy.into_iter().chain(others).any(|asked| asked == policy)
    }

    /// What requests can take by these policies.
    fn consents(&self) -> Vec<ApprovalRequirement> {
        let others = self.policies.as_deref().unwrap_or_default();
        self.policy.unwrap_or_default().at_most(others)
    }

    /// The policies with what `wished` says of them.
    fn with_policies_of(&self, wished: &Self) -> Self {
        let policies = wished.policies.clone().or_else(|| self.policies.clone());
        Self { policy: wished.policy.or(self.policy), policies, ..Self::default() }
    }

    /// What requests would take of several people by `wished`, and do not yet: there must be so many.
    pub(super) fn more_people_by(&self, wished: &Self) -> Vec<ApprovalRequirement> {
        let before = self.consents();
        let is_news = |it: &ApprovalRequirement| {
            wished.asks_for(DecisionPolicy::Two) || !before.iter().any(|known| known.includes(*it))
        };
        let consents = self.with_policies_of(wished).consents().into_iter();
        consents.filter(|consent| consent.need() > 1 && is_news(consent)).collect()
    }

    /// What is in force where the server says `server`.
    pub fn in_force(&self, server: &ServerSettings) -> DocumentSettings {
        DocumentSettings {
            policy: self.policy.unwrap_or_default(),
            policies: self.policies.clone().unwrap_or_default(),
            approvals: self.approvals.unwrap_or(server.approvals),
            timeout_ms: self.timeout_ms.unwrap_or(server.timeout_ms),
            frozen: self.frozen.clone(),
        }
    }
}

impl DocumentSettings {
    /// Whether something of it holds that `other` does not say already.
    pub fn asks_for_more_than(&self, other: &Self) -> bool {
        let usual = ApprovalRequirement::from(other.policy);
        let is_news =
            |it: &ToolPolicy| !other.policies.contains(it) && !usual.includes(it.policy.into());
        !self.frozen.is_empty()
            || !usual.includes(self.policy.into())
            || self.policies.iter().any(is_news)
            || (self.approvals == ApprovalSwitch::On && other.approvals == ApprovalSwitch::Off)
    }

    /// What changes take by these settings and by these rules.
    pub fn requirements<'a>(
        &'a self,
        rules: impl Iterator<Item = &'a ApprovalRule>,
    ) -> DecisionRequirements<'a> {
        DecisionRequirements {
            policy: self.policy,
            policies: &self.policies,
            rules: rules.collect(),
            inbox: None,
        }
    }
}

/// Moves frozen ranges over an update.
pub(super) fn follow(ranges: &mut Vec<(usize, usize)>, change: &ChangeSet) {
    if ranges.is_empty() {
        return;
    }
    let change = change.index();
    ranges.retain_mut(|(from, to)| {
        *from = change.map_pos(*from, InsertSide::After);
        *to = change.map_pos(*to, InsertSide::Before);
        from < to
    });
}

/// The first of the frozen `ranges` that a change of `[from, to)` would touch. At its edges is outside.
pub fn frozen_by(ranges: &[(usize, usize)], (from, to): (usize, usize)) -> Option<(usize, usize)> {
    let touches = |(start, end): &&(usize, usize)| {
        if from == to { *start < from && from < *end } else { from < *end && *start < to }
    };
    ranges.iter().find(touches).copied()
}

/// What the model is told if its change would touch frozen words; each range with its words.
pub fn frozen_words(touched: impl IntoIterator<Item = ((usize, usize), String)>) -> String {
    let mut told = "Nothing was proposed: these words are frozen, no tool may change them. \
                    Leave them exactly as they are."
        .to_owned();
    for ((from, to), words) in touched {
        let quoted: String = words.chars().take(QUOTE_CHARS).collect();
        let more = if quoted.len() < words.len() { "…" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(told, "\n- units {from} to {to}: {quoted:?}{more}");
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::TextEdit;

    #[test]
    fn what_an_owner_set_is_kept_until_the_server_is_started_otherwise() {
        let with = |approvals, seconds: u64| ServerSettings {
            approvals,
            timeout_ms: seconds * 1_000,
            permission_mode: PermissionMode::Sdk,
        };
        let chosen = ChosenSettings {
            set: with(ApprovalSwitch::Off, 7),
            started_with: with(ApprovalSwitch::On, 300),
        };
        assert_eq!(
            chosen.clone().over(&with(ApprovalSwitch::On, 300)),
            with(ApprovalSwitch::Off, 7)
        );
        assert_eq!(chosen.over(&with(ApprovalSwitch::On, 60)), with(ApprovalSwitch::Off, 60));
    }

    #[test]
    fn a_frozen_range_moves_with_its_words_and_goes_with_them() {
        let mut ranges = vec![(2, 5), (7, 9)];
        let edits = [
            TextEdit { from: 2, to: 2, insert: "x".into() },
            TextEdit { from: 7, to: 9, insert: String::new() },
        ];
        follow(&mut ranges, &ChangeSet::of(10, &edits).unwrap());
        assert_eq!(ranges, [(3, 6)]);
    }

    #[test]
    fn the_edges_of_a_frozen_range_are_outside() {
        let touched = |from, to| frozen_by(&[(2, 5)], (from, to)).is_some();
        assert!(touched(4, 6) && touched(0, 3) && touched(0, 9) && touched(3, 3));
        assert!(!touched(0, 2) && !touched(5, 6) && !touched(2, 2) && !touched(5, 5));
    }
}
