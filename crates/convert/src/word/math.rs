//! Formulas as TeX. An element that is not known gives its children.

use super::error::WordResult;
use super::model::{Content, Look};
use super::story::StoryReader;
use super::xml::{Element, Node, XmlReader};

impl StoryReader<'_, '_, '_> {
    /// Reads `m:oMath` or `m:oMathPara`.
    pub fn formula(&mut self, is_block: bool) -> WordResult<()> {
        let mut reader = FormulaReader { xml: self.xml, has_changes: false };
        let tex = reader.children()?;
        if reader.has_changes {
            self.findings.report.decide("tracked change in a formula");
        }
        let tex = tex.split_whitespace().collect::<Vec<_>>().join(" ");
        if !tex.is_empty() {
            self.push(Content::Formula { tex, is_block }, Look::default());
        }
        Ok(())
    }
}

struct FormulaReader<'x, 'p> {
    xml: &'x mut XmlReader<'p>,
    has_changes: bool,
}

/// Named parts of an element, such as numerator and denominator.
#[derive(Default)]
struct Parts {
    /// Value of each property by its name, and whether it is switched on.
    properties: Vec<(String, Option<String>, bool)>,
    /// TeX of each part by its name.
    parts: Vec<(String, String)>,
}

impl Parts {
    fn get(&self, name: &str) -> &str {
        let found = self.parts.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, tex)| tex)
    }

    /// Returns a part in braces, if it is more than one sign.
    fn braced(&self, name: &str) -> String {
        braced(self.get(name))
    }

    fn property(&self, name: &str) -> Option<&str> {
        let found = self.properties.iter().find(|(known, ..)| known == name)?;
        Some(found.1.as_deref().unwrap_or_default())
    }

    fn is_on(&self, name: &str) -> bool {
        self.properties.iter().any(|(known, _, is_on)| known == name && *is_on)
    }
}

impl FormulaReader<'_, '_> {
    /// Returns the TeX of the current element's children, and reads it to its end.
    fn children(&mut self) -> WordResult<String> {
        let mut out = String::new();
        while let Some(node) = self.xml.next()? {
            if let Node::Element(element) = node {
                let tex = self.element(&element)?;
                append(&mut out, &tex);
            }
        }
        Ok(out)
    }

    fn element(&mut self, element: &Element) -> WordResult<String> {
        let name = element.name.as_str();
        match name {
            "m:t" | "w:t" => return Ok(escape(&self.xml.text()?)),
            "m:r" => return self.run(),
            "w:del" | "w:moveFrom" => {
                self.has_changes = true;
                self.xml.skip()?;
                return Ok(String::new());
            }
            "w:ins" | "w:moveTo" => self.has_changes = true,
            "w:br" | "w:tab" => {
                self.xml.skip()?;
                return Ok(" ".to_owned());
            }
            _ if name.ends_with("Pr") => {
                self.xml.skip()?;
                return Ok(String::new());
            }
            "m:f" | "m:sSup" | "m:sSub" | "m:sSubSup" | "m:sPre" | "m:rad" | "m:nary" | "m:d"
            | "m:func" | "m:limLow" | "m:limUpp" | "m:acc" | "m:bar" | "m:groupChr" | "m:m"
            | "m:eqArr" => {
                let parts = self.parts()?;
                return Ok(structure(name, &parts));
            }
            _ => {}
        }
        self.children()
    }

    /// Reads signs, which may be words.
    fn run(&mut self) -> WordResult<String> {
        let (mut out, mut is_words) = (String::new(), false);
        while let Some(element) = self.xml.next_element()? {
            if element.name == "m:rPr" {
                while let Some(property) = self.xml.next_element()? {
                    is_words |= property.name == "m:nor" && property.is_on();
                    self.xml.skip()?;
                }
            } else {
                out.push_str(&self.element(&element)?);
            }
        }
        Ok(if is_words && !out.trim().is_empty() { format!("\\text{{{out}}}") } else { out })
    }

