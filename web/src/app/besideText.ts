/** Code of an open document that its text does not need: fetched beside the text. */
import { followConversation } from '../chat/followConversation.ts'
import { followComments } from '../comments/actions/followComments.ts'
import type { LiveDocument } from '../document/liveDocument.ts'
import { followPeers } from '../presence/documentPeers.ts'
import { followRequests } from '../review/actions/followRequests.ts'
import { wire } from '../session/store.ts'

export { Panel } from '../chat/views/Panel.tsx'
export { FileNotes } from '../editor/FileNotes.tsx'
export { enter } from '../review/actions/activeChange.ts'
export { undoLastAct } from '../review/actions/undo.ts'
export { ApprovalsOff } from '../review/views/ApprovalsOff.tsx'
export { ReviewBar } from '../review/views/ReviewBar.tsx'
export { TabTitle } from './TabTitle.tsx'

/** Keeps the stores of the page in step with a document, also with what it has emitted before. */
export function follow(document: LiveDocument): void {
  followRequests(document)
  followConversation(document)
  followPeers(document, wire)
  followComments(document, wire)
  document.events.start()
}
