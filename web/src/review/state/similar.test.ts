import { expect, it } from 'vitest'
import type { Hunk, HunkKind } from '../../wire/generated.ts'
import { isProofread } from './similar.ts'

const change = (kind: HunkKind, base: string, insert: string) =>
  ({ kind, parts: [{ from: 0, to: base.length, base, insert }] }) as unknown as Hunk
const tool = { tool_name: 'update_full_document' }
const spelling = change('correction', 'beleived', 'believed')

it('calls small changes corrections only where words become similar ones', () => {
  const grammar = change('rewrite', 'could of', 'could have')
  expect(isProofread([spelling, grammar], tool)).toBe(true)
  expect(isProofread([grammar], tool)).toBe(false)
  expect(isProofread([spelling, change('rewrite', 'it was cold', 'frost lay there')], tool)).toBe(
    false,
  )
  expect(isProofread([spelling, change('moved', 'a', '')], tool)).toBe(false)
  expect(isProofread([spelling], { tool_name: 'find_and_replace' })).toBe(false)
  expect(isProofread([], tool)).toBe(false)
})
