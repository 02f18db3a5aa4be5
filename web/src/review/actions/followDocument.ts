/** Keeps the requests, and what is shown of them, in step with an open document. */
import type { OpenDocument } from '../../document/openDocument.ts'
import { announceWritingDone, announceWritingStopped } from '../text/announcements.ts'
import { ChangesPublisher } from '../text/changesPublisher.ts'
import { followResolved } from '../text/resolved.ts'
import { useDrafts } from '../stores/drafts.ts'
import { EMPTY_BIN, useBin } from './bin.ts'
import { usePanel } from '../stores/panel.ts'
import { notifyIfObsolete } from './reopen.ts'
import {
  applyRequest,
  applyResolved,
  applySnapshot,
  applyUpdate,
  hunksPut,
  NO_REQUESTS,
} from '../state/requests.ts'
import { followDepth, forgetDecisions } from './undo.ts'
import { useReview } from '../stores/requests.ts'
import { NO_DRAFTS } from '../state/drafts.ts'

/** Forgets what was known of the document before. */
export function followRequests({ view, events }: OpenDocument): void {
  useReview.setState(NO_REQUESTS)
  usePanel.setState(usePanel.getInitialState())
  useDrafts.setState(NO_DRAFTS)
  useBin.setState(EMPTY_BIN)
  forgetDecisions()
  const publisher = new ChangesPublisher(view)
  events.on('opened', ({ requests, streaming }) =>
    useReview.setState((state) => applySnapshot(state, requests, streaming)),
  )
  events.on('requested', (request) => {
    announceWritingDone(view, request)
    useReview.setState((state) => applyRequest(state, request))
  })
  events.on('requestUpdated', (update) => {
    announceWritingStopped(view, update)
    useReview.setState((state) => applyUpdate(state, update))
  })
  events.on('resolved', (done) => {
    notifyIfObsolete(useReview.getState().requests[done.request_id], done)
    useReview.setState((state) => applyResolved(state, done))
  })
  events.on('hunksPut', (put) => useReview.setState((state) => hunksPut(state, put)))
  events.on('delivered', () => followResolved(view))
  events.on('updated', (update) => {
    if (update.docChanged) followDepth(update.state)
    publisher.changed(update)
  })
  events.on('closed', () => publisher.stop())
}
