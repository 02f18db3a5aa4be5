//! Imports of the source files among each other, and the circles they form.

use std::collections::{BTreeMap, BTreeSet};

use super::{File, in_one_crate, settle, sources};

/// Files of one circle. In a larger one, no file can be read before the others.
const WIDEST_CIRCLE: usize = 3;

/// Path of a module as if all crates were one, such as `["rooms", "actor"]`.
type ModulePath = Vec<String>;

/// One path that a file names, by `use` or in its code.
struct NamedPath {
    segments: Vec<String>,
    /// Name under which it is known in the file; `None` for a path in code.
    alias: Option<String>,
    /// `true` for `pub use`.
    is_export: bool,
}

/// Imports of all files.
struct ImportGraph {
    files: BTreeMap<ModulePath, Vec<NamedPath>>,
    /// Targets of `pub use`, by module and name.
    exports: BTreeMap<(ModulePath, String), ModulePath>,
}

#[test]
fn files_import_each_other_in_no_wide_circle() {
    let circles = ImportGraph::read().circles();
    let wide = circles.iter().filter(|circle| circle.len() > WIDEST_CIRCLE);
    let complaints: Vec<_> = wide
        .map(|circle| {
            let names: Vec<_> = circle.iter().map(|module| module.join("::")).collect();
            format!("{} files: {}", names.len(), names.join(", "))
        })
        .collect();
    settle(
        &format!(
            "At most {WIDEST_CIRCLE} files import each other in a circle. Move the types that all of \
             them need to a file of their own:"
        ),
        &complaints,
    );
}

impl ImportGraph {
    fn read() -> Self {
        let mut files = BTreeMap::new();
        for file in sources() {
            if file.place != "main.rs" {
                files.insert(module_path(&file), named_paths(&file));
            }
        }
        let mut graph = Self { files, exports: BTreeMap::new() };
        for (module, paths) in &graph.files {
            for path in paths.iter().filter(|path| path.is_export) {
                if let (Some(alias), Some(target)) =
                    (&path.alias, graph.absolute(module, &path.segments))
                {
                    graph.exports.insert((module.clone(), alias.clone()), target);
                }
            }
        }
        graph
    }

    /// Returns a path from the root of the crate; `None` for a path of another crate.
    fn absolute(&self, module: &ModulePath, segments: &[String]) -> Option<ModulePath> {
        let mut base = module.clone();
        let mut rest = segments;
        match rest.first()?.as_str() {
            "crate" => return Some(rest[1..].to_vec()),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|it| it == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            first => {
                let mut child = base.clone();
                child.push(first.to_owned());
                if !self.files.contains_key(&child) {
                    return None;
                }
            }
        }
        base.extend_from_slice(rest);
        Some(base)
    }

    /// Returns the module whose file defines what a path names, following `pub use`.
    fn defining_module(&self, path: &[String], steps: usize) -> Option<ModulePath> {
        let length =
            (0..=path.len()).rev().find(|length| self.files.contains_key(&path[..*length]))?;
        let module = path[..length].to_vec();
        let exported = path.get(length).and_then(|name| {
            self.exports.get(&(module.clone(), name.clone())).filter(|it| **it != path)
        });
        match exported {
            Some(target) if steps > 0 => {
                let whole: Vec<_> = target.iter().chain(&path[length + 1..]).cloned().collect();
                self.defining_module(&whole, steps - 1)
            }
            _ => Some(module),
        }
    }

    /// Returns the modules whose files a file imports. A `pub use` of its own parts is none.
    fn imports(&self, module: &ModulePath) -> BTreeSet<ModulePath> {
        let paths = self.files.get(module).into_iter().flatten();
        let targets = paths.filter_map(|path| {
            let mut segments = self.absolute(module, &path.segments)?;
            if matches!(segments.last().map(String::as_str), Some("*" | "self")) {
                segments.pop();
            }
            let target = self.defining_module(&segments, 10)?;
            let is_own_part = path.is_export && target.starts_with(module);
            (target != *module && !is_own_part).then_some(target)
        });
        targets.collect()
    }

