/** Starts the editor. */
import '@fontsource-variable/inter/wght.css'
import '@fontsource-variable/literata/wght-italic.css'
import '@fontsource-variable/literata/wght.css'
import { createRoot } from 'react-dom/client'
import { App } from './app/App.tsx'
import './ui/base.css'
import './app/layout.css'
import './library/library.css'
import './sharing/share.css'
import './chat/views/panel.css'
import './workspace-inbox/inbox.css'
import './editor/editor.css'
import './frozen/frozen.css'
import './history/history.css'
import './review/views/review.css'
import './review/views/cards/decisions.css'
import './review/views/compare.css'
import './rules/rules.css'
import { watchInbox } from './workspace-inbox/state/store.ts'
import { watchRequests } from './account/notifications.ts'
import { start, wire } from './session/store.ts'

watchInbox(wire)
watchRequests(wire)
start()
createRoot(document.getElementById('app')!).render(<App />)
