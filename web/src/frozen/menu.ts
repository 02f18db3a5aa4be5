/** A small button at the selection: freeze these words, or unfreeze them. The key does the same. */
import { type EditorState, type Extension, StateEffect, StateField } from '@codemirror/state'
import {
  type EditorView,
  showTooltip,
  type Tooltip,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view'
import { MOD, SHIFT } from '../ui/keyNames.ts'
import { frozenIn } from './field.ts'
import { freezable, mayFreeze, toggleFrozen } from './freeze.ts'
import { wordsOf } from './ranges.ts'

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
  return { pos: from, above: true, arrow: false, create: (view) => ({ dom: button(view) }) }
}

function button(view: EditorView): HTMLElement {
  const bar = document.createElement('div')
  bar.className = 'selection-menu'
  const act = bar.appendChild(document.createElement('button'))
  const frozen = freezable(view)?.frozen ?? false
  act.type = 'button'
  act.className = 'button'
  act.textContent = frozen ? 'Unfreeze' : 'Freeze'
  act.title = `${frozen ? 'Let tools change these words again' : 'No tool may change these words'} (${MOD} ${SHIFT} L)`
  // Keeps the writer's selection where it is.
  act.onmousedown = (event) => event.preventDefault()
  act.onclick = () => toggleFrozen(view)
  return bar
}

const watcher = ViewPlugin.fromClass(
  class {
    private timer: ReturnType<typeof setTimeout> | undefined

    constructor(private readonly view: EditorView) {}

    update(update: ViewUpdate): void {
      if (!update.selectionSet && !update.docChanged) return
      clearTimeout(this.timer)
      if (!update.state.selection.main.empty && mayFreeze())
        this.timer = setTimeout(() => this.view.dispatch({ effects: setShown.of(true) }), REST_MS)
    }

    destroy(): void {
      clearTimeout(this.timer)
    }
  },
)

export function freezeMenu(): Extension {
  return [menuField, watcher]
}
