//! Marks texts in which the model left out a part: a line such as `[rest unchanged]` in place of
//! words, or a code fence around the whole text. People would lose what is not repeated.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use copydesk_approvals::PreviewWarning;

/// Maximum length of a line that stands for what is left out, in bytes.
const LONGEST: usize = 200;
/// Maximum number of words between brackets or marks.
const MOST_WORDS: usize = 14;
/// Number of lines that a change must take away so that a line without brackets or marks counts.
const MANY_LINES: usize = 3;
/// Maximum length of a quoted line, in characters.
const QUOTE_CHARS: usize = 80;

/// Words that say that something stays or is left out, in English, German and French.
const STAYS: &str = r"(?x)
    \b(?: (?:the\ )? (?:rest|remainder|everything\ else|all\ else)
        | (?:remaining|other|following|previous|existing|original|further|above|same)\ \w+
        | (?:code|content|contents|text|document|file|sections?|paragraphs?|chapters?|parts?|lines?)\b )
      .* \b(?: unchanged | untouched | unmodified | intact | omitted | truncated | not\ shown | left\ out | identical
        | (?:remains?|stays?|is|are|be|keeps?|kept|goes|continues?)\ (?:exactly\ |all\ )?(?:the\ same|as\ (?:is|before|above|it\ was|they\ were|original)|on)
        | same\ as\ (?:before|above|original(?:ly)?|previous(?:ly)?) | as\ (?:before|above|is) | the\ same )\b
  | \b(?: rest | übrige\w* | restliche\w* | weitere\w* | bestehende\w* | vorhandene\w* | bisherige\w* | alles\ (?:andere|weitere|übrige)
        | (?:code|text|inhalt|dokument|abschnitte?|absätze?|kapitel|teile?)\b )
      .* \b(?: unverändert\w* | gleich | identisch | ausgelassen | weggelassen | gekürzt | dasselbe
        | wie\ (?:bisher|zuvor|oben|gehabt|vorher|im\ original) )\b
  | \b(?: reste | suite | autres?\ \w+ | texte | contenu | code | document | sections? | paragraphes? | parties? | chapitres? )\b
      .* \b(?: inchangée?s? | identiques? | omise?s? | sans\ (?:aucun\ )?changements? | non\ modifiée?s? | (?:le|la|les)\ mêmes?
        | comme\ (?:avant|ci-dessus|précédemment) | tel(?:le)?s?\ quel(?:le)?s? )(?:\W|$)
";

/// Words that name what is left out, and nothing else.
const NAMED: &str = r"(?x)
    ^(?: (?:the|your|all|and|keep|insert|add|include|with|of|other)\ )*
      (?: rest\ (?:of\ )?(?:the\ |your\ )?\w+(?:\ (?:here|goes\ here|follows|continues))?
        | rest(?:\ (?:here|goes\ here|follows|continues))
        | (?:existing|remaining|previous|original|unchanged|same)\ (?:\w+\ )?
          (?:code|contents?|text|document|file|sections?|paragraphs?|lines?|implementation|functions?|methods?|imports?|chapters?|entries|items|rows|story|essay|article)
          (?:\ (?:here|goes\ here|above|below|follows|continues|unchanged))? )$
  | ^(?: (?:der|die|das|hier|und)\ )* (?: rest\ (?:des|der|vom)\ \w+
        | (?:restliche|bestehende|vorhandene|bisherige|übrige)\w*\ (?:code|text|inhalt|abschnitte?|absätze?|teile?|zeilen|kapitel|funktionen) )
      (?:\ (?:hier|folgt|einfügen))?$
  | ^(?: (?:le|la|les|et|ici)\ )* (?: (?:reste|suite)\ (?:du|de\ la|de\ l.|des)\ ?\w+
        | (?:code|texte|contenu|sections?|paragraphes?)\ (?:existant|restant|précédent|d.origine|inchangé)\w* )(?:\ ici)?$
";

