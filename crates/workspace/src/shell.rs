//! Warnings about a shell command, from a table of programs. Without any it may still do harm.

mod argv;
mod conditions;
mod git;
mod known_programs;
mod path_args;
mod scanner;

use std::collections::BTreeMap;

use copydesk_unseen_characters::is_unseen;

use argv::{CommandWords, unquoted};
use known_programs::PROGRAMS;
use scanner::scan;

/// Length of the longest command, in bytes.
pub const LONGEST_COMMAND: usize = 16 * 1024;

/// Warning about a command: a stable code, and a sentence for people.
pub type ShellWarning = (&'static str, String);

/// Returns every [`ShellWarning`] about a command, one for each kind, in a fixed order.
pub fn cautions(command: &str) -> Vec<ShellWarning> {
    let mut found = FoundWarnings::default();
    found.letters(command);
    let parts = scan(command);
    for (code, sentence) in SYNTAX.iter().filter(|(code, _)| parts.syntax.contains(code)) {
        found.add(code, *sentence);
    }
    found.is_fed = parts.syntax.contains("heredoc");
    for redirection in parts.redirections {
        found.redirect(redirection);
    }
    for pipeline in &parts.pipelines {
        found.pipeline(pipeline);
    }
    found.several();
    found.fed();
    found.cautions.into_values().collect()
}

/// Order of the warnings, by code.
const ORDER: &str = "unparsed deceiving privileges deletes disk downloads_and_runs writes_outside \
    writes_configuration outside overwrites discards_work permissions kills network evaluates \
    computed substitution environment background function heredoc several non_ascii";

/// Warnings about the syntax of a command: code and sentence.
const SYNTAX: [(&str, &str); 5] = [
    ("unparsed", "It could not be read completely; look at every character."),
    ("heredoc", "It passes text of its own to a program."),
    ("substitution", "It runs a command within a command."),
    ("function", "It defines a function, which may do anything."),
    ("background", "It leaves something running in the background."),
];

#[derive(Default)]
struct FoundWarnings {
    cautions: BTreeMap<usize, ShellWarning>,
    commands: usize,
    /// `true` if some command gets a file or a text as input.
    is_fed: bool,
    /// Name of a shell or interpreter, which without a script runs its input as a program.
    may_run_input: Option<String>,
}

impl FoundWarnings {
    fn add(&mut self, code: &'static str, words: impl Into<String>) {
        let place = ORDER.split_whitespace().position(|it| it == code).unwrap_or(ORDER.len());
        self.cautions.entry(place).or_insert_with(|| (code, words.into()));
    }

    fn letters(&mut self, command: &str) {
        if command.contains('\r') || command.chars().any(is_unseen) {
            self.add(
                "deceiving",
                "It has invisible characters, or some that change the order of what you read.",
            );
        }
        if !command.is_ascii() {
            self.add("non_ascii", "It has letters that may look like others.");
        }
    }

    /// Warns if a text may be run as input, whichever command gets it: people see both parts.
    fn fed(&mut self) {
        if let Some(name) = self.may_run_input.take().filter(|_| self.is_fed) {
            self.add("evaluates", format!("It may run what it is given to read ({name})."));
        }
    }

    fn several(&mut self) {
        let count = self.commands;
        if count > 1 {
            self.add("several", format!("It runs {count} commands."));
        }
    }

    fn command(&mut self, words: &CommandWords) {
        let Some(name) = &words.name else {
            if words.is_computed {
                self.add("computed", "What it runs is worked out while it runs.");
            }
            return;
        };
        let known = PROGRAMS.warnings(name, words);
        for (code, sentence) in &known {
            self.add(code, format!("{sentence} ({name})."));
        }
        if name == "git" {
            for (code, sentence) in PROGRAMS.git.warnings(words) {
                self.add(code, sentence);
            }
        }
        if PROGRAMS.runs_input(name, words) {
            self.may_run_input.get_or_insert_with(|| name.clone());
        }
        let edits = known.iter().any(|(code, _)| *code == "overwrites");
        if PROGRAMS.writes_arguments(name) {
            self.targets(&words.arguments);
        } else if edits && matches!(name.as_str(), "sed" | "gsed") {
            self.targets(path_args::edited(words));
        }
    }

    /// Warns about files that a command writes by name.
    fn targets<'w>(&mut self, words: impl IntoIterator<Item = &'w String>) {
        for word in words.into_iter().filter(|word| !word.starts_with('-')) {
            self.place(word);
        }
    }

    fn outside(&mut self, path: Option<String>) {
        if let Some(path) = path {
            self.add("outside", format!("It names what is not in the workspace ({path})."));
        }
    }

    fn redirect(&mut self, text: &str) {
        let text = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let Some(at) = text.find('>') else {
            self.is_fed = true;
            let source = unquoted(text.trim_start_matches(['<', '&', ' ', '\t']));
            return self.outside(Some(source).filter(|path| path_args::is_outside(path)));
        };
        let target = text[at..].trim_start_matches(['>', '|', '&', ' ', '\t']);
        let target = unquoted(target);
        // Another descriptor, or a target that keeps nothing.
        if target.chars().all(|c| c.is_ascii_digit() || c == '-') || target == "/dev/null" {
            return;
        }
        self.place(&target);
        if !text[at..].starts_with(">>") {
            self.add("overwrites", format!("It writes over {target}."));
        }
    }

    fn place(&mut self, path: &str) {
        if path.starts_with(['/', '~', '$']) || path.split('/').any(|name| name == "..") {
            self.add("writes_outside", format!("It may write outside the workspace ({path})."));
        }
        if path.split('/').any(|name| name.len() > 2 && name.starts_with('.') && name != "..") {
            self.add("writes_configuration", format!("It may change a hidden file ({path})."));
        }
    }

    fn pipeline(&mut self, commands: &[Vec<&str>]) {
        self.commands += commands.len();
        let mut names = Vec::new();
        for command in commands {
            // The command that `sudo` or `env` runs is checked as well.
            let layers = PROGRAMS.layers(CommandWords::of(command));
            for words in &layers {
                self.command(words);
            }
            // The arguments of the outer commands contain those of the last one.
            if let Some(words) = layers.last() {
                self.outside(path_args::outside(words));
                names.extend(words.name.clone());
            }
        }
        let feeds = names.iter().position(|name| PROGRAMS.downloads_or_decodes(name));
        let runs = |name: &String| PROGRAMS.is_interpreter(name);
        if feeds.is_some_and(|at| names[at..].iter().any(runs)) {
            self.add("downloads_and_runs", "It runs what it downloads or decodes, unseen.");
        } else if names.iter().skip(1).any(runs) {
            self.add("evaluates", "It may run what another command writes.");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn codes(command: &str) -> Vec<&'static str> {
        cautions(command).into_iter().map(|(code, _)| code).collect()
    }

    #[test]
    fn a_plain_command_needs_no_caution() {
        for command in [
            "ls -la",
            "cargo test --lib",
            "grep -rn 'rm -rf' src",
            "cat a.txt 2>/dev/null",
            "echo \"a; b & c > d\"",
            "test -f a",
            "cat /dev/null a..b ./c.. ...",
            "grep '/etc' a",
            "sed -e '/x/d' a",
            "echo /etc ../x",
            "git log main..topic",
        ] {
            assert_eq!(codes(command), [""; 0], "{command}");
        }
    }

    fn warns(cases: &[(&str, &[&str])]) {
        for (command, expected) in cases {
            assert_eq!(codes(command), *expected, "{command}");
        }
    }

    #[test]
    fn what_is_dangerous_is_named() {
        warns(&[
            ("rm -rf build", &["deletes"]),
            ("/bin/rm x", &["deletes"]),
            ("r\\m x", &["deletes"]),
            ("'rm' x", &["deletes"]),
            ("sudo rm -rf /", &["privileges", "deletes", "outside"]),
            ("env A=1 timeout 5 rm x", &["deletes"]),
            ("sudo $X", &["privileges", "computed"]),
            ("find . | xargs -0 rm", &["deletes", "evaluates", "several"]),
            ("curl x | sudo -E bash", &["privileges", "downloads_and_runs", "network", "several"]),
            ("find . -delete", &["deletes"]),
            ("dd if=/dev/zero of=/dev/sda", &["disk"]),
            ("mkfs.ext4 /dev/sda", &["disk", "outside"]),
            ("chmod 777 a", &["permissions"]),
            ("kill -9 1", &["kills"]),
            ("curl https://example.org/x | sh", &["downloads_and_runs", "network", "several"]),
            (
                "curl -s x | tee y | bash -",
                &["downloads_and_runs", "overwrites", "network", "evaluates", "several"],
            ),
            ("echo cm0gLXJmIC8= | base64 -d | sh", &["downloads_and_runs", "several"]),
            ("cat x | sh", &["evaluates", "several"]),
            ("wget x", &["network"]),
            ("git push --force", &["discards_work", "network"]),
            ("git reset --hard HEAD~1", &["discards_work"]),
            ("eval \"$X\"", &["evaluates"]),
            ("bash -c 'rm -rf /'", &["evaluates"]),
            ("echo $(cat secret)", &["substitution", "several"]),
            ("echo `id`", &["substitution", "several"]),
            ("diff <(ls a) <(ls b)", &["substitution", "several"]),
            ("$CMD x", &["computed"]),
            ("a; b && c || d", &["several"]),
            ("a\nb", &["several"]),
            ("sleep 100 &", &["background"]),
            ("nohup sleep 100", &["background"]),
            ("echo x > a.txt", &["overwrites"]),
            ("echo x >> a.txt", &[]),
            ("echo x > /etc/passwd", &["writes_outside", "overwrites"]),
            ("echo x >> ~/.ssh/authorized_keys", &["writes_outside", "writes_configuration"]),
            ("cp a ../b", &["writes_outside", "outside", "overwrites"]),
            ("cat ../../x", &["outside"]),
            ("cat a/../../x", &["outside"]),
            ("cat '/etc/passwd'", &["outside"]),
            ("cat < /etc/passwd", &["outside"]),
            ("cd .. && ls", &["outside", "several"]),
            ("ls ~", &["outside"]),
            ("cat \"$HOME/.ssh/id\"", &["outside"]),
            ("timeout 5 cat /etc/passwd", &["outside"]),
            ("grep -r token /etc", &["outside"]),
            ("sed -n 1p /etc/passwd", &["outside"]),
            ("diff --from-file=/etc/passwd a", &["outside"]),
            ("env", &["environment"]),
            ("export -p", &["environment"]),
            (":(){ :|:& };:", &["background", "function", "several"]),
            ("cat <<E\nx\nE", &["heredoc"]),
        ]);
    }

    #[test]
    fn what_is_read_as_a_program_is_named() {
        warns(&[
            ("sh < a.txt", &["evaluates"]),
            ("bash -s < a.txt", &["evaluates"]),
            ("bash <<'E'\nrm -rf ~\nE", &["evaluates", "heredoc"]),
            ("bash <<< 'rm -rf x'", &["evaluates", "heredoc"]),
            ("python3 <<E\nx\nE", &["evaluates", "heredoc"]),
            ("python3 - <<'E'\nimport os\nE", &["evaluates", "heredoc"]),
            ("node - <<E\nx\nE", &["evaluates", "heredoc"]),
            ("perl <<E\nE", &["evaluates", "heredoc"]),
            ("sudo -u bob sh < a.txt", &["privileges", "evaluates"]),
            ("sort < a.txt", &[]),
            ("python3 --version < a.txt", &[]),
            ("tee a.txt <<E\nx\nE", &["overwrites", "heredoc"]),
        ]);
    }

    #[test]
    fn what_is_started_beside_and_what_touches_hidden_files_is_named() {
        warns(&[
            ("coproc rm -rf x", &["deletes", "background"]),
            ("fakeroot rm x", &["deletes"]),
            ("ls &>>a.txt", &[]),
            ("ls &>a.txt", &["overwrites"]),
            ("ls &>>../a.txt", &["writes_outside"]),
            ("touch .bashrc", &["writes_configuration"]),
            ("touch a.txt", &[]),
            ("mkdir -p .ssh", &["writes_configuration"]),
            ("mkdir ../x", &["writes_outside", "outside"]),
        ]);
    }

    #[test]
    fn ordinary_ways_to_lose_work_are_named() {
        let cases: &[(&str, &[&str])] = &[
            ("git clean -fdx", &["deletes", "discards_work"]),
            ("git clean -n", &[]),
            ("git -C . reset --hard", &["discards_work"]),
            ("git --git-dir x --work-tree=. reset --har", &["discards_work"]),
            ("git reset -q HEAD a.txt", &[]),
            ("git checkout .", &["discards_work"]),
            ("git checkout HEAD -- a", &["discards_work"]),
            ("git checkout HEAD a", &["discards_work"]),
            ("git checkout main", &[]),
            ("git checkout -b topic origin/main", &[]),
            ("git checkout -qf main", &["discards_work"]),
            ("git switch -c topic", &[]),
            ("git switch -C topic", &["discards_work"]),
            ("git branch -D topic", &["discards_work"]),
            ("git branch --list", &[]),
            ("git push origin +main", &["discards_work", "network"]),
            ("git push origin :main", &["discards_work", "network"]),
            ("git push -uf origin main", &["discards_work", "network"]),
            ("git push origin main", &["network"]),
            ("git -c alias.x='!rm -rf .' x", &["evaluates"]),
            ("git -c user.name=Ana commit -m x", &[]),
            ("git submodule foreach 'rm -rf .'", &["network", "evaluates"]),
            ("git rm -r a", &["deletes"]),
            ("git config core.hooksPath x", &["writes_configuration", "evaluates"]),
            ("git config --global alias.x '!rm'", &["writes_configuration", "evaluates"]),
            ("git config set include.path x", &["writes_configuration", "evaluates"]),
            ("git config --edit", &["writes_configuration", "evaluates"]),
            ("git config user.name Ana", &["writes_configuration"]),
            ("git config --unset user.name", &["writes_configuration"]),
            ("git config core.editor", &[]),
            ("git config --get core.editor", &[]),
            ("git config get core.editor", &[]),
            ("git config --list", &[]),
            ("git -C sub log -p --stat", &[]),
            ("mv a b", &["overwrites"]),
            ("mv -n a b", &[]),
            ("sed -i s/a/b/ a.txt", &["overwrites"]),
            ("sed -Ei.bak s/a/b/ a.txt", &["overwrites"]),
            ("sed -n 1,5p a.txt", &[]),
            ("sed '/hay/d' a.txt", &[]),
            ("sed -i s/a/b/ .bashrc", &["writes_configuration", "overwrites"]),
            ("sed -i s/../b/ a.txt", &["overwrites"]),
            ("sed -i.bake s/../b/ .env", &["writes_configuration", "overwrites"]),
            ("sed -i -e s/.abc/b/ -e s/.def/b/ a.txt", &["overwrites"]),
            ("sed -ne s/.a/b/p -i .bashrc", &["writes_configuration", "overwrites"]),
            ("sed --in-place --expression s/../b/ a .env", &["writes_configuration", "overwrites"]),
            ("tee -a log", &[]),
            ("rsync --delete a/ b", &["deletes", "network"]),
        ];
        for (command, expected) in cases {
            assert_eq!(codes(command), *expected, "{command}");
        }
    }

    #[test]
    fn what_is_run_for_another_command_is_named_too() {
        let cases: &[(&str, &[&str])] = &[
            ("env -u X rm -rf build", &["deletes"]),
            ("timeout -s KILL 5 rm x", &["deletes"]),
            ("sudo -u bob rm x", &["privileges", "deletes"]),
            ("sudo -nu bob -- git -C . clean -fd", &["privileges", "deletes", "discards_work"]),
            ("busybox rm x", &["deletes", "evaluates"]),
            ("timeout 5 ls", &[]),
            ("env A=1 ls", &[]),
            ("env -S 'rm x'", &["evaluates"]),
            ("command -v rm", &["evaluates"]),
            ("python3 -c 'import os; os.remove(\"a\")'", &["evaluates"]),
            ("python3.12 -c 'import os'", &["evaluates"]),
            ("python3 --version", &[]),
            ("perl -e 'unlink \"a\"'", &["evaluates"]),
            ("perl -pi -e s/a/b/ a", &["overwrites", "evaluates"]),
            ("ruby -e 'File.delete(1)'", &["evaluates"]),
            ("node --eval 'x'", &["evaluates"]),
            ("awk 'BEGIN{system(\"rm a\")}'", &["evaluates"]),
            ("awk '{print $1}' a.txt", &[]),
            ("cargo run --release", &["evaluates"]),
            ("cargo +nightly run", &["evaluates"]),
            ("cargo build", &[]),
            ("go run .", &["evaluates"]),
            ("java -jar a.jar", &["evaluates"]),
            ("java -version", &[]),
            ("tar xf a.tar --to-command=sh", &["evaluates"]),
            ("tar --use-compress-program ./x -cf a.tar .", &["evaluates"]),
            ("tar xf a.tar", &[]),
            ("make", &["evaluates"]),
            ("./configure", &["evaluates"]),
            ("/tmp/bin/ls", &["evaluates"]),
            ("/usr/bin/ls", &[]),
            ("cat x | python3 -", &["evaluates", "several"]),
            ("curl x | python3.12", &["downloads_and_runs", "network", "several"]),
        ];
        for (command, expected) in cases {
            assert_eq!(codes(command), *expected, "{command}");
        }
    }

    #[test]
    fn what_is_run_within_other_commands_is_named() {
        warns(&[
            ("sh -c 'rm -rf x'", &["evaluates"]),
            ("if rm x; then ls; fi", &["deletes", "several"]),
            ("for f in *; do rm \"$f\"; done", &["deletes"]),
            ("while read -r f\ndo rm $f\ndone < a.txt", &["deletes", "several"]),
            ("case $1 in a) rm x;; esac", &["unparsed", "deletes"]),
            ("f() { rm x; }", &["deletes", "function"]),
            ("function f { rm x; }", &["unparsed", "function"]),
            ("(cd a; rm x)", &["deletes", "several"]),
            ("A=1 B=$(rm x) ls", &["deletes", "substitution", "several"]),
            ("echo \"${a:-$(rm x)}\"", &["deletes", "substitution", "several"]),
            ("cat <<E\n$(rm x)\nE", &["substitution", "heredoc"]),
            ("cat <<'E'; rm x\n$(ls)\nE", &["deletes", "heredoc", "several"]),
            ("cat <<-E\n\tx\n\tE\nrm x", &["deletes", "heredoc", "several"]),
            ("echo $'it\\'s' | rm x", &["deletes", "several"]),
            ("ls # rm x", &[]),
            ("ls \\\n-la; r\\\nm x", &["deletes", "several"]),
            ("echo \"${a:-'}$(rm x)'}\"", &["deletes", "substitution", "several"]),
            ("echo ${a:-'}'}; rm x #'", &["deletes", "several"]),
            ("echo `echo \\`rm x\\``", &["unparsed", "substitution", "several"]),
            ("echo $((1 > 2)) $((3 * (4 + 5)))", &[]),
            ("[[ a > b && -f c ]]", &[]),
            ("a=(/etc /usr) b+=x", &[]),
        ]);
    }

    #[test]
    fn letters_that_deceive_are_named() {
        assert_eq!(codes("ls \u{202e}fr"), ["deceiving", "non_ascii"]);
        assert_eq!(codes("ls \u{7}"), ["deceiving"]);
        assert_eq!(codes("ls \u{430}"), ["non_ascii"]);
    }

    #[test]
    fn what_cannot_be_read_says_so() {
        for command in ["if then", "echo 'open", "(((", "a )", "fi", "cat <", "cat <<E\nx"] {
            assert!(codes(command).contains(&"unparsed"), "{command} {:?}", codes(command));
        }
    }

    #[test]
    fn what_is_nested_deeply_is_read_all_the_same() {
        let deep =
            |open: &str, close: &str| format!("{}x{}", open.repeat(1_000), close.repeat(1_000));
        for command in [
            deep("(", ")"),
            deep("$(", ")"),
            deep("{ ", "; }"),
            deep("\"$(", ")\""),
            "a|".repeat(5_000),
            "<<E ".repeat(2_000),
        ] {
            let began = Instant::now();
            cautions(&command);
            // Far more than it takes, for machines that do much else.
            assert!(began.elapsed() < Duration::from_mins(1), "{}", &command[..9]);
        }
    }
}
