//! Path patterns of rules, and the paths that searches leave out because of rules.

use std::path::{Component, Path};

use globset::{Glob, GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

use super::{ApprovalRule, EVERY_TOOL, RequesterIds, RuleEffect};

/// Pattern for the files of an [`ApprovalRule`]: `*` and `?` within a name, `**` for any folders,
/// `[a-z]` for one of several characters.
///
/// A rule that allows covers names that begin with a dot only if the pattern has such a name too. A
/// rule that denies or asks always covers them and ignores case; a pattern that is one name then
/// matches in any folder, and a folder matches with everything in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PathPattern(Glob);

const LONGEST_PATTERN: usize = 300;

impl PathPattern {
    /// Parses a pattern of 1 to 300 bytes, or returns a message for people.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() || text.len() > LONGEST_PATTERN {
            return Err(format!("a path pattern has 1 to {LONGEST_PATTERN} bytes"));
        }
        let pattern = GlobBuilder::new(text).literal_separator(true).build();
        pattern.map(Self).map_err(|error| format!("this is not a path pattern: {error}"))
    }

    /// Parses a pattern that a person enters now.
    ///
    /// # Errors
    /// Message for people; also for a pattern that no path of the workspace can match, because its
    /// rule would have no effect.
    pub fn written(text: &str) -> Result<Self, String> {
        let refused = |why: &str| Err(format!("this is not a path pattern: {why}"));
        if text.trim() != text {
            return refused("there are spaces around it; leave them out");
        }
        if text.contains('\\') {
            return refused(
                "folders end with `/`, not with `\\`; for a special character itself write `[*]`",
            );
        }
        if text.starts_with('/') {
            return refused(
                "paths begin at the top of the workspace, without `/`: write `notes/**`",
            );
        }
        if text.split('/').any(|name| name == "..") {
            return refused(
                "nothing is outside of the workspace, so leave `..` out: write `notes/**`",
            );
        }
        let plain = spelt(text);
        if plain.is_empty() && !text.is_empty() {
            return refused("it names no file; every file is `**`");
        }
        let end = if text.ends_with('/') { "/" } else { "" };
        Self::parse(&format!("{plain}{end}"))
    }

    /// Returns the pattern as it was written.
    pub fn as_str(&self) -> &str {
        self.0.glob()
    }

    /// Returns `true` if the pattern covers a path; never an absolute one or one with `..`.
    pub(super) fn covers(&self, path: &str) -> bool {
        let hides = |path: &str| path.split('/').any(|name| name.starts_with('.'));
        let is_covered = |path: String| {
            (hides(self.as_str()) || !hides(&path)) && self.0.compile_matcher().is_match(path)
        };
        plain(path).is_some_and(is_covered)
    }

    /// Returns `true` if the pattern may match the path; in doubt it does.
    pub(super) fn touches(&self, path: &str) -> bool {
        PatternPrefix::of(self).has(path)
    }
}

impl TryFrom<String> for PathPattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<PathPattern> for String {
    fn from(pattern: PathPattern) -> Self {
        pattern.as_str().to_owned()
    }
}

/// Normalizes a path as the workspace walks it; `None` if it is absolute or contains `..`.
fn plain(path: &str) -> Option<String> {
    let mut names = Vec::new();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(name) => names.push(name.to_string_lossy()),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(names.join("/"))
}

fn spelt(pattern: &str) -> String {
    let names = pattern.trim().split('/').filter(|name| !matches!(*name, "" | "."));
    names.collect::<Vec<_>>().join("/")
}

#[derive(Clone, Debug)]
struct PatternPrefix(Option<GlobMatcher>);

impl PatternPrefix {
    fn of(pattern: &PathPattern) -> Self {
        // Patterns stored before there was a check are read like those that are written now.
        let mut wanted = spelt(pattern.as_str());
        if !wanted.contains('/') {
            wanted.insert_str(0, "**/");
        }
        let mut any_case = GlobBuilder::new(&wanted);
        any_case.literal_separator(true).case_insensitive(true);
        Self(any_case.build().ok().map(|glob| glob.compile_matcher()))
    }

    fn has(&self, path: &str) -> bool {
        let Some(path) = plain(path) else { return true };
        // A folder matches with everything in it.
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let is_meant = |glob: &GlobMatcher| ends.clone().any(|end| glob.is_match(&path[..end]));
        // The workspace itself is no file.
        !path.is_empty() && self.0.as_ref().is_none_or(is_meant)
    }
}

/// Paths that searches leave out because of rules, as people are not asked about each file.
#[derive(Clone, Debug, Default)]
pub struct ExcludedPaths(Vec<PatternPrefix>);

impl ExcludedPaths {
    /// Collects the patterns of rules for work without a document that are at least as strict as
    /// `mildest`, and are about what `requester` asks and about one of `tools` or every tool.
    pub fn by<'r>(
        rules: impl IntoIterator<Item = &'r ApprovalRule>,
        tools: &[&str],
        requester: RequesterIds<'_>,
        mildest: RuleEffect,
    ) -> Self {
        let speaks = |rule: &&ApprovalRule| {
            rule.ended.is_none()
                && rule.document.is_none()
                && rule.effect != RuleEffect::Allow
                && rule.effect >= mildest
                && rule.remember.is_about(requester)
                && (rule.tool == EVERY_TOOL || tools.contains(&rule.tool.as_str()))
        };
        let patterns = rules.into_iter().filter(speaks).filter_map(|it| it.remember.path.as_ref());
        Self(patterns.map(PatternPrefix::of).collect())
    }

    /// Returns `true` if no path is excluded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if the file is excluded.
    pub fn has(&self, path: &str) -> bool {
        self.0.iter().any(|touch| touch.has(path))
    }
}
