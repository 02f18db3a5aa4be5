/** One document: the text, its outline, the panel and the review bar. */
import { undo } from '@codemirror/commands'
import { Suspense, useEffect, useState } from 'react'
import { focusComposer } from '../chat/composer/focusComposer.ts'
import { followConversation } from '../chat/followDocument.ts'
import { lazyPart } from '../ui/lazyPart.tsx'
import { openDocument } from '../document/openDocument.ts'
import { FileNotes } from '../editor/FileNotes.tsx'
import { LiveDocument } from '../document/liveDocument.ts'
import { EditorPane } from '../editor/EditorPane.tsx'
import { editorState } from '../editor/extensions.ts'
import { find } from '../editor/find/find.ts'
import { useOpenDocument, useOpenDocumentFields } from '../document/useOpenDocument.ts'
import { ApprovalsOff } from '../review/views/ApprovalsOff.tsx'
import { followRequests } from '../review/actions/followDocument.ts'
import { forgetAuthors, useAuthors } from '../history/store.ts'
import { enter } from '../review/actions/keyBindings.ts'
import { isWaiting } from '../review/state/requests.ts'
import { useReviewState } from '../review/hooks/useReviewState.ts'
import { undoLastAct } from '../review/actions/undo.ts'
import { mayDecide } from '../review/state/permissions.ts'
import { followPeers } from '../presence/documentPeers.ts'
import { wire } from '../session/store.ts'
import { ErrorPage } from '../ui/ErrorPage.tsx'
import { takesFocus } from '../library/library.ts'
import { Skeleton } from '../ui/Skeleton.tsx'
import { ConnectionBar } from './ConnectionBar.tsx'
import { navigate } from '../navigation/routes.ts'
import { useTabTitle, type Waiting } from '../navigation/tabTitle.ts'
import { TopBar } from './TopBar.tsx'
import { canDecide } from '../session/roles.ts'
import { useReview } from '../review/stores/requests.ts'
import { hasVoted } from '../review/stores/votes.ts'
import { useReviewer } from '../review/stores/reviewer.ts'

// Fetched beside the text, which is there before it.
const loadedPanel = import('../chat/views/Panel.tsx').then((all) => all.Panel)
const Panel = lazyPart(() => loadedPanel)
const loadedBar = import('../review/views/ReviewBar.tsx').then((all) => all.ReviewBar)
const ReviewBar = lazyPart(() => loadedBar)
const Authors = lazyPart(() => import('../history/Authors.tsx').then((all) => all.Authors))
const Outline = lazyPart(() => import('../editor/Outline.tsx').then((all) => all.Outline))
const RecoveredText = lazyPart(() =>
  import('../editor/RecoveredText.tsx').then((all) => all.RecoveredText),
)
const Shortcuts = lazyPart(() => import('./Shortcuts.tsx').then((all) => all.Shortcuts))

export function DocumentPage({ id }: { id: string }) {
  const live = useLive(id)
  const { phase, title, role, settings } = useOpenDocumentFields(
    'phase',
    'title',
    'role',
    'settings',
  )
  const showsAuthors = useAuthors(({ on }) => on)
  const hasRecovered = useOpenDocument((state) => state.recovered.length > 0)
  useEffect(() => {
    // The text is put on the page after this, within the same frame.
    if (live && phase === 'open' && takesFocus(id)) requestAnimationFrame(() => live.view.focus())
  }, [live, phase, id])
  const decides = canDecide(role) && (role === 'owner' || settings?.policy !== 'owner')
  const [focused, setFocused] = useState(false)
  const [shortcuts, setShortcuts] = useState(false)
  usePageKeys(setFocused, () => setShortcuts(true))
  return (
    <div
      className={`document-page ${focused ? 'is-focused' : ''} ${phase === 'open' || phase === 'opening' ? '' : 'is-bare'} ${decides ? '' : 'only-reads'}`}
    >
      <TabTitle />
      <TopBar
        focused={focused}
        onFocus={() => setFocused(!focused)}
        onShortcuts={() => setShortcuts(true)}
      />
      <ConnectionBar />
      <main className="page-scroll">
        <h1 className="hidden-label">{title || 'Document'}</h1>
        <Suspense fallback={null}>{hasRecovered && <RecoveredText />}</Suspense>
        <FileNotes />
        <ApprovalsOff />
        <Suspense fallback={null}>{showsAuthors && <Authors />}</Suspense>
        <Suspense fallback={null}>
          {live && phase === 'open' && <Outline view={live.view} />}
        </Suspense>
        <div className="page">{live && <Body live={live} />}</div>
        <Suspense fallback={null}>
          {live && phase === 'open' && (
            <ReviewBar view={live.view} onShortcuts={() => setShortcuts(true)} />
          )}
        </Suspense>
      </main>
      {phase === 'open' && (
        <Suspense fallback={<div className="panel" />}>
          <Panel />
        </Suspense>
      )}
      <Suspense fallback={null}>
        {shortcuts && <Shortcuts onClose={() => setShortcuts(false)} />}
      </Suspense>
    </div>
  )
}