/// Words that stand alone between brackets or marks.
const ALONE: &str = r"(?x)
    ^(?: unchanged | omitted | truncated | snip(?:ped)? | no\ changes?(?:\ here)? | same\ as\ (?:before|above) | as\ (?:before|above)
       | (?:remains?|stays?)\ (?:unchanged|the\ same) | content\ omitted(?:\ for\ brevity)? | omitted\ for\ brevity
       | unverändert | ausgelassen | gekürzt | keine\ änderung(?:en)? | wie\ (?:bisher|zuvor|oben|gehabt) | bleibt\ (?:gleich|unverändert|so)
       | inchangée?s? | omise?s? | identiques? | sans\ changements? | aucun\ changement | comme\ (?:avant|ci-dessus) )$
";

/// Line without words: an ellipsis, perhaps in brackets or a comment.
const ONLY_DOTS: &str = r"^(?:[\[(<{/*#!\-\s]*)(?:\.{3,}|…|\. \. \.)(?:[\])>}/*\-\s]*)$";

static PATTERNS: LazyLock<Option<ElisionPatterns>> = LazyLock::new(|| {
    let compiled = |pattern: &str| Regex::new(pattern).ok();
    Some(ElisionPatterns {
        stays: compiled(STAYS)?,
        named: compiled(NAMED)?,
        alone: compiled(ALONE)?,
        only_dots: compiled(ONLY_DOTS)?,
        marked: compiled(r"<!--(.*?)-->|\[([^\[\]]*)\](?:[^(:\[]|$)|/\*(.*?)\*/|\{\{(.*?)\}\}")?,
    })
});

#[derive(Debug)]
struct ElisionPatterns {
    stays: Regex,
    named: Regex,
    alone: Regex,
    only_dots: Regex,
    marked: Regex,
}

/// Returns the warnings for a change from `old` to `new`; `old` is empty for a new text.
pub fn warnings(old: &str, new: &str) -> Vec<PreviewWarning> {
    let left_out = left_out(old, new).map(|line| {
        let short: String = line.chars().take(QUOTE_CHARS).collect();
        let more = if short.len() < line.len() { "…" } else { "" };
        PreviewWarning {
            code: "left_out".into(),
            text: format!(
                "It may leave out a part of the text: “{short}{more}” stands in its place."
            ),
        }
    });
    let fenced = is_fenced(old, new).then(|| PreviewWarning {
        code: "code_fence".into(),
        text: "The whole text stands in a code fence, so that it would be shown as code.".into(),
    });
    left_out.into_iter().chain(fenced).collect()
}

fn left_out<'t>(old: &str, new: &'t str) -> Option<&'t str> {
    let patterns = PATTERNS.as_ref()?;
    let mut known: Option<HashSet<&str>> = None;
    let mut lines = new.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.find(|line| {
        if line.len() > LONGEST {
            return false;
        }
        let is_marked = patterns.is_marked(line);
        if !is_marked && !patterns.is_bare(line) {
            return false;
        }
        let known = known.get_or_insert_with(|| old.lines().map(str::trim).collect());
        !known.contains(line) && (is_marked || takes_much_away(old, new))
    })
}

fn takes_much_away(old: &str, new: &str) -> bool {
    let lines = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
    lines(old) >= lines(new) + MANY_LINES
}

impl ElisionPatterns {
    /// Returns `true` if brackets, comments or ellipses in a line hold words for what is left out.
    fn is_marked(&self, line: &str) -> bool {
        // Quotation marks and emphasis of Markdown may stand around it.
        let line = line.trim_start_matches(['>', ' ']).trim_matches(['*', '_', '`', ' ']);
        let inside = self
            .marked
            .captures_iter(line)
            .filter_map(|found| found.iter().skip(1).flatten().next().map(|group| group.as_str()));
        inside.chain(self.whole(line)).any(|words| self.says_left_out(words))
    }

