//! Table of the tools for the editor, as TypeScript. `web/src/wire/generatedTools.ts` is the table
//! of all tools that this crate has.

use serde::Serialize;

use super::{ToolEffect, ToolFacts, ToolRegistry, ToolScope, WordsRead};

const HEAD: &str = "\
// Written from crates/tools/src: `COPYDESK_BLESS=1 cargo test -p copydesk-tools`.

export interface ToolFacts {
  name: string
  title: string
  ruleTitle: string
  effect: 'safe' | 'reads' | 'comments' | 'proposes' | 'changes_file' | 'acts' | 'plans' | 'creates'
  scope: 'document' | 'conversation' | 'workspace'
  reads: 'nothing' | 'of_document' | 'of_file' | 'of_many_files'
  repeats: string | null
  substitutes: boolean
}

export const TOOLS: readonly ToolFacts[] = [
";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EditorTool {
    name: &'static str,
    title: &'static str,
    rule_title: &'static str,
    effect: ToolEffect,
    scope: ToolScope,
    reads: WordsRead,
    repeats: Option<&'static str>,
    substitutes: bool,
}

impl From<&ToolFacts> for EditorTool {
    fn from(tool: &ToolFacts) -> Self {
        let &ToolFacts { name, title, rule_title, effect, scope, reads, repeats, .. } = tool;
        let substitutes = tool.input.substitutes;
        Self { name, title, rule_title, effect, scope, reads, repeats, substitutes }
    }
}

impl ToolRegistry {
    /// Returns the table of these tools for the editor.
    pub fn editor_table(&self) -> String {
        let row = |tool: &EditorTool| {
            // A row holds strings and flags: nothing that cannot be serialised.
            format!("  {},\n", serde_json::to_string(tool).unwrap_or_default())
        };
        let rows = self.facts().map(|tool| row(&EditorTool::from(&**tool)));
        std::iter::once(HEAD.to_owned()).chain(rows).chain(["]\n".to_owned()]).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::ToolRegistry;

    #[cfg(unix)]
    #[test]
    fn the_editors_table_of_tools_is_the_servers() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/wire/generatedTools.ts");
        let generated = ToolRegistry::default().with_commands().editor_table();
        if std::env::var_os("COPYDESK_BLESS").is_some() {
            std::fs::write(path, &generated).unwrap();
        }
        let current = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            current == generated,
            "web/src/wire/generatedTools.ts is not current; run \
             `COPYDESK_BLESS=1 cargo test -p copydesk-tools`"
        );
    }
}
