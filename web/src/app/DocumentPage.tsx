/** One document: the text, its outline, the panel and the review bar. */
import { useEffect, useState } from 'react'
import { useComments } from '../comments/stores/threads.ts'
import { lazyPart } from '../ui/lazyPart.tsx'
import { LiveDocument } from '../document/liveDocument.ts'
import { openDocument } from '../document/openDocument.ts'
import { EditorPane } from '../editor/EditorPane.tsx'
import { editorState } from '../editor/extensions.ts'
import { useOpenDocument, useOpenDocumentFields } from '../document/useOpenDocument.ts'
import { forgetAuthors, useAuthors } from '../history/store.ts'
import { wire } from '../session/store.ts'
import { ErrorPage } from '../ui/ErrorPage.tsx'
import { takesFocus } from '../library/library.ts'
import { Skeleton } from '../ui/Skeleton.tsx'
import { ConnectionBar } from './ConnectionBar.tsx'
import { navigate } from '../navigation/routes.ts'
import { TopBar } from './TopBar.tsx'
import { canDecide } from '../session/roles.ts'
import { usePageKeys } from './pageKeys.ts'
import './DocumentPage.css'

// Fetched beside the text, which is there before it.
const besideText = import('./besideText.ts')
const Panel = lazyPart(() => besideText.then((all) => all.Panel), {
  fallback: <div className="panel" />,
})
const FileNotes = lazyPart(() => besideText.then((all) => all.FileNotes))
const ReviewBar = lazyPart(() => besideText.then((all) => all.ReviewBar))
const ApprovalsOff = lazyPart(() => besideText.then((all) => all.ApprovalsOff))
const TabTitle = lazyPart(() => besideText.then((all) => all.TabTitle))
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
  // What a person is led to is shown.
  useEffect(
    () =>
      useComments.subscribe(({ composing, focused: thread }) => {
        if (composing || thread) setFocused(false)
      }),
    [],
  )
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
        {hasRecovered && <RecoveredText />}
        <FileNotes />
        <ApprovalsOff />
        {showsAuthors && <Authors />}
        {live && phase === 'open' && <Outline view={live.view} />}
        <div className="page">{live && <Body live={live} />}</div>
        {live && phase === 'open' && (
          <ReviewBar view={live.view} onShortcuts={() => setShortcuts(true)} />
        )}
      </main>
      {phase === 'open' && <Panel />}
      {shortcuts && <Shortcuts onClose={() => setShortcuts(false)} />}
    </div>
  )
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
    void besideText.then(
      ({ follow }) => openDocument() === opened && follow(opened),
      () => opened.events.start(),
    )
    setLive(opened)
    return () => opened.close()
  }, [id])
  return live
}
