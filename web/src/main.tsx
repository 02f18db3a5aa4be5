/** Starts the editor. */
import '@fontsource-variable/inter/wght.css'
import '@fontsource-variable/literata/wght-italic.css'
import '@fontsource-variable/literata/wght.css'
import './ui/base.css'
import { createRoot } from 'react-dom/client'
import { App } from './app/App.tsx'
import { watchInbox } from './workspace-inbox/state/store.ts'
import { start, wire } from './session/store.ts'

watchInbox(wire)
wire.on('tool_approval_request', async (request) => {
  if (!document.hidden) return
  const { notifyOfRequest } = await import('./account/notifications.ts')
  notifyOfRequest(request)
})
start()
createRoot(document.getElementById('app')!).render(<App />)
