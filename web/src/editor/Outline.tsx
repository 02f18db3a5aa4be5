/** The headings, to jump to. */
import { EditorView } from '@codemirror/view'
import { useDocument } from './store.ts'

export function Outline({ view }: { view: EditorView }) {
  const headings = useDocument((state) => state.headings)
  if (headings.length < 2) return null
  const jump = (at: number) => {
    view.dispatch({
      selection: { anchor: at },
      effects: EditorView.scrollIntoView(at, { y: 'start', yMargin: 40 }),
    })
    view.focus()
  }
  return (
    <nav className="outline" aria-label="Outline">
      {headings.map(({ level, text, at }) => (
        <button
          type="button"
          key={at}
          className={`level-${Math.min(level, 3)}`}
          onClick={() => jump(at)}
        >
          {text}
        </button>
      ))}
    </nav>
  )
}