    fn whole<'l>(&self, line: &'l str) -> Option<&'l str> {
        let between = |open: &str, close: &str| line.strip_prefix(open)?.strip_suffix(close);
        let dots = ["...", "…"];
        let pairs =
            [("(", ")"), ("{", "}"), ("<", ">"), ("（", "）"), ("【", "】"), ("{/*", "*/}")];
        let bracketed = pairs.iter().find_map(|(open, close)| between(open, close));
        let comment = ["//", "--", "%", "rem "].iter().find_map(|mark| line.strip_prefix(mark));
        // A single number sign begins a heading, too.
        let script = line.strip_prefix('#').map(str::trim);
        let script = script.filter(|rest| dots.iter().any(|dots| rest.starts_with(dots)));
        let begins = dots.iter().any(|dots| line.starts_with(dots));
        let ends = dots.iter().any(|dots| line.ends_with(dots));
        let dotted = (begins && ends).then_some(line);
        // In a story, words after an ellipsis go on with a sentence.
        let first = (begins && !line.contains(',')).then_some(line);
        let first =
            first.filter(|_| line.split_whitespace().count() <= 8 && self.begins_with_rest(line));
        bracketed.or(comment).or(script).or(dotted).or(first)
    }

    fn begins_with_rest(&self, line: &str) -> bool {
        let words = plain(line);
        ["rest", "the rest", "remaining", "existing", "der rest", "restliche", "le reste", "suite"]
            .iter()
            .any(|begin| words.starts_with(begin))
            || self.alone.is_match(&words)
    }

    fn says_left_out(&self, words: &str) -> bool {
        let words = plain(words);
        let count = words.split_whitespace().count();
        count > 0
            && count <= MOST_WORDS
            && (self.stays.is_match(&words)
                || self.named.is_match(&words)
                || self.alone.is_match(&words))
    }

    /// Returns `true` for a line that may stand for what is left out, though nothing marks it.
    fn is_bare(&self, line: &str) -> bool {
        if self.only_dots.is_match(line) {
            return true;
        }
        let words = plain(line);
        words.split_whitespace().count() <= 10
            && (self.stays.is_match(&words) || self.alone.is_match(&words))
    }
}

fn plain(words: &str) -> String {
    let words = words.to_lowercase();
    let words: Vec<_> = words.split_whitespace().collect();
    words.join(" ").trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
}

fn is_fenced(old: &str, new: &str) -> bool {
    let Some((info, fence)) = opening(new) else { return false };
    if opening(old).is_some() {
        return false;
    }
    let mut lines = new.trim().lines().skip(1).peekable();
    let closes = |line: &str| {
        line.trim_end().trim_start_matches(fence).is_empty() && line.starts_with(fence)
    };
    let mut last = false;
    let mut inner = 0;
    while let Some(line) = lines.next() {
        last = closes(line) && line.trim_end().len() >= 3;
        inner += usize::from(last && lines.peek().is_some());
    }
    let is_markdown = matches!(info.as_str(), "md" | "markdown" | "mdx" | "text" | "txt");
    last && (is_markdown || (inner == 0 && (info.is_empty() || !old.is_empty())))
}

