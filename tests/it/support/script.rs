//! Writes scripts for the scripted model inside a story, where the script is part of what the story
//! says.

use std::path::Path;

use serde_json::{Value, json};

/// A script under construction.
#[derive(Clone, Debug, Default)]
pub struct Script {
    turns: Vec<Value>,
}

impl Script {
    /// Answers everything with a sentence.
    pub fn talking() -> Self {
        Self::default()
            .turn(json!({"content": [{"type": "text", "text": "I see."}], "repeat": true}))
    }

    /// The model's first answer calls a tool; whatever comes of it, it then says "Done.".
    pub fn calling(tool: &str, input: &Value) -> Self {
        Self::default().answering(".", tool, input).closing("Done.")
    }

    /// `update_full_document`, once.
    pub fn rewriting(new_content: &str) -> Self {
        Self::calling("update_full_document", &full(new_content))
    }

    /// To a prompt that matches, the model calls a tool.
    pub fn answering(self, prompt: &str, tool: &str, input: &Value) -> Self {
        let call = json!({"type": "tool_use", "name": tool, "input": input});
        self.turn(json!({"when": {"user": prompt}, "content": [call]}))
    }

    /// To a tool result that matches, the model says this.
    pub fn after_result(self, result: &str, text: &str) -> Self {
        let content = json!([{"type": "text", "text": text}]);
        self.turn(json!({"when": {"tool_result": result}, "content": content}))
    }

    /// To anything else the model says this.
    pub fn closing(self, text: &str) -> Self {
        self.turn(json!({"content": [{"type": "text", "text": text}], "repeat": true}))
    }

    /// A turn as the file has it.
    pub fn turn(mut self, turn: Value) -> Self {
        self.turns.push(turn);
        self
    }

    /// Writes the file; what `--model` takes.
    pub fn write(&self, directory: &Path) -> String {
        let file = directory.join("script.json");
        let script = json!({"name": "of a story", "turns": self.turns});
        std::fs::write(&file, script.to_string()).expect("there is room for a script");
        format!("script:{}", file.display())
    }
}

/// Input of `update_full_document`.
pub fn full(new_content: &str) -> Value {
    json!({"new_content": new_content, "explanation": "Rewrote it."})
}

/// Input of `update_selection`.
pub fn selection(start: impl Into<Value>, end: impl Into<Value>, new_text: &str) -> Value {
    let (start, end): (Value, Value) = (start.into(), end.into());
    json!({"new_text": new_text, "selection_range": {"start": start, "end": end}, "explanation": "Rewrote a part."})
}
