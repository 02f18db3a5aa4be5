//! Elements of a page in one row of memory, so that deep pages are dropped without recursion.

use html5ever::tendril::StrTendril;
use html5ever::{LocalName, Namespace, QualName, ns};

/// Index of a node in [`Dom::nodes`].
pub type Id = usize;

/// Page that was parsed.
#[derive(Debug, Default)]
pub struct Dom {
    /// All nodes. The first one is the document.
    pub nodes: Vec<Node>,
}

/// Node with its place.
#[derive(Debug)]
pub struct Node {
    /// Node that it is in.
    pub parent: Option<Id>,
    /// Nodes in it.
    pub children: Vec<Id>,
    /// Its index among the nodes beside it, once all is parsed.
    pub at: usize,
    /// Kind of the node, with its content.
    pub data: Data,
}

/// Kind of a node, with its content.
#[derive(Debug)]
pub enum Data {
    /// Document, or the content of a template.
    Root,
    /// Element.
    Element {
        /// Name with its namespace.
        name: QualName,
        /// Attributes by their local names.
        attributes: Vec<(LocalName, StrTendril)>,
    },
    /// Characters.
    Text(String),
    /// Comment. Word's conditions are comments.
    Comment(String),
}

impl Dom {
    /// Adds a node that is in no other one yet.
    pub fn add(&mut self, data: Data) -> Id {
        self.nodes.push(Node { parent: None, children: Vec::new(), at: 0, data });
        self.nodes.len() - 1
    }

    /// Notes of each node where it stands among those beside it.
    pub fn settle(&mut self) {
        for parent in 0..self.nodes.len() {
            for at in 0..self.nodes[parent].children.len() {
                let child = self.nodes[parent].children[at];
                self.nodes[child].at = at;
            }
        }
    }

    /// Returns the nodes in a node.
    pub fn children(&self, id: Id) -> &[Id] {
        &self.nodes[id].children
    }

    /// Returns the name of an element in lower case, empty for other nodes.
    pub fn name(&self, id: Id) -> &str {
        match &self.nodes[id].data {
            Data::Element { name, .. } => &name.local,
            _ => "",
        }
    }

    /// Returns whether a node is an element of a formula's or a drawing's language.
    pub fn is_foreign(&self, id: Id) -> bool {
        matches!(&self.nodes[id].data, Data::Element { name, .. } if name.ns != html_namespace())
    }

    /// Returns whether a node is an element.
    pub fn is_element(&self, id: Id) -> bool {
        matches!(self.nodes[id].data, Data::Element { .. })
    }

    /// Returns the value of an attribute.
    pub fn attribute(&self, id: Id, wanted: &str) -> Option<&str> {
        match &self.nodes[id].data {
            Data::Element { attributes, .. } => {
                attributes.iter().find(|(name, _)| &**name == wanted).map(|(_, value)| &**value)
            }
            _ => None,
        }
    }

    /// Returns the value of an attribute, empty if it is not there.
    pub fn value(&self, id: Id, wanted: &str) -> &str {
        self.attribute(id, wanted).unwrap_or_default()
    }

    /// Returns the classes of an element.
    pub fn classes(&self, id: Id) -> impl Iterator<Item = &str> {
        self.value(id, "class").split_ascii_whitespace()
    }

    /// Returns whether an element has one of these classes, in any case.
    pub fn has_class(&self, id: Id, wanted: &[&str]) -> bool {
        self.classes(id).any(|class| wanted.iter().any(|it| it.eq_ignore_ascii_case(class)))
    }

    /// Returns whether an attribute has this value, in any case.
    pub fn is(&self, id: Id, attribute: &str, value: &str) -> bool {
        self.attribute(id, attribute).is_some_and(|it| it.trim().eq_ignore_ascii_case(value))
    }

    /// Returns the nodes that a node is in, from the inside.
    pub fn ancestors(&self, id: Id) -> impl Iterator<Item = Id> {
        std::iter::successors(self.nodes[id].parent, |it| self.nodes[*it].parent)
    }

    /// Returns a node and all nodes in it, in the order of the page.
    pub fn within(&self, id: Id) -> impl Iterator<Item = Id> {
        let mut open = vec![id];
        std::iter::from_fn(move || {
            let next = open.pop()?;
            open.extend(self.children(next).iter().rev());
            Some(next)
        })
    }

    /// Returns the characters in a node, blanks as they are.
    pub fn text(&self, id: Id) -> String {
        let texts = self.within(id).filter_map(|it| match &self.nodes[it].data {
            Data::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the words in a node, one blank between them.
    pub fn words(&self, id: Id) -> String {
        self.text(id).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the words in a node, up to that number of characters or somewhat more.
    pub fn first_words(&self, id: Id, characters: usize) -> String {
        let mut made = String::new();
        let mut count = 0;
        for node in self.within(id) {
            let Data::Text(text) = &self.nodes[node].data else { continue };
            let has_blank = |text: &str| text.is_empty() || text.ends_with(' ');
            for sign in text.chars() {
                match sign.is_whitespace() {
                    true if has_blank(&made) => {}
                    true => made.push(' '),
                    false => made.push(sign),
                }
                count = if sign.is_whitespace() { count } else { count + 1 };
                if count > characters {
                    return made;
                }
            }
        }
        made.truncate(made.trim_end().len());
        made
    }

    /// Returns whether there are words in a node.
    pub fn has_words(&self, id: Id) -> bool {
        self.within(id).any(|it| match &self.nodes[it].data {
            Data::Text(text) => !text.trim().is_empty(),
            _ => false,
        })
    }

    /// Returns the element beside an element, `step` places on.
    pub fn sibling(&self, id: Id, step: isize) -> Option<Id> {
        let siblings = self.children(self.nodes[id].parent?);
        let mut at = self.nodes[id].at;
        loop {
            at = at.checked_add_signed(step)?;
            let beside = *siblings.get(at)?;
            match &self.nodes[beside].data {
                Data::Text(text) if text.trim().is_empty() => {}
                Data::Comment(_) => {}
                Data::Element { .. } => return Some(beside),
                Data::Text(_) | Data::Root => return None,
            }
        }
    }
}

/// Returns the namespace of HTML.
pub fn html_namespace() -> Namespace {
    ns!(html)
}
