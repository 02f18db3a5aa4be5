/** Effects that put the server's changes and frozen passages into the editor's state. */
import { StateEffect } from '@codemirror/state'
import type { Hunk, Range } from '../wire/generated.ts'

/** All open changes, in place of those before. */
export const setHunks = StateEffect.define<readonly Hunk[]>()

/** All frozen passages, in place of those before. */
export const setFrozen = StateEffect.define<readonly Range[]>()
