/** A small bar at the selection: ask the AI about these words, comment on them, or freeze them. */
import { type EditorState, type Extension, StateEffect, StateField } from '@codemirror/state'
import { type EditorView, keymap, showTooltip, type Tooltip, ViewPlugin } from '@codemirror/view'
import { commentOnSelection } from '../comments/actions/start.ts'
import { mayComment } from '../comments/stores/threads.ts'
import { selectionActions } from '../chat/composer/selectionActions.ts'
import { ALT, MOD, SHIFT } from '../ui/keyNames.ts'
import { frozenIn } from './field.ts'
import { freezable, mayFreeze, toggleFrozen } from './freeze.ts'
import { wordsOf } from '../document/frozenRanges.ts'
import './menu.css'

/** While the selection is still being drawn, a button would be in the way. */
const REST_MS = 250

const setShown = StateEffect.define<boolean>()

const menuField = StateField.define<Tooltip | null>({
  create: () => null,
  update(value, tr) {
    let shown = value !== null
    if (tr.docChanged || tr.selection) shown = false
    for (const effect of tr.effects) if (effect.is(setShown)) shown = effect.value
    if (!shown) return null
    return value &&
      !tr.docChanged &&
      !tr.selection &&
      frozenIn(tr.startState) === frozenIn(tr.state)
      ? value
      : tooltip(tr.state)
  },
  provide: (field) => showTooltip.from(field),
})

function tooltip(state: EditorState): Tooltip | null {
  const { from, to } = state.selection.main
  if (!wordsOf(state.sliceDoc(from, to), from)) return null
  if (!mayFreeze() && !mayComment() && selectionActions().length === 0) return null
  return { pos: from, above: true, arrow: false, create: (view) => ({ dom: buttons(view) }) }
}

function buttons(view: EditorView): HTMLElement {
  const bar = document.createElement('div')
  bar.className = 'selection-menu'
  bar.setAttribute('role', 'toolbar')
  bar.setAttribute('aria-label', 'Selected words')
  const add = (words: string, title: string, act: () => void) => {
    const button = bar.appendChild(document.createElement('button'))
    button.type = 'button'
    button.className = 'button'
    button.textContent = words
    button.title = title
    // Keeps the writer's selection where it is.
    button.onmousedown = (event) => event.preventDefault()
    button.onclick = act
  }
  for (const { words, title, act } of selectionActions()) add(words, title, () => act(view))
  if (mayComment())
    add('Comment', `Comment on these words (${MOD} ${ALT} M)`, () => {
      view.dispatch({ effects: setShown.of(false) })
      commentOnSelection(view)
    })
  if (mayFreeze()) {
    const frozen = freezable(view)?.frozen ?? false
    const what = frozen ? 'Let the AI change these words again' : 'The AI can’t change these words'
    add(frozen ? 'Unfreeze' : 'Freeze', `${what} (${MOD} ${SHIFT} L)`, () => toggleFrozen(view))
  }
  return bar
}

const watcher = ViewPlugin.define((view) => {
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    update({ selectionSet, docChanged, state }) {
      if (!selectionSet && !docChanged) return
      clearTimeout(timer)
      if (!state.selection.main.empty)
        timer = setTimeout(() => view.dispatch({ effects: setShown.of(true) }), REST_MS)
    },
    destroy: () => clearTimeout(timer),
  }
})

export function freezeMenu(): Extension {
  return [menuField, watcher, keymap.of([{ key: 'Mod-Shift-l', run: toggleFrozen }])]
}
