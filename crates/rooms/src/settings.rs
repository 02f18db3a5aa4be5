//! Review settings of a document, and the server's for documents that set none themselves.

pub mod model_access;

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};

use copydesk_approvals::{
    ApprovalRequirement, ApprovalRule, ApprovalSwitch, DecisionPolicy, DecisionRequirements,
    RequestSource, ToolCatalog, ToolPolicy,
};
use copydesk_document::{ChangeSet, InsertSide};

use model_access::ModelAccess;

pub(crate) const LONGEST_TOOL: usize = 100;
const QUOTE_CHARS: usize = 120;

/// Milliseconds until a request without document, or with an outside caller, expires by default.
pub const OUTSIDE_TIMEOUT_MS: u64 = 300_000;

/// Settings of the server, in force where [`OwnSettings`] has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerSettings {
    /// Switch that says whether every change waits for a person.
    pub approvals: ApprovalSwitch,
    /// Milliseconds until a request expires; 0 waits for ever. `None`: requests in a document wait
    /// for ever, and others for [`OUTSIDE_TIMEOUT_MS`].
    pub timeout_ms: Option<u64>,
    /// Permission mode of runs that name none, if the person who asks may have it.
    #[serde(default)]
    pub permission_mode: PermissionMode,
}

/// Settings that an owner set while the server ran, stored over a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenSettings {
    /// Settings that the owner chose.
    pub set: ServerSettings,
    /// Settings that the server had been started with at that time.
    pub started_with: ServerSettings,
}

impl ChosenSettings {
    /// Merges an owner's stored choices with the start options `now`: an option that differs from
    /// the one at the time of the choice wins.
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
            timeout_ms: newer_timeout(timeout_ms, started_with.timeout_ms, set.timeout_ms),
        }
    }
}

/// Returns the timeout that was chosen last: by the option `now`, or `set` by an owner. Servers
/// once started with a timeout of [`OUTSIDE_TIMEOUT_MS`] where no option was given.
fn newer_timeout(now: Option<u64>, started_with: Option<u64>, set: Option<u64>) -> Option<u64> {
    let is_as_before =
        now.unwrap_or(OUTSIDE_TIMEOUT_MS) == started_with.unwrap_or(OUTSIDE_TIMEOUT_MS);
    if is_as_before && set != started_with { set } else { now }
}

/// Permission mode: how the calls of a run are approved. The names in the store and on the wire
/// ([`Self::as_str`]) are those of older protocols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PermissionMode {
    /// Mode in which people are asked, as the document's settings say.
    #[default]
    #[serde(rename = "Sdk")]
    Ask,
    /// Mode in which everything is applied at once; for owners, on servers that allow it.
    #[serde(rename = "BypassPermissions")]
    Bypass,
    /// Mode in which nothing is changed before people have approved a plan; then as [`Self::Ask`].
    #[serde(rename = "ToolApproval")]
    PlanFirst,
    /// Mode in which the Claude CLI runs with this server's tools.
    #[serde(rename = "McpProxy")]
    ClaudeCli,
}

impl PermissionMode {
    /// Every mode, in the order people are offered them.
    pub const ALL: [Self; 4] = [Self::Bypass, Self::ClaudeCli, Self::PlanFirst, Self::Ask];

    /// Returns the mode with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "sdk",
            Self::Bypass => "bypassPermissions",
            Self::PlanFirst => "toolApproval",
            Self::ClaudeCli => "mcpProxy",
        }
    }
}

impl From<PermissionMode> for RequestSource {
    fn from(mode: PermissionMode) -> Self {
        match mode {
            PermissionMode::Ask => Self::Ask,
            PermissionMode::Bypass => Self::Bypass,
            PermissionMode::PlanFirst => Self::PlanFirst,
            PermissionMode::ClaudeCli => Self::ClaudeCli,
        }
    }
}

impl fmt::Display for PermissionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Settings that a document has itself; [`ServerSettings`] are in force where one is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnSettings {
    /// Policy that says who may decide.
    pub policy: Option<DecisionPolicy>,
    /// Stricter policies for some tools and sizes.
    pub policies: Option<Vec<ToolPolicy>>,
    /// Switch that says whether changes wait for a person.
    pub approvals: Option<ApprovalSwitch>,
    /// Milliseconds until a request expires; 0 waits for ever.
    pub timeout_ms: Option<u64>,
    /// Models that may see the text.
    pub models: Option<ModelAccess>,
    /// Ranges that no tool may touch, stored in positions of the newest version.
    pub frozen: Vec<(usize, usize)>,
}

