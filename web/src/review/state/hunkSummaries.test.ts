import { Text } from '@codemirror/state'
import { expect, it } from 'vitest'
import type { Hunk } from '../../wire/generated.ts'
import { hunkSummaries } from './hunkSummaries.ts'

const hunk = (id: string, from: number, base: string, insert: string): Hunk => ({
  id,
  request_id: 'req',
  status: 'pending',
  kind: 'rewrite',
  parts: [{ from, to: from + base.length, base, insert }],
})
const nobody = { approvedBy: () => '', edits: {}, later: new Set<string>() }

it('keeps the rows that show the same, wherever their changes have moved', () => {
  const hunks = [hunk('a', 4, 'lamp', 'light'), hunk('b', 20, 'fog', 'mist')]
  const before = hunkSummaries(hunks, Text.of(['The lamp burned. The fog came.']), nobody)
  const moved = [hunk('a', 4, 'lamp', 'light'), hunk('b', 25, 'fog', 'mist')]
  const doc = Text.of(['The lamp burned. Cold and the fog came.'])
  moved[1]!.parts[0]!.from = doc.toString().indexOf('fog')
  moved[1]!.parts[0]!.to = moved[1]!.parts[0]!.from + 3
  const [a, b] = hunkSummaries(moved, doc, nobody, before)
  expect(b).not.toBe(before[1])
  expect(b?.pieces.map(({ text }) => text).join('')).toContain('Cold')
  const far = hunkSummaries(hunks, Text.of(['The lamp burned. The fog came.']), nobody, before)
  expect(far[0]).toBe(before[0])
  expect(far[1]).toBe(before[1])
  expect(a?.label).toBe('Remove: lamp. Insert: light.')
})

it('draws a row anew that was approved or edited, or whose words changed', () => {
  const doc = Text.of(['The lamp burned.'])
  const hunks = [hunk('a', 4, 'lamp', 'light')]
  const before = hunkSummaries(hunks, doc, nobody)
  const bo = { ...nobody, approvedBy: () => 'Approved by Bo' }
  expect(hunkSummaries(hunks, doc, bo, before)[0]).not.toBe(before[0])
  const edited = { ...nobody, edits: { a: 'kept' } }
  expect(hunkSummaries(hunks, doc, edited, before)[0]).toMatchObject({
    isEdited: true,
    label: 'Remove: lamp. Insert: kept. Edit saved.',
  })
  const later = { ...nobody, later: new Set(['a']) }
  expect(hunkSummaries(hunks, doc, later, before)[0]).toMatchObject({
    isLater: true,
    label: 'Remove: lamp. Insert: light. For later.',
  })
  const changed = [{ ...hunks[0]!, status: 'conflict' as const }]
  expect(hunkSummaries(changed, doc, nobody, before)[0]?.isConflict).toBe(true)
})