/** Shows nothing: the page around the text need not be drawn anew when the changes move. */
function TabTitle() {
  const title = useOpenDocument((state) => state.title)
  useTabTitle(title, useWaiting())
  return null
}

/**
 * Changes of the text that wait, and requests that are no changes: all of them, and those that we
 * have to decide.
 */
function useWaiting(): Waiting {
  const hunks = useReviewState(({ hunks }) => hunks)
  const requests = useReview((state) => state.requests)
  const reviewer = useReviewer()
  const decides = (id: string) => {
    const request = requests[id]
    return request !== undefined && mayDecide(request, reviewer)
  }
  const waiting = hunks.filter(({ status }) => status === 'pending' || status === 'conflict')
  const others = Object.values(requests).filter(
    (request) => isWaiting(request) && request.hunks.length === 0,
  )
  return {
    all: waiting.length + others.length,
    mine:
      waiting.filter((hunk) => decides(hunk.request_id) && !hasVoted(hunk)).length +
      others.filter((request) => decides(request.request_id)).length,
  }
}

function Body({ live }: { live: LiveDocument }) {
  const { phase, failure } = useOpenDocumentFields('phase', 'failure')
  switch (phase) {
    case 'opening':
      return <Skeleton />
    case 'failed':
      return (
        <ErrorPage
          title="We can’t open this document"
          action={{ label: 'Try again', run: () => void live.join() }}
        >
          {failure?.message ?? 'The server isn’t answering.'}
        </ErrorPage>
      )
    case 'gone':
      return (
        <ErrorPage
          title="This document is gone"
          action={{ label: 'All documents', run: () => navigate('/') }}
        >
          It was deleted, or the link is wrong.
        </ErrorPage>
      )
    case 'open':
      return <EditorPane view={live.view} />
  }
}

function useLive(id: string): LiveDocument | null {
  const [live, setLive] = useState<LiveDocument | null>(null)
  useEffect(() => {
    forgetAuthors()
    const opened = new LiveDocument(id, wire, editorState)
    followRequests(opened)
    followConversation(opened)
    followPeers(opened, wire)
    setLive(opened)
    return () => opened.close()
  }, [id])
  return live
}

function usePageKeys(
  setFocused: (change: (on: boolean) => boolean) => void,
  showShortcuts: () => void,
): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const mod = event.ctrlKey || event.metaKey
      if (mod && event.shiftKey && event.key.toLowerCase() === 'f') setFocused((on) => !on)
      else if (mod && !event.shiftKey && event.key.toLowerCase() === 'k')
        focusComposer(() => setFocused(() => false))
      else if (isFind(event) && !event.defaultPrevented && openFind()) return event.preventDefault()
      else if (event.key === '?' && !mod && !typing(event.target)) showShortcuts()
      else if (event.key === 'F8' && !event.defaultPrevented) enterReview()
      else if (isUndo(event) && !event.defaultPrevented && !hasOwnUndo(event.target)) undoLast()
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [setFocused, showShortcuts])
}

/**
 * From anywhere on the page into the text, to the change that is active; from there F8 goes on to
 * the next.
 */
function enterReview(): void {
  const view = openDocument()?.view
  if (view && enter(view)) view.focus()
}

const isFind = ({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): boolean =>
  (ctrlKey || metaKey) && !shiftKey && !altKey && key.toLowerCase() === 'f'

/** `false`: there is no text, or a dialog lies over it, and the browser finds in that. */
function openFind(): boolean {
  const view = openDocument()?.view
  if (!view?.dom.isConnected || document.querySelector('dialog[open]')) return false
  void find(view)
  return true
}

const isUndo = ({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): boolean =>
  (ctrlKey || metaKey) && !shiftKey && !altKey && key.toLowerCase() === 'z'

/** Fields of text take back what was typed in them; dialogs are about something else. */
const hasOwnUndo = (target: EventTarget | null): boolean =>
  typing(target) || (target instanceof Element && target.closest('dialog') !== null)

/** The last thing that was done here: a decision, or words that were typed. */
function undoLast(): void {
  const view = openDocument()?.view
  if (view && !undoLastAct()) undo(view)
}

function typing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea'))
  )
}
