import { expect, it } from 'vitest'
import type { MarkKind } from '../review/state/marks.ts'
import { policyWords, withPolicy } from './policies.ts'

it('says for which tool and size who decides', () => {
  expect(policyWords({ tool: 'update_full_document', over: 2000, policy: 'owner' })).toBe(
    'Rewrite above 2000 characters: an owner',
  )
  expect(policyWords({ over: 5, policy: 'two' })).toBe('Every tool above 5 characters: two people')
})

it('adds one, in place of what was said of the same tool and size', () => {
  const one = withPolicy([], { tool: 'Write', over: ' 20 ', marks: [], policy: 'owner' })
  expect(one).toEqual([{ tool: 'Write', over: 20, policy: 'owner' }])
  expect(withPolicy(one ?? [], { tool: 'Write', over: '20', marks: [], policy: 'two' })).toEqual([
    { tool: 'Write', over: 20, policy: 'two' },
  ])
  expect(
    withPolicy(one ?? [], { tool: 'Write', over: '20', marks: [], policy: 'owner' }),
  ).toBeNull()
})

it('adds nothing that is no policy for a part of the changes', () => {
  for (const over of ['', 'few', '-1', '1.5'])
    expect(withPolicy([], { tool: '', over, marks: [], policy: 'owner' })).toBeNull()
})

it('is about changes of meaning, in words', () => {
  const about = (marks: readonly MarkKind[]) => ({
    tool: '',
    over: '',
    marks,
    policy: 'two' as const,
  })
  const one = withPolicy([], about(['name', 'number']))
  expect(one).toEqual([{ marks: ['number', 'name'], policy: 'two' }])
  expect(policyWords(one![0]!)).toBe('Changes of numbers and names: two people')
  expect(withPolicy(one!, about(['number', 'name']))).toBeNull()
  expect(withPolicy(one!, about(['quote']))).toHaveLength(2)
  expect(policyWords({ marks: ['quote'], over: 9, policy: 'owner' })).toBe(
    'Changes of quotations, Every tool above 9 characters: an owner',
  )
})
