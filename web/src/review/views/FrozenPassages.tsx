/** Frozen passages of the document, each with the way to it. */
import { Button } from '../../ui/Button.tsx'
import { useOpenDocument } from '../../document/useOpenDocument.ts'
import { frozenIn } from '../../frozen/field.ts'
import { nothingFrozen } from '../../frozen/wording.ts'
import { unfreeze } from '../../frozen/freeze.ts'
import { shortened } from '../../text/shortened.ts'
import type { Range } from '../../wire/generated.ts'
import { openDocument } from '../../document/openDocument.ts'
import { EditorView } from '@codemirror/view'
import './FrozenPassages.css'

interface PassagesProps {
  fixed: boolean
  mayFreeze: boolean
  onJump: () => void
}

export function Passages({ fixed, mayFreeze, onJump }: PassagesProps) {
  const snapshot = useOpenDocument((state) => state.snapshot)
  if (!snapshot) return null
  const ranges = frozenIn(snapshot)
  return (
    <section>
      <h3>Frozen passages</h3>
      {ranges.length === 0 && <p className="card-note">{nothingFrozen(mayFreeze)}</p>}
      <ul className="passages" aria-label="Frozen passages">
        {ranges.map((range, index) => (
          <li key={`${range.from} ${range.to}`}>
            <button
              type="button"
              className="passage"
              title="Show in the text"
              onClick={() => {
                onJump()
                jump(range)
              }}
            >
              {quote(snapshot.sliceDoc(range.from, range.to))}
            </button>
            {!fixed && (
              <Button
                aria-label={`Unfreeze “${quote(snapshot.sliceDoc(range.from, range.to))}”`}
                onClick={() => unfreeze(index)}
              >
                Unfreeze
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

const MAX_QUOTE_CHARS = 140

const quote = (text: string): string => shortened(text.replace(/\s+/g, ' ').trim(), MAX_QUOTE_CHARS)

function jump({ from, to }: Range): void {
  const view = openDocument()?.view
  if (!view) return
  view.dispatch({
    selection: { anchor: from, head: to },
    effects: EditorView.scrollIntoView(from, { y: 'center' }),
  })
  requestAnimationFrame(() => view.focus())
}
