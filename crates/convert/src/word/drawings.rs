//! Pictures, drawings and embedded objects are counted; the words of boxes stay.

use super::error::WordResult;
use super::model::{Content, Look};
use super::story::StoryReader;
use super::xml::Element;
use crate::addresses::safe_url;

/// Content of a drawing, as its elements say.
#[derive(Debug, Default)]
struct Drawing {
    description: Option<String>,
    /// Address of a picture of the web.
    address: Option<String>,
    /// Name of the kind of what is left out.
    kind: Option<&'static str>,
    /// Number of pictures in the file.
    pictures: usize,
    has_words: bool,
    is_rule: bool,
}

impl StoryReader<'_, '_, '_> {
    /// Reads a drawing, a picture or an object.
    pub fn drawing(&mut self, element: &Element) -> WordResult<()> {
        let mut drawing = Drawing::default();
        if element.name == "w:object" {
            drawing.kind = Some("embedded object");
        }
        self.drawing_parts(&mut drawing)?;
        let description = drawing.description.as_deref();
        if let Some(url) = drawing.address {
            let description = drawing.description.clone().unwrap_or_default();
            self.push(Content::Picture { url, description }, Look::default());
        } else if drawing.is_rule {
            self.push(Content::Rule, Look::default());
        } else if let Some(kind) = drawing.kind {
            self.findings.report.leave_out(kind, description);
        } else if drawing.pictures > 0 {
            for _ in 0..drawing.pictures {
                self.findings.report.leave_out("picture", description);
            }
        } else if !drawing.has_words {
            self.findings.report.leave_out("drawing", description);
        }
        Ok(())
    }

    fn drawing_parts(&mut self, drawing: &mut Drawing) -> WordResult<()> {
        while let Some(element) = self.xml.next_element()? {
            match element.name.as_str() {
                "wp:docPr" | "v:shape" | "v:rect" => {
                    let described = element.attribute("descr").or_else(|| element.attribute("alt"));
                    let described = described
                        .or_else(|| element.attribute("title"))
                        .filter(|words| !words.trim().is_empty());
                    drawing.description = drawing.description.take().or(described);
                    drawing.is_rule |= element.name == "v:rect"
                        && element.attribute("hr").is_some_and(|it| it == "t" || it == "true");
                }
                "a:blip" | "v:imagedata" => self.picture(&element, drawing),
                "a:graphicData" => {
                    let of = element.attribute("uri").unwrap_or_default();
                    drawing.kind = drawing.kind.or(match of.rsplit('/').next() {
                        Some("chart" | "chartex") => Some("chart"),
                        Some("diagram") => Some("diagram"),
                        _ => None,
                    });
                }
                "o:OLEObject" => {
                    let program = element.attribute("ProgID");
                    drawing.description = drawing.description.take().or(program);
                }
                "w:txbxContent" => {
                    drawing.has_words = true;
                    self.findings.report.decide("text box");
                    self.boxed_blocks()?;
                    continue;
                }
                "mc:AlternateContent" => {
                    let mut inner = self.alternatives_of_drawing()?;
                    drawing.description = drawing.description.take().or(inner.description.take());
                    drawing.address = drawing.address.take().or(inner.address.take());
                    drawing.kind = drawing.kind.or(inner.kind);
                    drawing.pictures += inner.pictures;
                    drawing.has_words |= inner.has_words;
                    continue;
                }
                _ => {}
            }
            self.drawing_parts(drawing)?;
        }
        Ok(())
    }

    fn alternatives_of_drawing(&mut self) -> WordResult<Drawing> {
        let mut inner = Drawing::default();
        self.alternatives(|reader| {
            reader.drawing_parts(&mut inner)?;
            Ok(inner.has_words
                || inner.pictures > 0
                || inner.address.is_some()
                || inner.kind.is_some())
        })?;
        Ok(inner)
    }

    /// Takes in a picture, which is in the file or of the web.
    fn picture(&mut self, element: &Element, drawing: &mut Drawing) {
        let described = element.attribute("title").filter(|words| !words.trim().is_empty());
        drawing.description = drawing.description.take().or(described);
        let outside = ["link", "href", "id", "embed"].iter().find_map(|name| {
            let relation = self.relations.get(&element.attribute(name)?)?;
            relation.is_external.then(|| relation.target.clone())
        });
        let is_web = |url: &String| url.to_ascii_lowercase().starts_with("http");
        match outside.and_then(|address| safe_url(&address)).filter(is_web) {
            Some(url) => drawing.address = Some(url),
            None => drawing.pictures += 1,
        }
    }
}