/// Settings in force in a document; see [`OwnSettings::in_force`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentSettings {
    /// Policy that says who may decide.
    pub policy: DecisionPolicy,
    /// Stricter policies for some tools and sizes.
    pub policies: Vec<ToolPolicy>,
    /// Switch that says whether changes wait for a person.
    pub approvals: ApprovalSwitch,
    /// Milliseconds until a request expires; 0 waits for ever.
    pub timeout_ms: u64,
    /// Milliseconds until the request of an outside caller expires, whose own limit may be shorter.
    pub outside_timeout_ms: u64,
    /// Models that may see the text.
    pub models: ModelAccess,
    /// Ranges that no tool may touch, in positions of the newest version.
    pub frozen: Vec<(usize, usize)>,
}

impl OwnSettings {
    /// Moves the frozen ranges over an update. Words typed at an edge stay outside, and a range
    /// whose words are all deleted is removed.
    pub(super) fn follow(&mut self, change: &ChangeSet) {
        follow(&mut self.frozen, change);
    }

    fn asks_for(&self, policy: DecisionPolicy) -> bool {
        let others = self.policies.iter().flatten().map(|other| other.policy);
        self.policy.into_iter().chain(others).any(|asked| asked == policy)
    }

    fn consents(&self, tools: &ToolCatalog) -> Vec<ApprovalRequirement> {
        let others = self.policies.as_deref().unwrap_or_default();
        self.policy.unwrap_or_default().at_most(others, tools)
    }

    fn with_policies_of(&self, wished: &Self) -> Self {
        let policies = wished.policies.clone().or_else(|| self.policies.clone());
        Self { policy: wished.policy.or(self.policy), policies, ..Self::default() }
    }

    /// Returns the requirements under `wished`, not yet in force, that need several people.
    pub(super) fn more_people_by(
        &self,
        wished: &Self,
        tools: &ToolCatalog,
    ) -> Vec<ApprovalRequirement> {
        let before = self.consents(tools);
        let is_news = |it: &ApprovalRequirement| {
            wished.asks_for(DecisionPolicy::Two) || !before.iter().any(|known| known.includes(*it))
        };
        let consents = self.with_policies_of(wished).consents(tools).into_iter();
        consents.filter(|consent| consent.need() > 1 && is_news(consent)).collect()
    }

    /// Returns the settings in force where the server's are `server`.
    pub fn in_force(&self, server: &ServerSettings) -> DocumentSettings {
        let timeout_ms = self.timeout_ms.or(server.timeout_ms);
        DocumentSettings {
            policy: self.policy.unwrap_or_default(),
            policies: self.policies.clone().unwrap_or_default(),
            approvals: self.approvals.unwrap_or(server.approvals),
            timeout_ms: timeout_ms.unwrap_or(0),
            outside_timeout_ms: timeout_ms.unwrap_or(OUTSIDE_TIMEOUT_MS),
            models: self.models.clone().unwrap_or_default(),
            frozen: self.frozen.clone(),
        }
    }
}

impl DocumentSettings {
    /// Returns `true` if it asks for something that `other` does not ask for.
    pub fn asks_for_more_than(&self, other: &Self) -> bool {
        let usual = ApprovalRequirement::from(other.policy);
        let is_news =
            |it: &ToolPolicy| !other.policies.contains(it) && !usual.includes(it.policy.into());
        !self.frozen.is_empty()
            || (self.models != ModelAccess::Any && self.models != other.models)
            || !usual.includes(self.policy.into())
            || self.policies.iter().any(is_news)
            || (self.approvals == ApprovalSwitch::On && other.approvals == ApprovalSwitch::Off)
    }

