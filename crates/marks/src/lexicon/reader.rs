//! The reader of the files in `data/`.

use super::super::kinds::{Language, MarkKind};
use super::super::reading::{Reading, hash, joined};
use super::{
    FIRST_AXIS, FactPattern, Lexicon, NEGATION_AXIS, Role, SHORTEST_STEM, Sense, Strength,
};

impl Lexicon {
    /// Gives each beginning of words the meanings of the shorter ones that it begins with.
    pub(super) fn join_stems(&mut self) {
        for word in std::mem::take(&mut self.stem_words) {
            let ends = (SHORTEST_STEM..word.len()).filter(|end| word.is_char_boundary(*end));
            let shorter = ends.filter_map(|end| self.stems.get(&hash(word.get(..end)?.as_bytes())));
            let senses: Vec<Sense> = shorter.flat_map(|node| node.senses.clone()).collect();
            let node = self.stems.entry(hash(word.as_bytes())).or_default();
            for sense in senses {
                node.learn(sense);
            }
        }
    }

    /// Reads a file of words.
    pub(super) fn read(&mut self, text: &str) {
        let mut section = "";
        for line in text.lines().map(|line| line.split(" //").next().unwrap_or_default().trim()) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                section = name;
            } else if !line.is_empty() && !line.starts_with("//") {
                let (name, words) = line.split_once('=').unwrap_or(("", line));
                self.line(section, name.trim(), words);
            }
        }
    }

    fn line(&mut self, section: &str, name: &str, words: &str) {
        if let Some(role) = section.strip_prefix("pairs ").and_then(role) {
            return self.pair(role, words);
        }
        if section == "equivalents" {
            let (first, second) = words.split_once('|').unwrap_or_default();
            if let Some(patterns) = self.patterns(first).zip(self.patterns(second)) {
                self.equivalents.push(patterns);
            }
            return;
        }
        let words = words.split(',').map(str::trim).filter(|word| !word.is_empty());
        if section == "opposites" {
            let pairs = words.map(|word| (name.to_owned(), word.to_owned()));
            return self.opposites.extend(pairs);
        }
        if section == "forms" {
            let forms: Vec<u64> = words.map(|word| hash(word.as_bytes())).collect();
            let lemma = forms.first().copied().unwrap_or_default();
            return self.forms.extend(forms.into_iter().map(|form| (form, lemma)));
        }
        let (kind, axis) = section.split_once(' ').unwrap_or((section, ""));
        let Some(role) = role(kind) else { return };
        let strength = match name.chars().next_back() {
            Some('!') => Strength::Strong,
            Some('~') => Strength::Bound,
            Some('?') => Strength::Faint,
            _ => Strength::Polar,
        };
        let name = name.trim_end_matches(['!', '?', '~']);
        let number = name.parse::<f64>().unwrap_or_default().to_bits();
        let (axis, value) = match role {
            Role::Mark(MarkKind::Negation) if axis.is_empty() => (NEGATION_AXIS, 1),
            Role::Mark(MarkKind::Unit) => (self.value(section, axis, "").0, number),
            Role::Mark(_) | Role::Reference => self.value(section, axis, name),
            _ => (0, number),
        };
        for word in words {
            self.add(word, Sense::new(word, role, (axis, value), strength));
        }
    }

    /// Returns facts by axis and value. A `+` before one says that it is kept.
    fn patterns(&self, text: &str) -> Option<Vec<FactPattern>> {
        let pattern = |text: &str| {
            let is_kept = text.starts_with('+');
            let (axis, value) = text.trim_start_matches('+').split_once(' ')?;
            let (axis, value) = match axis {
                "negation" => (NEGATION_AXIS, 1),
                _ => (self.axis(axis)?, self.bit(axis, value)),
            };
            Some((axis, value, is_kept))
        };
        text.split(',').map(str::trim).map(pattern).collect()
    }

    /// Reads words with one meaning, and after `|` those with the opposite one.
    fn pair(&mut self, role: Role, words: &str) {
        let axis = FIRST_AXIS + self.axes.len() as u16;
        self.axes.insert(words.to_owned(), (axis, Vec::new()));
        for (side, words) in words.split('|').enumerate() {
            for word in words.split(',').map(str::trim) {
                self.add(word, Sense::new(word, role, (axis, 1 << side), Strength::Polar));
            }
        }
    }

    /// Returns the number of an axis and the bit of a value on it.
    fn value(&mut self, section: &str, axis: &str, name: &str) -> (u16, u64) {
        let next = FIRST_AXIS + self.axes.len() as u16;
        let key = if axis.is_empty() { section } else { axis };
        let (axis, values) = self.axes.entry(key.to_owned()).or_insert((next, Vec::new()));
        // `some+several` is a word that can be either.
        let bits = name.split('+').map(|name| {
            let known = values.iter().position(|it| it == name);
            1 << (known.unwrap_or_else(|| {
                values.push(name.to_owned());
                values.len() - 1
            }) % 64)
        });
        let bits = bits.fold(0, |all, bit: u64| all | bit);
        (*axis, bits)
    }

    fn add(&mut self, phrase: &str, sense: Sense) {
        let phrase = phrase.trim_matches(['#', '^', ' ']);
        if let Some((first, last)) = phrase.split_once(" ... ") {
            let (first, last) =
                (Reading::of(first, Language::Other), Reading::of(last, Language::Other));
            let (Some(first), Some(last)) = (first.tokens.first(), last.tokens.first()) else {
                return;
            };
            self.words.entry(first.hash).or_default().gaps.push((last.hash, sense));
            return;
        }
        let reading = Reading::of(phrase.trim_end_matches('*'), Language::Other);
        let Some((first, rest)) = reading.tokens.split_first() else { return };
        if sense.role == Role::Typical {
            self.typical.insert(first.hash);
        } else if phrase.ends_with('*') {
            self.stems.entry(first.hash).or_default().learn(sense);
            self.stem_words.insert(reading.folded);
        } else {
            let mut path = first.hash;
            for token in rest {
                self.words.entry(path).or_default().is_longer = true;
                path = joined([path, token.hash]);
            }
            self.words.entry(path).or_default().learn(sense);
        }
    }
}

/// Returns the role that a section is for.
fn role(name: &str) -> Option<Role> {
    Some(match name {
        "number" => Role::Number,
        "article" => Role::Article,
        "multiplier" => Role::Multiplier,
        "denominator" => Role::Denominator,
        "month" => Role::Month,
        "clock" => Role::Clock,
        "decade" => Role::Decade,
        "function" => Role::Function,
        "typical" => Role::Typical,
        "title" => Role::Title,
        "reference" => Role::Reference,
        "preposition" => Role::Preposition,
        "agent" => Role::Agent,
        "coordinator" => Role::Coordinator,
        "copula" => Role::Copula,
        "name" => Role::Known,
        "denial" => Role::Denial,
        "filler" => Role::Filler,
        "unit" => Role::Mark(MarkKind::Unit),
        "date" => Role::Mark(MarkKind::Date),
        "names" => Role::Mark(MarkKind::Name),
        "negation" => Role::Mark(MarkKind::Negation),
        "modality" => Role::Mark(MarkKind::Modality),
        "quantity" => Role::Mark(MarkKind::Quantity),
        "comparison" => Role::Mark(MarkKind::Comparison),
        "order" => Role::Mark(MarkKind::Order),
        _ => return None,
    })
}
