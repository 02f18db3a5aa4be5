/** Questions about selected words that take one click. */
import type { EditorView } from '@codemirror/view'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { useSession } from '../../session/store.ts'
import { ask } from './ask.ts'
import { focusComposer } from './focusComposer.ts'
import { chosenModel } from './models.ts'
import { questionsFor } from './questions.ts'
import { canWrite } from '../../session/roles.ts'

export interface SelectionAction {
  words: string
  title: string
  act: (view: EditorView) => void
}

export function selectionActions(): SelectionAction[] {
  const { me, link } = useSession.getState()
  if (me === null || link !== 'online' || !canWrite(useOpenDocument.getState().role)) return []
  const model = chosenModel() ?? me.models[0] ?? ''
  return [
    { words: 'Ask…', title: 'Ask the AI about these words', act: () => focusComposer() },
    ...questionsFor(model).map(({ words, prompt }) => ({
      words,
      title: prompt,
      act: (view: EditorView) => {
        const { from, to } = view.state.selection.main
        void ask(prompt, { from, to })
      },
    })),
  ]
}
