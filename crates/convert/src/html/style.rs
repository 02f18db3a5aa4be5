//! Effect of the styles of an element on its words.

use super::dom::{Dom, Id};

/// Declarations of a `style` attribute.
#[derive(Clone, Copy, Debug)]
pub struct Style<'a>(&'a str);

/// Treatment of blanks and line ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum White {
    /// One blank stands for all.
    #[default]
    Collapsed,
    /// All are kept.
    Kept,
    /// Line ends are kept.
    Lines,
}

impl<'a> Style<'a> {
    /// Returns the style of an element.
    pub fn of(dom: &'a Dom, id: Id) -> Self {
        Self(dom.value(id, "style"))
    }

    /// Returns the value of a property, the last one if there are several.
    pub fn get(self, property: &str) -> Option<&'a str> {
        if self.0.is_empty() {
            return None;
        }
        self.0.rsplit(';').find_map(|it| {
            let (name, value) = it.split_once(':')?;
            name.trim().eq_ignore_ascii_case(property).then_some(value.trim())
        })
    }

    /// Returns whether the value of a property begins with a word.
    pub fn is(self, property: &str, value: &str) -> bool {
        self.get(property).is_some_and(|it| {
            it.get(..value.len()).is_some_and(|it| it.eq_ignore_ascii_case(value))
        })
    }

    /// Returns whether the words are bold, if the style says so.
    pub fn is_bold(self) -> Option<bool> {
        let weight = self.get("font-weight")?;
        let weight = weight.split_whitespace().next()?.to_ascii_lowercase();
        match weight.as_str() {
            "bold" | "bolder" => Some(true),
            "normal" | "lighter" | "initial" => Some(false),
            number => number.parse::<f32>().ok().map(|number| number >= 600.0),
        }
    }

    /// Returns whether the words are in italics, if the style says so.
    pub fn is_italic(self) -> Option<bool> {
        let style = self.get("font-style")?;
        match style.split_whitespace().next()?.to_ascii_lowercase().as_str() {
            "italic" | "oblique" => Some(true),
            "normal" | "initial" => Some(false),
            _ => None,
        }
    }

    /// Returns whether the words are struck out, if the style says so.
    pub fn is_struck(self) -> Option<bool> {
        let line = self.get("text-decoration-line").or_else(|| self.get("text-decoration"))?;
        Some(line.to_ascii_lowercase().contains("line-through"))
    }

    /// Returns what becomes of blanks, if the style says so.
    pub fn white(self) -> Option<White> {
        let white = self.get("white-space").or_else(|| self.get("white-space-collapse"))?;
        match white.split_whitespace().next()?.to_ascii_lowercase().as_str() {
            "pre" | "pre-wrap" | "break-spaces" | "preserve" => Some(White::Kept),
            "pre-line" | "preserve-breaks" => Some(White::Lines),
            "normal" | "nowrap" | "collapse" | "initial" => Some(White::Collapsed),
            _ => None,
        }
    }

    /// Returns whether the element is not shown.
    pub fn is_hidden(self) -> bool {
        self.is("display", "none") || self.is("mso-hide", "all") || self.is("visibility", "hidden")
    }

    /// Returns whether all letters have one width.
    pub fn is_monospaced(self) -> bool {
        let fonts = self.get("font-family").or_else(|| self.get("font")).unwrap_or_default();
        let fonts = fonts.to_ascii_lowercase();
        ["monospace", "consolas", "menlo", "monaco", "courier"].iter().any(|it| fonts.contains(it))
    }
}
