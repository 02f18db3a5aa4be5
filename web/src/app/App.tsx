/** Which page is shown. */
import { useSession } from '../session/store.ts'
import { InboxPanel } from '../workspace-inbox/InboxPanel.tsx'
import { OverwriteDialog } from '../review/cards/OverwriteDialog.tsx'
import { Toasts } from '../ui/Toasts.tsx'
import { DocumentPage } from './DocumentPage.tsx'
import { ErrorPage } from './ErrorPage.tsx'
import { Library } from './documents/Library.tsx'
import { SignIn } from './SignIn.tsx'
import { navigate, type Route, useRoute } from './routes.ts'

export function App() {
  const refused = useSession((session) =>
    session.link === 'refused' ? session.refusal?.code : undefined,
  )
  const route = useRoute()
  return (
    <>
      {refused === 'protocol' ? <OutOfDate /> : refused ? <SignIn /> : <Place route={route} />}
      {!refused && <InboxPanel />}
      {!refused && <OverwriteDialog />}
      <Toasts />
    </>
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
      return <DocumentPage key={route.id} id={route.id} />
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
