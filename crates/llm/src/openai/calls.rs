//! Builds calls from pieces that may lack identifiers, repeat indices, or contain objects.

use serde_json::{Map, Value};

use crate::delta_stream::{input, mint_call_id};
use crate::messages_api::ContentBlock;
use crate::{ModelResult, malformed};

/// Smallest length of a usable identifier: shorter ones are counters of one answer.
const SHORTEST_ID: usize = 4;

/// Calls of one answer.
#[derive(Default)]
pub(super) struct StreamedCalls(Vec<OpenCall>);

/// Call being written.
struct OpenCall {
    /// Index of the call as the server sent it.
    place: Option<u64>,
    /// Identifier that the server gave the call.
    given: Option<String>,
    /// Identifier that the rest of this program uses.
    id: String,
    name: String,
    arguments: String,
    /// `true` after the start of the call was sent.
    begun: bool,
    /// Length of the part of `arguments` that was sent.
    sent: usize,
}

/// Addition of a piece to a call.
pub(super) enum CallStep {
    Begins { id: String, name: String },
    Grows(String),
}

/// One element of `tool_calls`.
struct CallPiece {
    place: Option<u64>,
    id: Option<String>,
    name: Option<String>,
    arguments: String,
    /// `true` if the arguments came as an object, so that no more of them follow.
    whole: bool,
}

impl CallPiece {
    fn read(piece: &Value) -> Self {
        let function = &piece["function"];
        let word = |value: &Value| match value {
            Value::String(word) if !word.trim().is_empty() => Some(word.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let (arguments, whole) = match &function["arguments"] {
            Value::String(text) => (text.clone(), false),
            Value::Null => (String::new(), false),
            object => (object.to_string(), true),
        };
        let (place, id) = (piece["index"].as_u64(), word(&piece["id"]));
        Self { place, id, name: word(&function["name"]), arguments, whole }
    }
}

impl StreamedCalls {
    /// Takes a piece, and returns the number of the call that it belongs to.
    pub(super) fn grow(&mut self, piece: &Value) -> usize {
        let piece = CallPiece::read(piece);
        let number = self.belongs(&piece).unwrap_or_else(|| self.open(&piece));
        let call = &mut self.0[number];
        // Some servers repeat the name in every piece.
        if let Some(name) = piece.name.filter(|_| call.name.is_empty()) {
            call.name = name;
        }
        call.given = call.given.take().or(piece.id);
        call.arguments.push_str(&piece.arguments);
        number
    }

    /// Returns the call that a piece continues; `None` if the piece begins a new one.
    fn belongs(&self, piece: &CallPiece) -> Option<usize> {
        if piece.place.is_none() && piece.id.is_some() {
            let same = self.0.iter().rposition(|call| call.given == piece.id);
            if same.is_some() {
                return same;
            }
        }
        let number = match piece.place {
            Some(_) => self.0.iter().rposition(|call| call.place == piece.place)?,
            None => self.0.len().checked_sub(1)?,
        };
        let call = &self.0[number];
        let begins = match (&piece.id, &call.given) {
            (Some(id), Some(given)) if id == given => false,
            // These servers give every call index 0; others make up an identifier for each piece.
            (Some(_), Some(_)) => piece.name.is_some() || call.is_whole(),
            _ if piece.place.is_none() => piece.name.is_some(),
            _ => {
                let other = piece.name.as_ref().is_some_and(|name| *name != call.name);
                let again = piece.name.is_some() && !piece.arguments.is_empty() && call.is_whole();
                (other && !call.name.is_empty())
                    || again
                    || (piece.whole && !call.arguments.is_empty())
            }
        };
        (!begins).then_some(number)
    }

    fn open(&mut self, piece: &CallPiece) -> usize {
        let usable =
            |id: &String| id.len() >= SHORTEST_ID && !self.0.iter().any(|call| call.id == *id);
        let id = piece.id.clone().filter(usable).unwrap_or_else(mint_call_id);
        self.0.push(OpenCall {
            place: piece.place,
            given: piece.id.clone(),
            id,
            name: String::new(),
            arguments: String::new(),
            begun: false,
            sent: 0,
        });
        self.0.len() - 1
    }

    /// Returns the additions to a call since the last request for them; empty while it has no name.
    pub(super) fn news(&mut self, number: usize) -> Vec<CallStep> {
        let Some(call) = self.0.get_mut(number).filter(|call| !call.name.is_empty()) else {
            return Vec::new();
        };
        let mut news = Vec::new();
        if !std::mem::replace(&mut call.begun, true) {
            news.push(CallStep::Begins { id: call.id.clone(), name: call.name.clone() });
        }
        if call.sent < call.arguments.len() {
            news.push(CallStep::Grows(call.arguments[call.sent..].to_owned()));
            call.sent = call.arguments.len();
        }
        news
    }

    /// Returns the finished call; `None` if the pieces had neither. Arguments without a name are an
    /// error: such a call cannot even be refused.
    pub(super) fn close(&mut self, number: usize) -> ModelResult<Option<ContentBlock>> {
        let Some(call) = self.0.get_mut(number) else { return Ok(None) };
        let arguments = std::mem::take(&mut call.arguments);
        match (call.name.is_empty(), arguments.trim().is_empty()) {
            (true, true) => Ok(None),
            (true, false) => Err(malformed("a call without a name")),
            (false, _) => {
                let (id, name) = (call.id.as_str(), call.name.as_str());
                Ok(Some(ContentBlock::tool_use(id, name, input(&arguments))))
            }
        }
    }
}

impl OpenCall {
    fn is_whole(&self) -> bool {
        serde_json::from_str::<Map<String, Value>>(&self.arguments).is_ok()
    }
}
