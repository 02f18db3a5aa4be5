/** The line across the top: where we are, whether it is saved, who is here. */
import { useEffect, useState } from 'react'
import { canWrite, useDocument } from '../editor/store.ts'
import { InboxButton } from '../workspace-inbox/InboxPanel.tsx'
import { People } from '../presence/People.tsx'
import { usePanel } from '../review/state/panel.ts'
import { useSession } from '../session/store.ts'
import { Authorship } from '../history/Authors.tsx'
import { HistoryButton } from '../history/History.tsx'
import { Icon } from '../ui/icons.tsx'
import { toast } from '../ui/toasts.ts'
import { plural } from '../ui/timeFormat.ts'
import { Export } from './documents/Export.tsx'
import { renameDocument, tooLong } from './documents/library.ts'
import { AccountButton } from './AccountButton.tsx'
import { follow } from './routes.ts'
import { Share } from './share/Share.tsx'
import { useTheme } from './theme.ts'

interface Props {
  focused: boolean
  onFocus: () => void
  onShortcuts: () => void
}

export function TopBar({ focused, onFocus, onShortcuts }: Props) {
  const [theme, toggleTheme] = useTheme()
  const { id, phase, words, selectedWords } = useDocument()
  return (
    <header className="topbar">
      <a
        className="icon-button home"
        href="/"
        aria-label="All documents"
        title="All documents"
        onClick={(event) => follow(event, '/')}
      >
        <Icon name="book" size={20} />
      </a>
      <div className="title-line">
        <Title />
        <Saved />
      </div>
      {phase === 'open' && (
        <span className="word-count">
          {selectedWords > 0
            ? `${selectedWords} of ${plural(words, 'word')}`
            : plural(words, 'word')}
        </span>
      )}
      <People />
      <Authorship />
      <HistoryButton />
      <InboxButton />
      <Share documentId={id} />
      <Export />
      {phase === 'open' && (
        <button
          type="button"
          className="icon-button sheet-open"
          aria-label="Ask and review"
          title="Ask and review"
          onClick={() => usePanel.setState({ open: true })}
        >
          <Icon name="spark" size={18} />
        </button>
      )}
      <button
        type="button"
        className="icon-button wide"
        aria-label="Focus mode"
        title="Focus mode"
        aria-pressed={focused}
        onClick={onFocus}
      >
        <Icon name="focus" />
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label={theme === 'dark' ? 'Light theme' : 'Dark theme'}
        title={theme === 'dark' ? 'Light theme' : 'Dark theme'}
        onClick={toggleTheme}
      >
        <Icon name={theme === 'dark' ? 'sun' : 'moon'} />
      </button>
      <button
        type="button"
        className="icon-button wide"
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts"
        onClick={onShortcuts}
      >
        <Icon name="keys" size={18} />
      </button>
      <AccountButton wide />
    </header>
  )
}

function Title() {
  const { id, title, role, phase } = useDocument()
  const [draft, setDraft] = useState(title)
  useEffect(() => {
    setDraft(title)
    if (title) document.title = `${title} · Copydesk`
  }, [title])
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

function Saved() {
  const { saved, phase, role } = useDocument()
  const link = useSession((session) => session.link)
  const words =
    phase !== 'open'
      ? link === 'online'
        ? ''
        : 'Not connected'
      : !canWrite(role)
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
