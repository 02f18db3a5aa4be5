/**
 * The line across the top: where we are, whether it is saved, who is here, and a menu of the rest.
 */
import { Suspense, useState } from 'react'
import { find } from '../editor/find/find.ts'
import { openDocument } from '../document/openDocument.ts'
import { useOpenDocument, useOpenDocumentFields } from '../document/useOpenDocument.ts'
import { toggleAuthors, useAuthors } from '../history/store.ts'
import { InboxButton } from '../workspace-inbox/InboxButton.tsx'
import { People } from '../presence/People.tsx'
import { useReviewState } from '../review/hooks/useReviewState.ts'
import { usePanel } from '../review/stores/panel.ts'
import { canWrite } from '../session/roles.ts'
import { hasCapability, useSession } from '../session/store.ts'
import { Icon } from '../ui/icons.tsx'
import { lazyPart } from '../ui/lazyPart.tsx'
import { Menu, type MenuItem } from '../ui/Menu.tsx'
import { plural } from '../ui/timeFormat.ts'
import { AccountDialog } from '../account/AccountButton.tsx'
import { duplicateDocument } from '../library/library.ts'
import { documentPath, follow, navigate } from '../navigation/routes.ts'
import { Share } from '../sharing/Share.tsx'
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
      <a
        className="button is-quiet home"
        href="/"
        aria-label="All documents"
        title="All documents"
        onClick={(event) => follow(event, '/')}
      >
        <Icon name="book" size={20} /> <span>Documents</span>
      </a>
      <div className="title-line">
        <Title />
        <Saved />
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
        <button
          type="button"
          className="button is-quiet sheet-open"
          aria-label={toReview > 0 ? `Ask and review: ${toReview} to review` : 'Ask and review'}
          title="Ask and review"
          onClick={() => usePanel.setState({ open: true })}
        >
          <Icon name="spark" size={18} /> <span>{toReview > 0 ? 'Review' : 'Ask'}</span>
          {toReview > 0 && <b className="inbox-count">{toReview}</b>}
        </button>
      )}
      <Menu label="Menu" items={items} />
      <Suspense fallback={null}>
        {dialog === 'history' && id !== null && <History id={id} onClose={close} />}
        {dialog === 'export' && id !== null && <ExportDialog id={id} onClose={close} />}
        {dialog === 'account' && <AccountDialog onClose={close} />}
      </Suspense>
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
  const ofDocument: (MenuItem & { needs: string })[] = [
    { needs: 'history', label: 'Version history', icon: 'clock', run: () => onDialog('history') },
    {
      needs: 'provenance',
      label: 'Who wrote this',
      icon: 'authors',
      run: toggleAuthors,
      isOn: shown,
    },
    { needs: 'export', label: 'Export', icon: 'download', run: () => onDialog('export') },
  ]
  return [
    ...ofDocument.filter(({ needs }) => isOpen && hasCapability(needs)),
    ...(isOpen ? [{ label: 'Find and replace', icon: 'search' as const, run: findInText }] : []),
    ...(isOpen && mayCreate && id !== null
      ? [{ label: 'Duplicate', icon: 'plus' as const, run: () => void duplicate(id) }]
      : []),
    { label: 'Focus mode', icon: 'focus', run: onFocus, isOn: focused },
    {
      label: theme === 'dark' ? 'Light theme' : 'Dark theme',
      icon: theme === 'dark' ? 'sun' : 'moon',
      run: toggleTheme,
    },
    { label: 'Keyboard shortcuts', icon: 'keys', run: onShortcuts },
    ...(known ? [{ label: 'You', icon: 'person' as const, run: () => onDialog('account') }] : []),
  ]
}

async function duplicate(id: string): Promise<void> {
  const copy = await duplicateDocument(id)
  if (copy) navigate(documentPath(copy))
}

function findInText(): void {
  const view = openDocument()?.view
  if (view) void find(view)
}
