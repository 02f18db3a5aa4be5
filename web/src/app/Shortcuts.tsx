/** The sheet of keys. */
import type { ReactNode } from 'react'
import { useCapability } from '../session/store.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { ALT, MOD, SHIFT } from '../ui/keyNames.ts'
import './Shortcuts.css'

export function Shortcuts({ onClose }: { onClose: () => void }) {
  const canUndo = useCapability('undo')
  const comments = useCapability('comments')
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <div className="shortcuts">
        <div>
          <h3>Review</h3>
          <Keys does="Next change" chord={['F8']} letter="J" />
          <Keys does="Previous change" chord={[SHIFT, 'F8']} letter="K" />
          <Keys does="Accept" chord={[MOD, '↵']} letter="A" />
          <Keys does="Reject" chord={[MOD, SHIFT, '↵']} letter="R" />
          <Keys does="Edit before accepting" chord={[ALT, '↵']} letter="E" />
          <Keys does="Split into its parts" letter="S" />
          <Keys does="Put off for later, or back" letter="D" />
          <Keys does="Next unread change" chord={[MOD, 'F8']} letter="N" />
          {canUndo && <Keys does="Undo the last decision" chord={[MOD, 'Z']} letter="U" />}
        </div>
        <div>
          <h3>Write</h3>
          <Keys does="Bold" chord={[MOD, 'B']} />
          <Keys does="Italic" chord={[MOD, 'I']} />
          <Keys does="Link" chord={[MOD, SHIFT, 'K']} />
          <Keys does="Indent" chord={['Tab']} />
          <Keys does="Outdent" chord={[SHIFT, 'Tab']} />
          <Keys does="Paste without formatting" chord={[MOD, SHIFT, 'V']} />
          <Keys does="Ask for an edit" chord={[MOD, 'K']} />
          <Keys does="Find and replace" chord={[MOD, 'F']} />
          <Keys does="Undo" chord={[MOD, 'Z']} />
          <Keys does="Redo" chord={MOD === 'Ctrl' ? [MOD, 'Y'] : [MOD, SHIFT, 'Z']} />
          <Keys does="A further caret, a line below" chord={[MOD, ALT, '↓']} />
          <Keys does="Freeze or unfreeze" chord={[MOD, SHIFT, 'L']} />
          {comments && <Keys does="Comment" chord={[MOD, ALT, 'M']} />}
          <h3>View</h3>
          <Keys does="Focus mode" chord={[MOD, SHIFT, 'F']} />
          <Keys does="Go to the review bar" chord={['Esc']} />
          <Keys does="Shortcuts" chord={['?']} />
        </div>
      </div>
      <p style={{ marginTop: 14, color: 'var(--ink-2)' }}>
        Single letters work in the review bar, and at the desk. Press Esc in the text to go to the
        bar. Where changes of meaning (≠) are listed alone, J and K go through those.
      </p>
    </Dialog>
  )
}

interface Props {
  does: string
  chord?: readonly string[]
  letter?: string
}

function Keys({ does, chord = [], letter }: Props): ReactNode {
  return (
    <div>
      {does}
      <span>
        {chord.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
        {letter && (
          <>
            {chord.length > 0 && ' or '}
            <kbd>{letter}</kbd>
          </>
        )}
      </span>
    </div>
  )
}
