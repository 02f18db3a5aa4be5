//! Words with the marks they carry.

/// Kind of mark around words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InlineMark {
    /// Link.
    Link,
    /// `~~`.
    Strikethrough,
    /// `*`.
    Emphasis,
    /// `**`.
    Strong,
}

impl InlineMark {
    /// All marks, from the outermost to the innermost where they mark the same words. `***a***` is
    /// read as strong in emphasis.
    pub const ALL: [Self; 4] = [Self::Link, Self::Strikethrough, Self::Emphasis, Self::Strong];

    /// Returns the sign of the mark, empty for a link.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Link => "",
            Self::Strikethrough => "~~",
            Self::Emphasis => "*",
            Self::Strong => "**",
        }
    }
}

/// Marks of some words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Index of the link in [`MarkedText::links`](super::marked_text::MarkedText::links).
    link: Option<usize>,
    strikethrough: bool,
    emphasis: bool,
    strong: bool,
}

impl Marks {
    /// Returns whether the mark is there.
    pub fn has(self, mark: InlineMark) -> bool {
        match mark {
            InlineMark::Link => self.link.is_some(),
            InlineMark::Strikethrough => self.strikethrough,
            InlineMark::Emphasis => self.emphasis,
            InlineMark::Strong => self.strong,
        }
    }

    /// Returns the index of the link.
    pub fn link(self) -> Option<usize> {
        self.link
    }

    /// Returns whether words with these marks and words with others are one stretch of the mark.
    pub fn continues(self, other: Self, mark: InlineMark) -> bool {
        self.has(mark) && other.has(mark) && (mark != InlineMark::Link || self.link == other.link)
    }

    /// Takes the mark away.
    pub fn remove(&mut self, mark: InlineMark) {
        match mark {
            InlineMark::Link => self.link = None,
            InlineMark::Strikethrough => self.strikethrough = false,
            InlineMark::Emphasis => self.emphasis = false,
            InlineMark::Strong => self.strong = false,
        }
    }

    /// Adds the mark as other words have it.
    pub fn add(&mut self, mark: InlineMark, of: Self) {
        match mark {
            InlineMark::Link => self.link = of.link,
            InlineMark::Strikethrough => self.strikethrough = of.strikethrough,
            InlineMark::Emphasis => self.emphasis = of.emphasis,
            InlineMark::Strong => self.strong = of.strong,
        }
    }

    /// Returns these marks and one more, which is no link.
    pub fn with(mut self, mark: InlineMark) -> Self {
        match mark {
            InlineMark::Link => {}
            InlineMark::Strikethrough => self.strikethrough = true,
            InlineMark::Emphasis => self.emphasis = true,
            InlineMark::Strong => self.strong = true,
        }
        self
    }

    /// Returns these marks in a link.
    pub fn in_link(self, link: usize) -> Self {
        Self { link: Some(link), ..self }
    }

    /// Returns the marks that both have.
    pub fn common(self, other: Self) -> Self {
        Self {
            link: self.link.filter(|_| self.link == other.link),
            strikethrough: self.strikethrough && other.strikethrough,
            emphasis: self.emphasis && other.emphasis,
            strong: self.strong && other.strong,
        }
    }
}

/// Content of a [`Segment`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Characters as people saw them.
    Text(String),
    /// Code within a line.
    Code(String),
    /// Formula.
    Formula(String),
    /// Markdown that is not divided: a picture, a reference to a note.
    Atom(String),
    /// Line break.
    Break,
    /// Edge of a tracked change, which has no width.
    Edge {
        /// Number of the change.
        change: usize,
        /// `true` for the beginning.
        is_start: bool,
    },
}

/// Words with the same marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The words.
    pub content: Content,
    /// Their marks.
    pub marks: Marks,
}

impl Segment {
    /// Returns whether it is the edge of a change.
    pub fn is_edge(&self) -> bool {
        matches!(self.content, Content::Edge { .. })
    }

    /// Returns whether it is only blanks, a break, or an edge.
    pub fn is_blank(&self) -> bool {
        match &self.content {
            Content::Text(text) => text.chars().all(char::is_whitespace),
            Content::Code(_) | Content::Formula(_) | Content::Atom(_) => false,
            Content::Break | Content::Edge { .. } => true,
        }
    }
}

/// Address of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Address, as it was given.
    pub url: String,
    /// Title, empty if there is none.
    pub title: String,
}
