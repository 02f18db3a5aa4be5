//! Checks of the files that build and start containers, without starting one.

use std::collections::BTreeSet;

use crate::support::copydesk_command;

const DOCKERFILE: &str = include_str!("../../../Dockerfile");
const COMPOSE: &str = include_str!("../../../compose.yaml");
const COMPOSE_CLUSTER: &str = include_str!("../../../compose.cluster.yaml");
const SCALING: &str = include_str!("../../../docs/scaling.md");

/// Beginnings of the lines that each proxy has for itself: what it listens on, and its name.
const OWN_LINES: [&str; 3] = ["listen ", "server_name ", "# ssl_certificate"];

/// Variables that the compose files and the build read themselves.
const OF_THE_BUILD: [&str; 2] = ["COPYDESK_IMAGE", "COPYDESK_WEB_DIST"];

/// Returns the names of variables in a text.
fn variables(text: &str) -> BTreeSet<&str> {
    text.split(|letter: char| !letter.is_ascii_uppercase() && letter != '_')
        .filter(|word| word.starts_with("COPYDESK_"))
        .collect()
}

#[test]
fn the_files_for_containers_name_options_that_exist() {
    let output = copydesk_command().arg("--help").output().expect("the binary is built");
    let help = String::from_utf8(output.stdout).unwrap();
    let options = variables(&help);
    assert!(options.len() > 20, "the help was not understood: {options:?}");
    let files = [
        ("Dockerfile", DOCKERFILE, 4),
        ("compose.yaml", COMPOSE, 2),
        ("compose.cluster.yaml", COMPOSE_CLUSTER, 4),
    ];
    for (file, text, at_least) in files {
        let named = variables(text);
        assert!(named.len() >= at_least, "{file} was not understood: {named:?}");
        let unknown: Vec<_> =
            named.difference(&options).filter(|name| !OF_THE_BUILD.contains(name)).collect();
        assert!(unknown.is_empty(), "{file} names {unknown:?}");
    }
}

/// Except that Docker's names are looked up again and again.
#[test]
fn the_proxy_of_the_compose_file_is_the_documented_one() {
    let (_, rest) = SCALING.split_once("```nginx\n").expect("the documentation has it");
    let (documented, _) = rest.split_once("```").expect("it ends");
    let wanted = documented
        .replace("10.0.0.5:4680", "node-a:4680 resolve")
        .replace("10.0.0.6:4680", "node-b:4680 resolve");
    let compose = COMPOSE_CLUSTER.replace("$$", "$");
    let lines: BTreeSet<_> = compose.lines().map(str::trim).collect();
    let missing: Vec<_> = wanted
        .lines()
        .map(str::trim)
        .filter(|line| !OWN_LINES.iter().any(|start| line.starts_with(start)))
        .filter(|line| !lines.contains(line))
        .collect();
    assert!(missing.is_empty(), "compose.cluster.yaml lacks what docs/scaling.md has: {missing:?}");
}
