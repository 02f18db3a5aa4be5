/**
 * The line across the top: where we are, whether it is saved, who is here, and a menu of the rest.
 */
import { useState } from 'react'
import { Button } from '../ui/Button.tsx'
import { find } from '../editor/find/find.ts'
import { compose } from '../comments/stores/threads.ts'
import { openDocument } from '../document/openDocument.ts'
import { useOpenDocument, useOpenDocumentFields } from '../document/useOpenDocument.ts'
import { toggleAuthors, useAuthors } from '../history/store.ts'
import { InboxButton } from '../workspace-inbox/InboxButton.tsx'
import { People } from '../presence/People.tsx'
import { useReviewState } from '../review/hooks/useReviewState.ts'
import { usePanel } from '../review/stores/panel.ts'
import { canWrite } from '../session/roles.ts'
import { attempt } from '../session/attempt.ts'
import { hasCapability, useSession, wire } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { lazyPart } from '../ui/lazyPart.tsx'
import { Menu, type MenuItem } from '../ui/Menu.tsx'
import { plural } from '../ui/timeFormat.ts'
import { AccountDialog } from '../account/AccountButton.tsx'
import { Link } from '../navigation/Link.tsx'
import { documentPath, navigate } from '../navigation/routes.ts'
import { Share } from '../sharing/Share.tsx'
import { ModeSwitch } from './ModeSwitch.tsx'
import { useTheme } from './theme.ts'
import { Title, Saved } from './DocumentTitle.tsx'
import './TopBar.css'

const ExportDialog = lazyPart(() => import('../library/Export.tsx').then((all) => all.ExportDialog))
const History = lazyPart(() => import('../history/History.tsx').then((all) => all.History))

interface Props {
  focused: boolean
  onFocus: () => void
  onShortcuts: () => void
}

export function TopBar({ focused, onFocus, onShortcuts }: Props) {
  const { id, phase, words, selectedWords } = useOpenDocumentFields(
    'id',
    'phase',
    'words',
    'selectedWords',
  )
  const toReview = useReviewState(({ hunks }) => hunks.length)
  const [dialog, setDialog] = useState<'history' | 'export' | 'account' | null>(null)
  const items = useMenu({ focused, onFocus, onShortcuts, onDialog: setDialog })
  const close = () => setDialog(null)
  return (
    <header className="topbar">
      <Link
        className="button is-quiet home"
        to="/"
        aria-label="All documents"
        title="All documents"
      >
        <Icon name="book" size={20} /> <span>Documents</span>
      </Link>
      <div className="title-line">
        <Title />
        <span className="saved-line">
          <Saved />
          <ModeSwitch />
        </span>
      </div>
      {phase === 'open' && (
        <span className="word-count">
          {selectedWords > 0
            ? `${selectedWords.toLocaleString('en-US')} of ${wordCount(words)}`
            : wordCount(words)}
        </span>
      )}
      <People />
      <InboxButton />
      <Share documentId={id} />
      {phase === 'open' && (
        <Button
          look="quiet"
          className="sheet-open"
          aria-label={toReview > 0 ? `Ask and review: ${toReview} to review` : 'Ask and review'}
          title="Ask and review"
          onClick={() => usePanel.setState({ open: true })}
        >
          <Icon name="spark" size={18} /> <span>{toReview > 0 ? 'Review' : 'Ask'}</span>
          {toReview > 0 && <b className="inbox-count">{toReview}</b>}
        </Button>
      )}
      <Menu label="Menu" items={items} />
      {dialog === 'history' && id !== null && <History id={id} onClose={close} />}
      {dialog === 'export' && id !== null && <ExportDialog id={id} onClose={close} />}
      {dialog === 'account' && <AccountDialog onClose={close} />}
    </header>
  )
}

const wordCount = (words: number) =>
  plural(words, 'word').replace(/^\d+/, words.toLocaleString('en-US'))

function useMenu({
  focused,
  onFocus,
  onShortcuts,
  onDialog,
}: Props & { onDialog: (dialog: 'history' | 'export' | 'account') => void }): MenuItem[] {
  const [theme, toggleTheme] = useTheme()
  const isOpen = useOpenDocument(({ phase }) => phase === 'open')
  const shown = useAuthors((authors) => authors.on)
  const known = useSession(({ me }) => me !== null)
  const id = useOpenDocument(({ id }) => id)
  const mayCreate = useSession(({ me }) => me !== null && canWrite(me.role))
  const offers = (name: string) => isOpen && hasCapability(name)
  const items: (MenuItem | false)[] = [
    offers('history') && {
      label: 'Version history',
      icon: 'clock',
      run: () => onDialog('history'),
    },
    offers('provenance') && {
      label: 'Who wrote this',
      icon: 'authors',
      run: toggleAuthors,
      isOn: shown,
    },
    offers('export') && { label: 'Export', icon: 'download', run: () => onDialog('export') },
    isOpen && { label: 'Find and replace', icon: 'search', run: findInText },
    isOpen &&
      mayCreate &&
      id !== null && { label: 'Duplicate', icon: 'plus', run: () => void duplicate(id) },
    offers('comments') && { label: 'Comments', icon: 'comment', run: () => compose(null) },
    { label: 'Focus mode', icon: 'focus', run: onFocus, isOn: focused },
    theme === 'dark'
      ? { label: 'Light theme', icon: 'sun', run: toggleTheme }
      : { label: 'Dark theme', icon: 'moon', run: toggleTheme },
    { label: 'Keyboard shortcuts', icon: 'keys', run: onShortcuts },
    known && { label: 'You', icon: 'person', run: () => onDialog('account') },
  ]
  return items.filter((item) => item !== false)
}

async function duplicate(documentId: string): Promise<void> {
  const copy = await attempt(wire.call('document:duplicate', { documentId }))
  if (copy) navigate(documentPath(copy.document.id))
}

function findInText(): void {
  const view = openDocument()?.view
  if (view) void find(view)
}
