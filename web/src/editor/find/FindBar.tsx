/** The bar above the text in which words are found and replaced. */
import {
  SearchQuery,
  closeSearchPanel,
  findNext,
  findPrevious,
  getSearchQuery,
  openSearchPanel,
  replaceAll,
  replaceNext,
  search,
  setSearchQuery,
} from '@codemirror/search'
import { type Extension, StateEffect } from '@codemirror/state'
import { EditorView, keymap, type Panel, runScopeHandlers } from '@codemirror/view'
import { createRoot } from 'react-dom/client'
import { Button, IconButton } from '../../ui/Button.tsx'
import { Checkbox } from '../../ui/Form.tsx'
import { replaced, concerns, countOf } from './countMatches.ts'
import './FindBar.css'

const scope = 'editor search-panel'
const extension: Extension = [
  replaced,
  search({
    top: true,
    createPanel: findPanel,
    // Nothing lies over the middle of the page.
    scrollToMatch: (range) => EditorView.scrollIntoView(range, { y: 'center' }),
  }),
  keymap.of([
    { key: 'F3', run: findNext, shift: findPrevious, scope, preventDefault: true },
    { key: 'Mod-g', run: findNext, shift: findPrevious, scope, preventDefault: true },
    { key: 'Escape', run: closeSearchPanel, scope: 'search-panel' },
  ]),
]

export function openFindBar(view: EditorView): void {
  if (view.state.field(replaced, false) === undefined)
    view.dispatch({ effects: StateEffect.appendConfig.of(extension) })
  openSearchPanel(view)
}

function findPanel(view: EditorView): Panel {
  const dom = document.createElement('div')
  const root = createRoot(dom)
  const draw = () => root.render(<FindBar view={view} />)
  draw()
  return {
    dom,
    top: true,
    mount: () => dom.querySelector('input')?.select(),
    update: (update) => void (concerns(update) && draw()),
    destroy: () => root.unmount(),
  }
}

function FindBar({ view }: { view: EditorView }) {
  const { state } = view
  const query = getSearchQuery(state)
  const change = (wanted: Partial<ConstructorParameters<typeof SearchQuery>[0]>) => {
    const { search: words, replace, caseSensitive, wholeWord } = query
    const now = { search: words, replace, caseSensitive, wholeWord, literal: true, ...wanted }
    view.dispatch({ effects: setSearchQuery.of(new SearchQuery(now)) })
  }
  const option = (label: string, name: 'caseSensitive' | 'wholeWord') => (
    <Checkbox checked={query[name]} onChange={(checked) => change({ [name]: checked })}>
      {label}
    </Checkbox>
  )
  return (
    <div
      className="find"
      role="search"
      aria-label="Find and replace"
      onKeyDown={(event) => {
        if (runScopeHandlers(view, event.nativeEvent, 'search-panel')) event.preventDefault()
      }}
    >
      <div className="find-row">
        <input
          className="field"
          aria-label="Find"
          placeholder="Find"
          {...{ 'main-field': 'true' }}
          value={query.search}
          onInput={({ currentTarget }) => change({ search: currentTarget.value })}
          onKeyDown={onEnter(({ shiftKey }) => (shiftKey ? findPrevious : findNext)(view))}
        />
        <span className="count" role="status">
          {countOf(state)}
        </span>
        <FindButton label="Previous match" name="up" run={() => findPrevious(view)} />
        <FindButton label="Next match" name="down" run={() => findNext(view)} />
        {option('Match case', 'caseSensitive')}
        {option('Whole words', 'wholeWord')}
        <FindButton label="Close" name="cross" run={() => closeSearchPanel(view)} />
      </div>
      {!state.readOnly && (
        <div className="find-row">
          <input
            className="field"
            aria-label="Replace with"
            placeholder="Replace with"
            value={query.replace}
            onInput={({ currentTarget }) => change({ replace: currentTarget.value })}
            onKeyDown={onEnter(() => replaceNext(view))}
          />
          <Button onClick={() => replaceNext(view)}>Replace</Button>
          <Button onClick={() => replaceAll(view)}>Replace all</Button>
        </div>
      )}
    </div>
  )
}

const onEnter =
  (act: (event: React.KeyboardEvent) => void) =>
  (event: React.KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
    event.preventDefault()
    act(event)
  }

interface FindButtonProps {
  label: string
  name: 'up' | 'down' | 'cross'
  run: () => void
}

const FindButton = ({ label, name, run }: FindButtonProps) => (
  <IconButton label={label} title={label} name={name} size={15} onClick={run} />
)
