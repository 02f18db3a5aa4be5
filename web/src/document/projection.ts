/** The server's side of a document, shown in the local text. Pure. */
import type { ChangeSet } from '@codemirror/state'
import type { ConfirmedDocument } from './confirmedDocument.ts'
import { setFrozen, setHunks } from './effects.ts'

/** Changes and frozen passages as they stand in the local text. */
export const projected = (confirmed: ConfirmedDocument, unconfirmed: readonly ChangeSet[]) => [
  setHunks.of(confirmed.project(unconfirmed)),
  setFrozen.of(confirmed.projectFrozen(unconfirmed)),
]
