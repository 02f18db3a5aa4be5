/** Which page is shown. The list of documents needs no editor, so that one comes with the first document. */
import { Suspense } from 'react'
import { useSession } from '../session/store.ts'
import { lazyPart } from '../ui/lazyPart.tsx'
import { Toasts } from '../ui/Toasts.tsx'
import { ErrorPage } from './ErrorPage.tsx'
import { Library } from './documents/Library.tsx'
import { SignIn } from './SignIn.tsx'
import { navigate, type Route, routeOf, useRoute } from './routes.ts'
import { Skeleton } from './Skeleton.tsx'

/** Pause after the list is there, before the editor is fetched for the document that comes next. */
const AHEAD_MS = 500

const loadDocumentPage = () => import('./DocumentPage.tsx').then((all) => all.DocumentPage)
const DocumentPage = lazyPart(loadDocumentPage, NotLoaded)
const InboxPanel = lazyPart(() =>
  import('../workspace-inbox/InboxPanel.tsx').then((all) => all.InboxPanel),
)
const OverwriteDialog = lazyPart(() =>
  import('../review/cards/OverwriteDialog.tsx').then((all) => all.OverwriteDialog),
)
// Without waiting for the connection; from the list, while people look for their document.
const ahead = () => loadDocumentPage().catch(() => undefined)
if (routeOf(window.location.pathname).at === 'document') void ahead()
else window.addEventListener('load', () => setTimeout(() => void ahead(), AHEAD_MS))

export function App() {
  const refused = useSession((session) =>
    session.link === 'refused' ? session.refusal?.code : undefined,
  )
  const route = useRoute()
  return (
    <>
      {refused === 'protocol' ? <OutOfDate /> : refused ? <SignIn /> : <Place route={route} />}
      {!refused && (
        <Suspense fallback={null}>
          <InboxPanel />
          <OverwriteDialog />
        </Suspense>
      )}
      <Toasts />
    </>
  )
}

function NotLoaded() {
  return (
    <main>
      <h1 className="hidden-label">Copydesk</h1>
      <ErrorPage
        title="We can’t open this document"
        action={{ label: 'Reload the page', run: () => window.location.reload() }}
      >
        The editor could not be loaded. You may be offline, or the server was updated.
      </ErrorPage>
    </main>
  )
}

function OutOfDate() {
  return (
    <main>
      <h1 className="hidden-label">Copydesk</h1>
      <ErrorPage
        title="This page is out of date"
        action={{ label: 'Load it anew', run: () => window.location.reload() }}
      >
        The server has been updated since it was opened.
      </ErrorPage>
    </main>
  )
}

function Place({ route }: { route: Route }) {
  switch (route.at) {
    case 'library':
      return <Library />
    case 'document':
      return (
        <Suspense fallback={<Skeleton />}>
          <DocumentPage key={route.id} id={route.id} />
        </Suspense>
      )
    case 'nowhere':
      return (
        <main>
          <h1 className="hidden-label">Copydesk</h1>
          <ErrorPage
            title="There is nothing here"
            action={{ label: 'All documents', run: () => navigate('/') }}
          >
            The address may have been typed wrongly.
          </ErrorPage>
        </main>
      )
  }
}
