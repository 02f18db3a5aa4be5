/** Starts the editor. */
import '@fontsource-variable/inter/wght.css'
import '@fontsource-variable/literata/wght-italic.css'
import '@fontsource-variable/literata/wght.css'
import { createRoot } from 'react-dom/client'
import { App } from './app/App.tsx'
import './ui/base.css'
import './app/layout.css'
import './app/documents/library.css'
import './app/share/share.css'
import './chat/panel.css'
import './workspace-inbox/inbox.css'
import './editor/editor.css'
import './frozen/frozen.css'
import './history/history.css'
import './review/review.css'
import './review/cards/decisions.css'
import './review/compare/compare.css'
import './rules/rules.css'
import { watchInbox } from './workspace-inbox/state/store.ts'
import { watchRequests } from './app/notifications.ts'
import { start, wire } from './session/store.ts'

watchInbox(wire)
watchRequests(wire)
start()
createRoot(document.getElementById('app')!).render(<App />)
