/** Offers back words that could not be sent, to go where they were. */
import { isolateHistory } from '@codemirror/commands'
import { useEffect, useState } from 'react'
import { copyText } from '../ui/clipboard.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { plural } from '../ui/timeFormat.ts'
import { toast } from '../ui/toasts.ts'
import { openDocument } from '../document/openDocument.ts'
import { useOpenDocument } from '../document/useOpenDocument.ts'
import { type Preview, previews, putBack, type PutBack } from '../document/unsent/putBack.ts'
import { type UnsentEdit, wordsOf } from '../document/unsent/unsentEdit.ts'
import { canWrite } from '../session/roles.ts'
import './RecoveredText.css'

const forget = (id: string) =>
  useOpenDocument.setState(({ recovered }) => ({
    recovered: recovered.filter((other) => other.id !== id),
  }))

/** Returns its place in the text now; nothing while there is no text. */
async function placeNow(edit: UnsentEdit): Promise<PutBack | null> {
  const since = edit.base
    ? await openDocument()
        ?.updatesSince(edit.base.version)
        .catch(() => null)
    : null
  const current = openDocument()
  // What was typed here meanwhile comes after what the server has.
  const typed = (current?.unconfirmed() ?? []).map((changes) => ({ clientID: null, changes }))
  return current && putBack(edit, current.view.state.doc, since ? [...since, ...typed] : null)
}

async function putBackNow(edit: UnsentEdit): Promise<void> {
  const found = await placeNow(edit)
  const view = openDocument()?.view
  if (!view || !found) return
  const changes = view.state.changes(found.replacements)
  const first = found.replacements[0]
  view.dispatch({
    changes,
    ...(first && { selection: { anchor: changes.mapPos(first.to, 1) } }),
    annotations: isolateHistory.of('full'),
    scrollIntoView: true,
  })
  forget(edit.id)
  if (!found.isExact) toast(leftOver(found), { about: 'put back' })
}

function leftOver({ notFound }: PutBack): string {
  return notFound.length > 0
    ? 'Put back. Some words that you deleted are not there any more.'
    : 'Put back at the end of the text: the place where you typed is gone.'
}

export function RecoveredText() {
  const recovered = useOpenDocument((state) => state.recovered)
  const [open, setOpen] = useState(false)
  if (recovered.length === 0) return null
  const places = recovered.reduce((sum, edit) => sum + edit.places.length, 0)
  return (
    <div className="recovered" role="alert">
      <span>
        {recovered.every((edit) => wordsOf(edit) !== '')
          ? `We kept ${places === 1 ? 'a passage' : plural(places, 'passage')} you wrote offline.`
          : `We kept ${places === 1 ? 'a change' : plural(places, 'change')} you made offline.`}
      </span>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        Show my words
      </button>
      {open && (
        <Dialog title="Your words" onClose={() => setOpen(false)}>
          {recovered.map((edit) => (
            <Offer key={edit.id} edit={edit} />
          ))}
        </Dialog>
      )}
    </div>
  )
}

function Offer({ edit }: { edit: UnsentEdit }) {
  const [found, setFound] = useState<PutBack | null>(null)
  const [shown, setShown] = useState<readonly Preview[]>([])
  const writes = useOpenDocument((state) => canWrite(state.role))
  const snapshot = useOpenDocument((state) => state.snapshot)
  useEffect(() => {
    void placeNow(edit).then((place) => {
      const doc = openDocument()?.view.state.doc
      if (!place || !doc) return
      setFound(place)
      setShown(previews(place, doc))
    })
  }, [edit, snapshot])
  const words = wordsOf(edit)
  return (
    <div className="recovered-offer">
      {shown.map((preview, index) => (
        <Place key={index} {...preview} />
      ))}
      {found?.notFound.map((gone) => (
        <p className="warn-note" key={gone}>
          You deleted “{gone.trim()}”. These words are not there any more.
        </p>
      ))}
      {found && !found.isExact && found.notFound.length === 0 && (
        <p className="warn-note">
          The place where you typed is gone, so this goes to the end of the text.
        </p>
      )}
      <div className="dialog-foot">
        {writes && shown.length > 0 && (
          <button type="button" className="button is-primary" onClick={() => void putBackNow(edit)}>
            Put back where I was
          </button>
        )}
        {words !== '' && (
          <button type="button" className="button" onClick={() => void copyText(words)}>
            Copy
          </button>
        )}
        <button type="button" className="button is-danger" onClick={() => forget(edit.id)}>
          Discard
        </button>
      </div>
    </div>
  )
}

/** Words that go and come, between the words around them. */
function Place({ before, gone, put, after }: Preview) {
  return (
    <blockquote className="recovered-text" dir="auto" tabIndex={0}>
      {before}
      {gone && <del>{gone}</del>}
      {put && <ins>{put}</ins>}
      {after}
    </blockquote>
  )
}
