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
  {"name":"update_full_document","title":"Rewrite","ruleTitle":"Rewrite","effect":"proposes","scope":"document","reads":"nothing","repeats":null,"substitutes":false},
  {"name":"update_selection","title":"Rewrite of a selection","ruleTitle":"Rewrite of a selection","effect":"proposes","scope":"document","reads":"nothing","repeats":null,"substitutes":false},
  {"name":"insert_at_cursor","title":"Insertion","ruleTitle":"Insertion","effect":"proposes","scope":"document","reads":"nothing","repeats":null,"substitutes":false},
  {"name":"find_and_replace","title":"Find and replace","ruleTitle":"Find and replace","effect":"proposes","scope":"document","reads":"nothing","repeats":null,"substitutes":true},
  {"name":"suggest_improvements","title":"Suggestions","ruleTitle":"Suggestions","effect":"proposes","scope":"document","reads":"nothing","repeats":null,"substitutes":false},
  {"name":"str_replace_based_edit_tool","title":"str_replace_based_edit_tool","ruleTitle":"str_replace_based_edit_tool","effect":"proposes","scope":"conversation","reads":"nothing","repeats":null,"substitutes":false},
  {"name":"read_document","title":"read_document","ruleTitle":"read_document","effect":"safe","scope":"conversation","reads":"of_document","repeats":null,"substitutes":false},
  {"name":"list_documents","title":"list_documents","ruleTitle":"list_documents","effect":"safe","scope":"conversation","reads":"nothing","repeats":null,"substitutes":false},
  {"name":"update_document_by_id","title":"update_document_by_id","ruleTitle":"update_document_by_id","effect":"proposes","scope":"conversation","reads":"nothing","repeats":null,"substitutes":false},
  {"name":"create_new_document","title":"New document","ruleTitle":"New document","effect":"creates","scope":"conversation","reads":"nothing","repeats":null,"substitutes":false},
  {"name":"respond_conversation_only","title":"Answer","ruleTitle":"Answer","effect":"safe","scope":"conversation","reads":"nothing","repeats":null,"substitutes":false},
  {"name":"Read","title":"Read","ruleTitle":"Read a file","effect":"reads","scope":"workspace","reads":"of_file","repeats":null,"substitutes":false},
  {"name":"Glob","title":"Find files","ruleTitle":"Find files","effect":"reads","scope":"workspace","reads":"nothing","repeats":null,"substitutes":false},
  {"name":"Grep","title":"Search in files","ruleTitle":"Search in files","effect":"reads","scope":"workspace","reads":"of_many_files","repeats":null,"substitutes":false},
  {"name":"Write","title":"Write","ruleTitle":"Write a file","effect":"changes_file","scope":"workspace","reads":"nothing","repeats":null,"substitutes":false},
  {"name":"Edit","title":"Edit","ruleTitle":"Edit a file","effect":"changes_file","scope":"workspace","reads":"nothing","repeats":null,"substitutes":false},
  {"name":"MultiEdit","title":"Several edits","ruleTitle":"Several edits of a file","effect":"changes_file","scope":"workspace","reads":"nothing","repeats":"Edit","substitutes":false},
  {"name":"ExitPlanMode","title":"Plan","ruleTitle":"Plan","effect":"plans","scope":"conversation","reads":"nothing","repeats":null,"substitutes":false},
  {"name":"add_comment","title":"Comment","ruleTitle":"Write a comment","effect":"comments","scope":"document","reads":"of_document","repeats":null,"substitutes":false},
  {"name":"Bash","title":"Run a command","ruleTitle":"Run a command","effect":"acts","scope":"workspace","reads":"nothing","repeats":null,"substitutes":false},
]