    /// Returns what these settings protect the document with, by the names of the settings.
    pub fn protections(&self) -> Vec<&'static str> {
        let policies = self.policy != DecisionPolicy::default() || !self.policies.is_empty();
        let found = [
            ("modelAccess", self.models != ModelAccess::Any),
            ("frozen", !self.frozen.is_empty()),
            ("policy", policies),
        ];
        found.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| name).collect()
    }

    /// Returns the requirements for changes under these settings and these rules.
    pub fn requirements<'a>(
        &'a self,
        rules: impl Iterator<Item = &'a ApprovalRule>,
        tools: &ToolCatalog,
    ) -> DecisionRequirements<'a> {
        DecisionRequirements {
            tools: tools.clone(),
            policy: self.policy,
            policies: &self.policies,
            rules: rules.collect(),
            inbox_policies: None,
        }
    }
}

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

/// Returns the first frozen range that a change of `[from, to)` would touch inside its edges.
pub fn frozen_by(ranges: &[(usize, usize)], (from, to): (usize, usize)) -> Option<(usize, usize)> {
    let touches = |(start, end): &&(usize, usize)| {
        if from == to { *start < from && from < *end } else { from < *end && *start < to }
    };
    ranges.iter().find(touches).copied()
}

/// Returns the message for the model if its change would touch frozen words: range and words.
pub fn frozen_words(touched: impl IntoIterator<Item = ((usize, usize), String)>) -> String {
    let mut message = "Nothing was proposed: these words are frozen, no tool may change them. \
                    Leave them exactly as they are."
        .to_owned();
    for ((from, to), words) in touched {
        let quoted: String = words.chars().take(QUOTE_CHARS).collect();
        let more = if quoted.len() < words.len() { "…" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(message, "\n- units {from} to {to}: {quoted:?}{more}");
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use copydesk_document::TextEdit;

    #[test]
    fn settings_of_earlier_versions_show_a_document_to_any_model_and_unreadable_ones_to_none() {
        let read = |stored: &str| serde_json::from_str::<OwnSettings>(stored);
        assert_eq!(read(r#"{"policy": null, "frozen": []}"#).unwrap().models, None);
        assert_eq!(read(r#"{"models": "local"}"#).unwrap().models, Some(ModelAccess::Local));
        // A document whose settings cannot be read is not opened.
        assert!(read(r#"{"models": "near"}"#).is_err());
    }

    #[test]
    fn what_an_owner_set_is_kept_until_the_server_is_started_otherwise() {
        let with = |approvals, seconds: u64| ServerSettings {
            approvals,
            timeout_ms: Some(seconds * 1_000),
            permission_mode: PermissionMode::Ask,
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
    fn the_names_of_modes_in_the_store_stay_those_of_older_versions() {
        let stored = r#"["BypassPermissions","McpProxy","ToolApproval","Sdk"]"#;
        assert_eq!(serde_json::to_string(&PermissionMode::ALL).unwrap(), stored);
        let sources = PermissionMode::ALL.map(RequestSource::from);
        let names = PermissionMode::ALL.map(PermissionMode::as_str);
        assert_eq!(
            serde_json::to_string(&sources).unwrap(),
            serde_json::to_string(&names).unwrap()
        );
    }

    #[test]
    fn a_timeout_that_no_one_chose_is_no_choice() {
        let (before, minute) = (Some(OUTSIDE_TIMEOUT_MS), Some(60_000));
        assert_eq!(newer_timeout(None, before, before), None);
        assert_eq!(newer_timeout(None, before, minute), minute);
        assert_eq!(newer_timeout(None, None, Some(0)), Some(0));
        assert_eq!(newer_timeout(minute, None, Some(0)), minute);
    }

    #[test]
    fn a_request_in_a_document_waits_for_ever_unless_a_limit_is_set() {
        let server = |timeout_ms| ServerSettings {
            approvals: ApprovalSwitch::On,
            timeout_ms,
            permission_mode: PermissionMode::Ask,
        };
        let own = |timeout_ms| OwnSettings { timeout_ms, ..OwnSettings::default() };
        let limits = |own: OwnSettings, server: &ServerSettings| {
            let DocumentSettings { timeout_ms, outside_timeout_ms, .. } = own.in_force(server);
            (timeout_ms, outside_timeout_ms)
        };
        assert_eq!(limits(own(None), &server(None)), (0, OUTSIDE_TIMEOUT_MS));
        assert_eq!(limits(own(None), &server(Some(7))), (7, 7));
        assert_eq!(limits(own(Some(0)), &server(Some(7))), (0, 0));
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