fn opening(text: &str) -> Option<(String, char)> {
    let first = text.trim_start().lines().next()?;
    let fence = first.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = first.trim_start_matches(fence);
    (first.len() - info.len() >= 3).then(|| (info.trim().to_lowercase(), fence))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "Title\n\nOne.\n\nTwo.\n\nThree.\n\nFour.\n\nFive.\n\nSix.\n";

    fn codes(old: &str, new: &str) -> Vec<String> {
        warnings(old, new).into_iter().map(|it| it.code).collect()
    }

    #[test]
    fn a_line_that_stands_for_a_part_is_told() {
        let lines = [
            "[... rest of the document unchanged ...]",
            "[Rest unchanged]",
            "[unchanged]",
            "[The remaining sections stay the same]",
            "<!-- rest remains the same -->",
            "<!-- ... existing content ... -->",
            "// ... existing code ...",
            "# ... existing code ...",
            "-- remaining rows unchanged",
            "/* rest of the file */",
            "{/* existing code */}",
            "... rest unchanged ...",
            "… rest unchanged …",
            "...the rest remains unchanged...",
            "(rest of the document remains unchanged)",
            "*[Rest of the text as before]*",
            "**(The other paragraphs are unchanged.)**",
            "> [rest of the essay]",
            "(content omitted for brevity)",
            "One. [rest unchanged]",
            "[Der Rest bleibt unverändert]",
            "[unverändert]",
            "… (übriger Text wie bisher) …",
            "<!-- restlicher Text unverändert -->",
            "// ... bestehender Code ...",
            "[Rest des Dokuments]",
            "(Rest wie zuvor)",
            "[Le reste est inchangé]",
            "[... suite inchangée ...]",
            "<!-- le reste du document -->",
            "// ... code existant ...",
            "(le reste reste identique)",
            "[sans changement]",
        ];
        for line in lines {
            let new = format!("Title\n\nOne.\n\n{line}\n");
            assert_eq!(codes(OLD, &new), ["left_out"], "{line}");
            assert_eq!(codes("", &new), ["left_out"], "also in a new text: {line}");
            assert!(codes(&new, &format!("{new}More.\n")).is_empty(), "was there: {line}");
        }
    }

    #[test]
    fn a_line_without_marks_counts_only_where_much_is_taken_away() {
        for line in [
            "...",
            "[…]",
            "<!-- ... -->",
            "The rest of the document is unchanged.",
            "Rest unverändert",
        ] {
            assert_eq!(codes(OLD, &format!("Title\n\nOne.\n\n{line}\n")), ["left_out"], "{line}");
            assert!(codes(OLD, &format!("{OLD}\n{line}\n")).is_empty(), "{line}");
        }
    }

    #[test]
    fn words_that_only_sound_like_it_are_no_elision() {
        let lines = [
            "The rest of the crew remained unchanged by the storm.",
            "Everything else stays the same, he said, and went on with the rest of his story.",
            "“… and the rest,” she said, “stayed the same.”",
            "…and the rest, as they say, is history.",
            "He waited... and then the text was the same.",
            "[the rest of the story](https://example.org/story)",
            "[unchanged]: https://example.org",
            "See [omitted](#omitted) for more.",
            "(The rest is silence.)",
            "(see the rest of the document)",
            "# Remaining sections",
            "# What stays the same",
            "## Existing code",
            "- other parts remain unchanged",
            "// the code path is hot",
            "<!-- toc -->",
            "[ ] check the remaining items",
            "[sic]",
            "[1]",
            "(existing customers only)",
            "Der Rest der Mannschaft blieb unverändert an Bord und wartete dort auf den Morgen.",
            "(Der Rest ist Schweigen.)",
            "Le reste de l'équipage est parti.",
            "(la suite au prochain numéro)",
        ];
        for line in lines {
            assert!(codes(OLD, &format!("{OLD}\n{line}\n")).is_empty(), "{line}");
        }
    }

    #[test]
    fn a_fence_around_everything_is_told() {
        for new in [
            "```markdown\n# Title\n\nOne.\n```",
            "```\n# Title\n\nOne.\n```\n",
            "~~~md\nTitle\n~~~",
            "````\nTitle\n````\n",
            "```markdown\nTitle\n\n```js\ncode\n```\n\nEnd\n```",
        ] {
            assert_eq!(codes(OLD, new), ["code_fence"], "{new}");
        }
        assert_eq!(codes("", "```markdown\nTitle\n```\n"), ["code_fence"]);
        for new in [
            "# Title\n\n```\ncode\n```\n",
            "```\ncode\n```\n\nText.\n",
            "```\none\n```\n\n```\ntwo\n```\n",
            "```\nnever closed\n",
        ] {
            assert!(codes(OLD, new).is_empty(), "{new}");
        }
        assert!(codes("", "```sh\nls\n```\n").is_empty(), "a document of code");
        assert!(codes("```\na\n```\n", "```\nb\n```\n").is_empty(), "it was code before");
    }
}
