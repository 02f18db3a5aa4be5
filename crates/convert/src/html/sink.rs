//! The tree that html5ever builds, as a [`Dom`].

use std::borrow::Cow;
use std::cell::RefCell;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, QualName, local_name, ns};

use super::dom::{Data, Dom, Id};
use super::parse::Name;

/// Node as the tree builder knows it.
#[derive(Clone, Debug)]
pub struct Handle {
    id: Id,
    name: Name,
}

/// Receiver of what the tree builder makes.
#[derive(Debug)]
pub struct Sink {
    dom: RefCell<Dom>,
    no_name: Name,
}

impl Default for Sink {
    fn default() -> Self {
        let mut dom = Dom::default();
        dom.add(Data::Root);
        let no_name = Name::new(QualName::new(None, ns!(), local_name!("")));
        Self { dom: RefCell::new(dom), no_name }
    }
}

impl Sink {
    /// Returns the number of nodes that were made.
    pub fn made(&self) -> usize {
        self.dom.borrow().nodes.len()
    }

    /// Returns the tree.
    pub fn into_dom(self) -> Dom {
        let mut dom = self.dom.into_inner();
        dom.settle();
        dom
    }

    fn handle(&self, id: Id) -> Handle {
        Handle { id, name: self.no_name.clone() }
    }

    /// Puts a node or characters at a place among the nodes of a parent.
    fn insert(&self, parent: Id, at: usize, new: NodeOrText<Handle>) {
        let dom = &mut *self.dom.borrow_mut();
        let child = match new {
            NodeOrText::AppendNode(node) => {
                detach(dom, node.id);
                node.id
            }
            NodeOrText::AppendText(text) => {
                let before = at.checked_sub(1).map(|at| dom.nodes[parent].children[at]);
                if let Some(before) = before
                    && let Data::Text(known) = &mut dom.nodes[before].data
                {
                    known.push_str(&text);
                    return;
                }
                dom.add(Data::Text(text.to_string()))
            }
        };
        dom.nodes[child].parent = Some(parent);
        let at = at.min(dom.nodes[parent].children.len());
        dom.nodes[parent].children.insert(at, child);
    }
}

fn detach(dom: &mut Dom, id: Id) {
    let Some(parent) = dom.nodes[id].parent.take() else { return };
    let siblings = &mut dom.nodes[parent].children;
    if let Some(at) = siblings.iter().rposition(|it| *it == id) {
        siblings.remove(at);
    }
}

fn local(attributes: Vec<Attribute>) -> Vec<(LocalName, StrTendril)> {
    attributes.into_iter().map(|it| (it.name.local, it.value)).collect()
}

impl TreeSink for Sink {
    type Handle = Handle;
    type Output = Dom;
    type ElemName<'a> = &'a QualName;

    fn finish(self) -> Dom {
        self.into_dom()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        self.handle(0)
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> &'a QualName {
        &target.name
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, _: ElementFlags) -> Handle {
        let data = Data::Element { name: name.clone(), attributes: local(attrs) };
        Handle { id: self.dom.borrow_mut().add(data), name: Name::new(name) }
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        let id = self.dom.borrow_mut().add(Data::Comment(text.to_string()));
        self.handle(id)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Handle {
        self.create_comment(StrTendril::new())
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        let end = self.dom.borrow().nodes[parent.id].children.len();
        self.insert(parent.id, end, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &Handle,
        previous: &Handle,
        child: NodeOrText<Handle>,
    ) {
        let has_parent = self.dom.borrow().nodes[element.id].parent.is_some();
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, _: &Handle) -> Handle {
        // What is in a template is shown nowhere.
        let id = self.dom.borrow_mut().add(Data::Root);
        self.handle(id)
    }

    fn same_node(&self, x: &Handle, y: &Handle) -> bool {
        x.id == y.id
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Handle, new: NodeOrText<Handle>) {
        if let NodeOrText::AppendNode(node) = &new {
            detach(&mut self.dom.borrow_mut(), node.id);
        }
        let place = {
            let dom = self.dom.borrow();
            dom.nodes[sibling.id].parent.and_then(|parent| {
                let at = dom.nodes[parent].children.iter().rposition(|it| *it == sibling.id)?;
                Some((parent, at))
            })
        };
        if let Some((parent, at)) = place {
            self.insert(parent, at, new);
        }
    }

    fn add_attrs_if_missing(&self, target: &Handle, attrs: Vec<Attribute>) {
        if let Data::Element { attributes, .. } = &mut self.dom.borrow_mut().nodes[target.id].data {
            // A page can have many bodies, whose attributes are all of one element.
            let room = super::parse::MOST_ATTRIBUTES.saturating_sub(attributes.len());
            for (name, value) in local(attrs).into_iter().take(room) {
                if !attributes.iter().any(|(known, _)| *known == name) {
                    attributes.push((name, value));
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Handle) {
        detach(&mut self.dom.borrow_mut(), target.id);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        let dom = &mut *self.dom.borrow_mut();
        let children = std::mem::take(&mut dom.nodes[node.id].children);
        for child in &children {
            dom.nodes[*child].parent = Some(new_parent.id);
        }
        dom.nodes[new_parent.id].children.extend(children);
    }
}
