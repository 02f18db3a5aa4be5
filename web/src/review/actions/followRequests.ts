/** Keeps the requests, and what is shown of them, in step with an open document. */
import type { LiveDocument } from '../../document/liveDocument.ts'
import {
  announceSuggested,
  announceWritingDone,
  announceWritingStopped,
} from '../text/announcements.ts'
import { ChangesPublisher } from '../text/changesPublisher.ts'
import { followResolved } from '../text/resolved.ts'
import { useDrafts } from '../stores/drafts.ts'
import { EMPTY_BIN, useBin } from './bin.ts'
import { usePanel } from '../stores/panel.ts'
import { forgetAccepts } from '../stores/remarks.ts'
import { changesCame, loadDeferred } from './defer.ts'
import { loadRead } from '../stores/read.ts'
import { notifyIfObsolete } from './reopen.ts'
import {
  applyRequest,
  applyResolved,
  applySnapshot,
  applyUpdate,
  hunksChanged,
  NO_REQUESTS,
} from '../state/requests.ts'
import { followDepth, forgetDecisions } from './undo.ts'
import { useRequests } from '../stores/requests.ts'
import { NO_DRAFTS } from '../state/drafts.ts'

/** Forgets what was known of the document before. */
export function followRequests({ view, events }: LiveDocument): void {
  useRequests.setState(NO_REQUESTS)
  useDrafts.setState(NO_DRAFTS)
  useBin.setState(EMPTY_BIN)
  forgetDecisions()
  forgetAccepts()
  const publisher = new ChangesPublisher(view)
  // Another device of the person may have been used meanwhile.
  const look = () => void (!document.hidden && loadDeferred())
  document.addEventListener('visibilitychange', look)
  events.on('opened', ({ requests, streaming }) => {
    useRequests.setState((state) => applySnapshot(state, requests, streaming))
    loadRead()
    if (requests.length > 0) void loadDeferred()
  })
  events.on('requested', (request) => {
    announceWritingDone(view, request)
    useRequests.setState((state) => applyRequest(state, request))
    changesCame()
  })
  events.on('requestUpdated', (update) => {
    announceWritingStopped(view, update)
    useRequests.setState((state) => applyUpdate(state, update))
  })
  events.on('resolved', (done) => {
    notifyIfObsolete(useRequests.getState().requests[done.request_id], done)
    useRequests.setState((state) => applyResolved(state, done))
  })
  events.on('hunksChanged', (changes) => {
    announceSuggested(view, changes.put)
    useRequests.setState((state) => hunksChanged(state, changes))
    changesCame()
  })
  events.on('delivered', () => followResolved(view))
  events.on('updated', (update) => {
    if (update.docChanged) followDepth(update.state)
    publisher.changed(update)
  })
  events.on('closed', () => {
    publisher.stop()
    document.removeEventListener('visibilitychange', look)
    // Not at the beginning: the panel may have been opened while this code was on its way.
    usePanel.setState(usePanel.getInitialState())
  })
}
