/** The editor's extensions, in one list. */
import { history, historyKeymap } from '@codemirror/commands'
import { EditorState } from '@codemirror/state'
import { EditorView, drawSelection, keymap, placeholder } from '@codemirror/view'
import { modeParts, plainText } from '../document/suggesting/field.ts'
import { frozen } from '../frozen/field.ts'
import { authorsOnDemand } from '../history/authorsOnDemand.ts'
import { caretField, flagsOnThePage } from '../presence/carets.ts'
import { clickToActivate } from '../review/text/decorations.ts'
import { activeChanges } from '../review/text/pressing.ts'
import { review } from '../review/text/reviewField.ts'
import { useDrafts } from '../review/stores/drafts.ts'
import { usePanel } from '../review/stores/panel.ts'
import { isCorrector, useSession } from '../session/store.ts'
import { indentItem, insertLink, toggleMark } from './format.ts'
import { textKeys } from './keymap.ts'
import { language } from './language.ts'
import { wholeCharacters } from './surrogates.ts'
import type { EditorSetup } from '../document/openDocument.ts'

export function editorState({
  text,
  version,
  clientID,
  writable,
  title,
  onUpdate,
}: EditorSetup): EditorState {
  return EditorState.create({
    doc: text,
    extensions: [
      modeParts.of(plainText(version, clientID, writable)),
      review(
        writable
          ? { editing: usePanel.getState().editing, edits: useDrafts.getState().written }
          : {},
      ),
      frozen(),
      caretField,
      flagsOnThePage,
      authorsOnDemand,
      wholeCharacters,
      // Ctrl+Z goes through one's typing and one's decisions in the order they were made: it counts
      // the steps.
      history({ minDepth: 5_000 }),
      language(),
      EditorState.allowMultipleSelections.of(true),
      drawSelection(),
      clickToActivate,
      activeChanges,
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({
        'aria-label': `Text of ${title}`,
        'aria-multiline': 'true',
        role: 'textbox',
        spellcheck: 'true',
        autocorrect: 'on',
        autocapitalize: 'sentences',
      }),
      placeholder(
        isCorrector(useSession.getState().me)
          ? 'Start writing…'
          : 'Start writing, or ask for a first draft…',
      ),
      keymap.of([
        { key: 'Mod-b', run: toggleMark('**') },
        { key: 'Mod-i', run: toggleMark('*') },
        { key: 'Mod-Shift-k', run: insertLink },
        { key: 'Tab', run: indentItem('more'), shift: indentItem('less') },
        ...historyKeymap,
        ...textKeys,
      ]),
      onUpdate,
    ],
  })
}