    /// Reads the parts of the current element.
    fn parts(&mut self) -> WordResult<Parts> {
        let mut parts = Parts::default();
        while let Some(element) = self.xml.next_element()? {
            if element.name.ends_with("Pr") {
                while let Some(property) = self.xml.next_element()? {
                    let is_on = property.is_on();
                    parts.properties.push((property.name.clone(), property.value(), is_on));
                    self.xml.skip()?;
                }
                continue;
            }
            let tex = if element.name == "m:mr" {
                let row = self.parts()?;
                row.parts.into_iter().map(|(_, tex)| tex).collect::<Vec<_>>().join(" & ")
            } else {
                self.children()?
            };
            parts.parts.push((element.name, tex));
        }
        Ok(parts)
    }
}

/// Returns the TeX of a structure.
fn structure(name: &str, parts: &Parts) -> String {
    let all = |separator: &str| {
        parts.parts.iter().map(|(_, tex)| tex.as_str()).collect::<Vec<_>>().join(separator)
    };
    match name {
        "m:f" => match parts.property("m:type") {
            Some("lin" | "skw") => format!("{}/{}", parts.braced("m:num"), parts.braced("m:den")),
            Some("noBar") => format!("{{{} \\atop {}}}", parts.get("m:num"), parts.get("m:den")),
            _ => format!("\\frac{{{}}}{{{}}}", parts.get("m:num"), parts.get("m:den")),
        },
        "m:sSup" => format!("{}^{}", base(parts), parts.braced("m:sup")),
        "m:sSub" => format!("{}_{}", base(parts), parts.braced("m:sub")),
        "m:sSubSup" => {
            format!("{}_{}^{}", base(parts), parts.braced("m:sub"), parts.braced("m:sup"))
        }
        "m:sPre" => {
            format!("{{}}_{}^{}{}", parts.braced("m:sub"), parts.braced("m:sup"), base(parts))
        }
        "m:rad" => {
            let degree = parts.get("m:deg");
            if degree.is_empty() || parts.is_on("m:degHide") {
                format!("\\sqrt{{{}}}", parts.get("m:e"))
            } else {
                format!("\\sqrt[{degree}]{{{}}}", parts.get("m:e"))
            }
        }
        "m:nary" => nary(parts),
        "m:d" => delimited(parts),
        "m:func" => {
            let mut out = function(parts.get("m:fName"));
            append(&mut out, &parts.braced("m:e"));
            out
        }
        "m:limLow" => match function(parts.get("m:e")) {
            name if name.starts_with('\\') => format!("{name}_{}", parts.braced("m:lim")),
            name => format!("\\underset{{{}}}{{{name}}}", parts.get("m:lim")),
        },
        "m:limUpp" => format!("\\overset{{{}}}{{{}}}", parts.get("m:lim"), parts.get("m:e")),
        "m:acc" => format!("{}{{{}}}", accent(parts.property("m:chr")), parts.get("m:e")),
        "m:bar" => match parts.property("m:pos") {
            Some("top") => format!("\\overline{{{}}}", parts.get("m:e")),
            _ => format!("\\underline{{{}}}", parts.get("m:e")),
        },
        "m:groupChr" => match parts.property("m:pos") {
            Some("top") => format!("\\overbrace{{{}}}", parts.get("m:e")),
            _ => format!("\\underbrace{{{}}}", parts.get("m:e")),
        },
        "m:m" => format!("\\begin{{matrix}} {} \\end{{matrix}}", all(" \\\\ ")),
        _ => format!("\\begin{{aligned}} {} \\end{{aligned}}", all(" \\\\ ")),
    }
}

/// Returns what an index or an exponent belongs to.
fn base(parts: &Parts) -> String {
    let inner = parts.get("m:e");
    if inner.is_empty() { "{}".to_owned() } else { braced(inner) }
}

