/** Effects that put the server's changes and frozen passages into the editor's state. */
import { type ChangeSet, StateEffect } from '@codemirror/state'
import type { Hunk, Range } from '../wire/generated.ts'
import type { ConfirmedDocument } from './confirmedDocument.ts'

/** All open changes, in place of those before. */
export const setHunks = StateEffect.define<readonly Hunk[]>()

/** All frozen passages, in place of those before. */
export const setFrozen = StateEffect.define<readonly Range[]>()

/** The server’s side: changes and frozen passages as they stand in the local text. */
export const projected = (confirmed: ConfirmedDocument, unconfirmed: readonly ChangeSet[]) => [
  setHunks.of(confirmed.project(unconfirmed)),
  setFrozen.of(confirmed.projectFrozen(unconfirmed)),
]