    /// Returns all sets of files each of which reaches every other one by imports.
    fn circles(&self) -> Vec<Vec<ModulePath>> {
        let imports: BTreeMap<_, _> =
            self.files.keys().map(|module| (module, self.imports(module))).collect();
        let reach: BTreeMap<_, _> =
            self.files.keys().map(|module| (module, reachable(&imports, module))).collect();
        let mut circles = Vec::new();
        let mut seen = BTreeSet::new();
        for (module, reached) in &reach {
            if seen.contains(module) || !reached.contains(*module) {
                continue;
            }
            let circle: Vec<ModulePath> =
                reached.iter().filter(|other| reach[other].contains(*module)).cloned().collect();
            seen.extend(circle.iter().map(|it| self.files.get_key_value(it).unwrap().0));
            circles.push(circle);
        }
        circles
    }
}

fn reachable(
    imports: &BTreeMap<&ModulePath, BTreeSet<ModulePath>>,
    from: &ModulePath,
) -> BTreeSet<ModulePath> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&ModulePath> = imports[from].iter().collect();
    while let Some(module) = next.pop() {
        if reached.insert(module.clone()) {
            next.extend(&imports[module]);
        }
    }
    reached
}

fn module_path(file: &File) -> ModulePath {
    let place = file.place.trim_end_matches(".rs").trim_end_matches("/mod");
    let parts = place.split('/').filter(|part| *part != "lib");
    parts.map(str::to_owned).collect()
}

/// Returns the paths that the code of a file names.
fn named_paths(file: &File) -> Vec<NamedPath> {
    let code: Vec<String> = file.code().map(|line| in_one_crate(line, file)).collect();
    let code: Vec<&str> = code.iter().map(String::as_str).collect();
    let code = without_test_imports(&code).join("\n");
    let mut paths = Vec::new();
    let mut rest = String::new();
    for statement in code.split_inclusive(';') {
        let at = statement.rfind("use ").filter(|at| {
            let line = statement[..*at].rsplit('\n').next().unwrap_or_default().trim();
            line.is_empty() || line == "pub" || (line.starts_with("pub(") && line.ends_with(')'))
        });
        let Some(at) = at else {
            rest.push_str(statement);
            continue;
        };
        rest.push_str(&statement[..at]);
        let is_export = statement[..at].trim_end().ends_with(['b', ')'])
            && statement[..at].rsplit('\n').next().is_some_and(|line| line.contains("pub"));
        read_use(&statement[at + 4..], &[], is_export, &mut paths);
    }
    for (at, _) in rest.match_indices("crate::").chain(rest.match_indices("super::")) {
        let is_start = !rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        if is_start {
            let end = rest[at..].find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
            let path = &rest[at..end.map_or(rest.len(), |end| at + end)];
            let segments = path.split("::").filter(|it| !it.is_empty()).map(str::to_owned);
            let segments = segments.collect();
            paths.push(NamedPath { segments, alias: None, is_export: false });
        }
    }
    paths
}

/// Returns the lines without the statements after `#[cfg(test)]`.
fn without_test_imports<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut kept = Vec::new();
    let mut is_test = false;
    for line in lines {
        if line.trim() == "#[cfg(test)]" {
            is_test = true;
        } else if is_test {
            is_test = !line.contains(';') && !line.trim_end().ends_with('}');
        } else {
            kept.push(*line);
        }
    }
    kept
}

/// Reads what follows `use`: a path, or several in braces.
fn read_use(text: &str, before: &[String], is_export: bool, paths: &mut Vec<NamedPath>) {
    let text = text.trim().trim_end_matches(';').trim();
    let Some((path, group)) = text.split_once('{') else {
        let (path, alias) = text.split_once(" as ").unwrap_or((text, ""));
        let own = path.split("::").map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
        let segments: Vec<String> = before.iter().cloned().chain(own).collect();
        let name = match (alias, segments.last().map(String::as_str)) {
            ("", Some("self")) => segments.iter().rev().nth(1).cloned(),
            ("", last) => last.map(str::to_owned),
            (alias, _) => Some(alias.trim().to_owned()),
        };
        paths.push(NamedPath { segments, alias: name, is_export });
        return;
    };
    let own = path.split("::").map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
    let before: Vec<String> = before.iter().cloned().chain(own).collect();
    let group = group.trim_end().strip_suffix('}').unwrap_or(group);
    let (mut depth, mut start) = (0, 0);
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                read_use(&group[start..at], &before, is_export, paths);
                start = at + 1;
            }
            _ => {}
        }
    }
    if !group[start..].trim().is_empty() {
        read_use(&group[start..], &before, is_export, paths);
    }
}
