/** The title of the open document, and whether all of it has reached the server. */
import { useOpenDocumentFields } from '../document/useOpenDocument.ts'
import { useState, useEffect } from 'react'
import { canWrite } from '../session/roles.ts'
import { tooLong } from '../text/title.ts'
import { toast } from '../ui/toasts.ts'
import { renameDocument } from '../library/library.ts'
import { useSession } from '../session/store.ts'
import './DocumentTitle.css'

export function Title() {
  const { id, title, role, phase } = useOpenDocumentFields('id', 'title', 'role', 'phase')
  const [draft, setDraft] = useState(title)
  useEffect(() => setDraft(title), [title])
  if (phase !== 'open' || !canWrite(role))
    return <span className="title">{title || 'Copydesk'}</span>
  const save = () => {
    const wanted = draft.trim()
    if (wanted === '' || wanted === title || id === null) return setDraft(title)
    const problem = tooLong(wanted)
    // The words stay, to be shortened.
    if (problem) return toast(problem)
    void renameDocument(id, wanted).then((renamed) => !renamed && setDraft(title))
  }
  return (
    <input
      className="title"
      aria-label="Title"
      value={draft}
      aria-invalid={tooLong(draft.trim()) !== undefined}
      onInput={(event) => setDraft(event.currentTarget.value)}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key === 'Enter') event.currentTarget.blur()
        if (event.key === 'Escape') setDraft(title)
      }}
    />
  )
}

export function Saved() {
  const { saved, phase, role, mode } = useOpenDocumentFields('saved', 'phase', 'role', 'mode')
  const link = useSession((session) => session.link)
  const words =
    phase !== 'open'
      ? link === 'online'
        ? ''
        : 'Not connected'
      : mode === 'reading' && !canWrite(role)
        ? 'Read only'
        : saved === 'saved'
          ? 'Saved'
          : saved === 'saving'
            ? 'Saving…'
            : 'Not sent yet'
  return (
    <span className="saved" role="status">
      {words}
    </span>
  )
}