fn nary(parts: &Parts) -> String {
    let sign = match parts.property("m:chr") {
        None | Some("∫" | "") => "\\int",
        Some("∑") => "\\sum",
        Some("∏") => "\\prod",
        Some("∐") => "\\coprod",
        Some("⋃") => "\\bigcup",
        Some("⋂") => "\\bigcap",
        Some("⋁") => "\\bigvee",
        Some("⋀") => "\\bigwedge",
        Some("∬") => "\\iint",
        Some("∭") => "\\iiint",
        Some("∮") => "\\oint",
        Some(other) => other,
    };
    let mut out = sign.to_owned();
    if !parts.get("m:sub").is_empty() && !parts.is_on("m:subHide") {
        out.push('_');
        out.push_str(&parts.braced("m:sub"));
    }
    if !parts.get("m:sup").is_empty() && !parts.is_on("m:supHide") {
        out.push('^');
        out.push_str(&parts.braced("m:sup"));
    }
    out.push(' ');
    out.push_str(&parts.braced("m:e"));
    out
}

fn delimited(parts: &Parts) -> String {
    let sign = |name: &str, usual: &str| match parts.property(name) {
        None => usual.to_owned(),
        Some("") => ".".to_owned(),
        Some(sign) => match sign {
            "{" | "}" => format!("\\{sign}"),
            "⟨" => "\\langle".to_owned(),
            "⟩" => "\\rangle".to_owned(),
            "‖" => "\\|".to_owned(),
            other => other.to_owned(),
        },
    };
    let between = parts.property("m:sepChr").unwrap_or("|");
    let inner: Vec<&str> = parts.parts.iter().map(|(_, tex)| tex.as_str()).collect();
    let inner = inner.join(between);
    let (open, close) = (sign("m:begChr", "("), sign("m:endChr", ")"));
    // Brackets of their usual size are signs like others.
    if inner.contains('\\') || open.len() + close.len() > 2 || open == "." || close == "." {
        format!("\\left{open} {inner} \\right{close}")
    } else {
        format!("{open}{inner}{close}")
    }
}

/// Returns the name of a function, with the backslash that TeX knows it by.
fn function(name: &str) -> String {
    const KNOWN: &[&str] = &[
        "arccos", "arcsin", "arctan", "cos", "cosh", "cot", "csc", "det", "exp", "gcd", "inf",
        "lim", "ln", "log", "max", "min", "sec", "sin", "sinh", "sup", "tan", "tanh",
    ];
    let plain = name.strip_prefix("\\text{").and_then(|it| it.strip_suffix('}')).unwrap_or(name);
    if KNOWN.contains(&plain.trim()) { format!("\\{}", plain.trim()) } else { name.to_owned() }
}

fn accent(sign: Option<&str>) -> &'static str {
    match sign {
        Some("\u{303}" | "~") => "\\tilde",
        Some("\u{304}" | "\u{305}" | "¯") => "\\bar",
        Some("\u{307}") => "\\dot",
        Some("\u{308}") => "\\ddot",
        Some("\u{20d7}" | "→") => "\\vec",
        Some("\u{301}") => "\\acute",
        Some("\u{300}") => "\\grave",
        Some("\u{30c}") => "\\check",
        Some("\u{306}") => "\\breve",
        _ => "\\hat",
    }
}

/// Returns TeX in braces, if it is more than one sign.
fn braced(tex: &str) -> String {
    let mut signs = tex.chars();
    match (signs.next(), signs.next()) {
        (Some(sign), None) if sign != '\\' => tex.to_owned(),
        _ => format!("{{{tex}}}"),
    }
}

/// Adds TeX, with a blank between a command and a letter.
fn append(out: &mut String, tex: &str) {
    let command = out.rfind('\\').map(|at| &out[at + 1..]);
    let ends_with_command = command
        .is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic()));
    if ends_with_command && tex.starts_with(|c: char| c.is_alphabetic()) {
        out.push(' ');
    }
    out.push_str(tex);
}

/// Escapes signs that mean something in TeX.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\backslash "),
            '{' | '}' | '$' | '&' | '#' | '%' | '_' => out.extend(['\\', c]),
            '^' => out.push_str("\\hat{}"),
            '~' => out.push_str("\\sim "),
            // Written in the middle of words, it has no width.
            '\u{2061}'..='\u{2064}' | '\u{200b}' => {}
            c => out.push(c),
        }
    }
    out
}
