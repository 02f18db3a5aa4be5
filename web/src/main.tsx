/** Starts the editor. */
import '@fontsource-variable/inter/wght.css'
import '@fontsource-variable/literata/wght-italic.css'
import '@fontsource-variable/literata/wght.css'
import { createRoot } from 'react-dom/client'
import { App } from './app/App.tsx'
import './ui/base.css'
import './app/layout.css'
import './app/library.css'
import './app/share.css'
import './chat/panel.css'
import './desk/desk.css'
import './editor/editor.css'
import './history/history.css'
import './review/review.css'
import { watchDesk } from './desk/store.ts'
import { start, wire } from './session/store.ts'

watchDesk(wire)
start()
createRoot(document.getElementById('app')!).render(<App />)
