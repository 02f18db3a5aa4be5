/**
 * Which page is shown. Each comes by itself: the list of documents needs no editor, and a document
 * no list.
 */
import type { ComponentProps } from 'react'
import { useSession } from '../session/store.ts'
import { lazyPart } from '../ui/lazyPart.tsx'
import { Toasts } from '../ui/Toasts.tsx'
import { ErrorPage } from '../ui/ErrorPage.tsx'
import { navigate, type Route, routeOf, useRoute } from '../navigation/routes.ts'
import { Skeleton } from '../ui/Skeleton.tsx'

/** Pause after a page is there, before what comes next is fetched. */
const AHEAD_MS = 500

const page = { fallback: <Skeleton />, Missing: NotLoaded }
const loadDocumentPage = () => import('./DocumentPage.tsx').then((all) => all.DocumentPage)
const DocumentPage = lazyPart(loadDocumentPage, page)
const loadLibrary = () => import('../library/Library.tsx').then((all) => all.Library)
const Library = lazyPart(loadLibrary, page)
const ServerPage = lazyPart(
  () => import('../administration/ServerPage.tsx').then((all) => all.ServerPage),
  page,
)
const SignIn = lazyPart(() => import('./SignIn.tsx').then((all) => all.SignIn), page)
const InboxPanel = lazyPart(() =>
  import('../workspace-inbox/InboxPanel.tsx').then((all) => all.InboxPanel),
)
const OverwriteDialog = lazyPart(() =>
  import('../review/views/OverwriteDialog.tsx').then((all) => all.OverwriteDialog),
)
const ahead = (load: () => Promise<unknown>) => void load().catch(() => undefined)
// The page that is asked for without waiting for the connection; the other while people look at it.
const [here, next] =
  routeOf(window.location.pathname).at === 'document'
    ? [loadDocumentPage, loadLibrary]
    : [loadLibrary, loadDocumentPage]
ahead(here)
window.addEventListener('load', () => setTimeout(() => ahead(next), AHEAD_MS))

void import('../ui/doubleClick.ts').then(({ watchDoubleClicks, noteDoubleClick }) =>
  watchDoubleClicks(document, noteDoubleClick),
)

export function App() {
  const refused = useSession((session) =>
    session.link === 'refused' ? session.refusal?.code : undefined,
  )
  const route = useRoute()
  return (
    <>
      {refused === 'protocol' ? <OutOfDate /> : refused ? <SignIn /> : <Place route={route} />}
      {!refused && (
        <>
          <InboxPanel />
          <OverwriteDialog />
        </>
      )}
      <Toasts />
    </>
  )
}

function NotLoaded() {
  return (
    <Fault title="We can’t open this page" action={RELOAD}>
      A part of it could not be loaded. You may be offline, or the server was updated.
    </Fault>
  )
}

function OutOfDate() {
  return (
    <Fault title="This page is out of date" action={RELOAD}>
      The server has been updated since it was opened.
    </Fault>
  )
}

function Place({ route }: { route: Route }) {
  switch (route.at) {
    case 'library':
      return <Library />
    case 'document':
      return <DocumentPage key={route.id} id={route.id} />
    case 'server':
      return <ServerPage />
    case 'nowhere':
      return (
        <Fault
          title="There is nothing here"
          action={{ label: 'All documents', run: () => navigate('/') }}
        >
          The address may have been typed wrongly.
        </Fault>
      )
  }
}

const RELOAD = { label: 'Reload the page', run: () => window.location.reload() }

function Fault(props: ComponentProps<typeof ErrorPage>) {
  return (
    <main>
      <h1 className="hidden-label">Copydesk</h1>
      <ErrorPage {...props} />
    </main>
  )
}
