//! The wire's samples (`fixtures/wire`), and whether real traffic is like them: every field, every
//! type, nothing more.
//!
//! One file for each shape: `client/` what clients send, `ack/` how it is answered, `server/` what
//! the server tells. Beside the sample a file says which fields may be missing (`optional`) or null
//! (`nullable`), hold any JSON (`free`), are times (`times`), or have one of a few values
//! (`values`). `where` restricts a file to payloads with these fields.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;

/// One shape.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// `client/document.push`
    #[serde(skip)]
    pub name: String,
    event: String,
    #[serde(default, rename = "where")]
    only: BTreeMap<String, Value>,
    pub sample: Value,
    #[serde(default)]
    optional: Vec<String>,
    #[serde(default)]
    nullable: Vec<String>,
    #[serde(default)]
    free: Vec<String>,
    #[serde(default)]
    times: Vec<String>,
    #[serde(default)]
    values: BTreeMap<String, Vec<Value>>,
}

/// All shapes.
pub fn shapes() -> &'static [Shape] {
    static SHAPES: OnceLock<Vec<Shape>> = OnceLock::new();
    SHAPES.get_or_init(|| ["client", "ack", "server"].into_iter().flat_map(load).collect())
}

/// Checks that an event of the server is as documented.
pub fn check_event(event: &str, body: &Value) -> Result<(), String> {
    check("server", event, body)
}

/// Checks that an acknowledgement is as documented; refusals have one shape.
pub fn check_ack(event: &str, body: &Value) -> Result<(), String> {
    let event = if body["ok"] == false { "refused" } else { event };
    check("ack", event, body)
}

/// Checks that a client of the documentation would send this.
pub fn check_sent(event: &str, body: &Value) -> Result<(), String> {
    check("client", event, body)
}

fn check(direction: &str, event: &str, body: &Value) -> Result<(), String> {
    let mut why =
        format!("{direction} event {event} is not documented in fixtures/wire/{direction}");
    for shape in shapes().iter().filter(|it| it.is_for(direction, event, body)) {
        match shape.admits(body) {
            Ok(()) => return Ok(()),
            Err(error) => {
                why = format!(
                    "{direction} {event} is not like fixtures/wire/{}.json: {error}\n{body}",
                    shape.name
                );
            }
        }
    }
    Err(why)
}

fn load(direction: &str) -> Vec<Shape> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/wire").join(direction);
    let files = std::fs::read_dir(&directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut shapes: Vec<Shape> = files
        .map(|file| {
            let path = file.expect("the directory can be read").path();
            let text = std::fs::read_to_string(&path).expect("a sample can be read");
            let mut shape: Shape = serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            shape.name =
                format!("{direction}/{}", path.file_stem().expect("a name").to_string_lossy());
            shape
        })
        .collect();
    shapes.sort_by(|a, b| a.name.cmp(&b.name));
    shapes
}

impl Shape {
    /// The event it is a shape of.
    pub fn event(&self) -> &str {
        &self.event
    }

    /// Returns `true` if this shape speaks of such a message at all.
    pub fn is_for(&self, direction: &str, event: &str, body: &Value) -> bool {
        self.name.starts_with(direction)
            && self.event == event
            && self
                .only
                .iter()
                .all(|(field, value)| body.get(field).unwrap_or(&Value::Null) == value)
    }

    /// Checks that the body is like the sample.
    pub fn admits(&self, body: &Value) -> Result<(), String> {
        self.compare(&self.sample, body, "")
    }

    fn compare(&self, sample: &Value, value: &Value, path: &str) -> Result<(), String> {
        let marked = |marks: &[String]| marks.iter().any(|it| it == path);
        if marked(&self.free) || (value.is_null() && marked(&self.nullable)) {
            return Ok(());
        }
        if marked(&self.times) {
            let time = value.as_str().and_then(|it| it.parse::<jiff::Timestamp>().ok());
            return time.map(|_| ()).ok_or_else(|| format!("`{path}` is not a time: {value}"));
        }
        if let Some(values) = self.values.get(path)
            && !values.contains(value)
        {
            return Err(format!("`{path}` is {value}, not one of {values:?}"));
        }
        match (sample, value) {
            (Value::Object(sample), Value::Object(value)) => {
                self.compare_fields(sample, value, path)
            }
            (Value::Array(sample), Value::Array(values)) => {
                let Some(first) = sample.first() else {
                    return values
                        .is_empty()
                        .then_some(())
                        .ok_or_else(|| format!("`{path}` has items, its sample has none"));
                };
                values.iter().try_for_each(|value| self.compare(first, value, &format!("{path}[]")))
            }
            (Value::String(_), Value::String(_))
            | (Value::Bool(_), Value::Bool(_))
            | (Value::Null, Value::Null) => Ok(()),
            (Value::Number(sample), Value::Number(value)) if sample.is_f64() == value.is_f64() => {
                Ok(())
            }
            _ => Err(format!("`{path}` is {value}, its sample {sample}")),
        }
    }

    fn compare_fields(
        &self,
        sample: &serde_json::Map<String, Value>,
        value: &serde_json::Map<String, Value>,
        path: &str,
    ) -> Result<(), String> {
        let below = |field: &str| {
            if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") }
        };
        if let Some(field) = value.keys().find(|field| !sample.contains_key(*field)) {
            return Err(format!("`{}` is not documented", below(field)));
        }
        for (field, sample) in sample {
            let path = below(field);
            match value.get(field) {
                Some(value) => self.compare(sample, value, &path)?,
                None if self.optional.contains(&path) => {}
                None => return Err(format!("`{path}` is missing")),
            }
        }
        Ok(())
    }
}
