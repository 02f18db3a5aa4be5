/** Offers back words that could not be sent, to go where they were. */
import { isolateHistory } from '@codemirror/commands'
import { useEffect, useState } from 'react'
import { Button } from '../ui/Button.tsx'
import { copyText } from '../ui/clipboard.ts'
import { Dialog } from '../ui/Dialog.tsx'
import { oneAtATime } from '../ui/oneAtATime.ts'
import { plural } from '../ui/timeFormat.ts'
import { toast } from '../ui/toasts.ts'
import { openDocument } from '../document/openDocument.ts'
import { useOpenDocument, useOpenDocumentFields } from '../document/useOpenDocument.ts'
import { canComment } from '../session/roles.ts'
import { type Preview, previews, putBack, type PutBack } from '../document/unsent/putBack.ts'
import { type UnsentEdit, wordsOf } from '../document/unsent/unsentEdit.ts'
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

const putBackNow = oneAtATime(async (edit: UnsentEdit) => {
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
})

function leftOver({ notFound }: PutBack): string {
  return notFound.length > 0
    ? 'Put back. Some words that you deleted are not there any more.'
    : 'Put back at the end of the text: the place where you typed is gone.'
}

export function RecoveredText() {
  const recovered = useOpenDocument((state) => state.recovered)
  const [open, setOpen] = useState(false)
  if (recovered.length === 0) return null
  const wrote = recovered.every((edit) => edit.suggested) ? 'suggested' : 'wrote offline'
  const places = recovered.reduce((sum, edit) => sum + edit.places.length, 0)
  return (
    <div className="recovered" role="alert">
      <span>
        {recovered.every((edit) => wordsOf(edit) !== '')
          ? `We kept ${places === 1 ? 'a passage' : plural(places, 'passage')} you ${wrote}.`
          : `We kept ${places === 1 ? 'a change' : plural(places, 'change')} you made offline.`}
      </span>
      <Button onClick={() => setOpen(true)}>Show my words</Button>
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
  const { mode, role } = useOpenDocumentFields('mode', 'role')
  const writes = edit.suggested ? mode === 'suggesting' : mode !== 'reading'
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
      {edit.suggested && !writes && canComment(role) && (
        <p className="card-note">You suggested this. Switch to Suggesting to put it back.</p>
      )}
      <div className="dialog-foot">
        {writes && shown.length > 0 && (
          <Button look="primary" onClick={() => void putBackNow(edit)}>
            Put back where I was
          </Button>
        )}
        {words !== '' && <Button onClick={() => void copyText(words)}>Copy</Button>}
        <Button look="danger" onClick={() => forget(edit.id)}>
          Discard
        </Button>
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
