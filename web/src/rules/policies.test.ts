import { expect, it } from 'vitest'
import { policyWords, withPolicy } from './policies.ts'

it('says for which tool and size who decides', () => {
  expect(policyWords({ tool: 'update_full_document', over: 2000, policy: 'owner' })).toBe(
    'Rewrite above 2000 characters: an owner',
  )
  expect(policyWords({ over: 5, policy: 'two' })).toBe('Every tool above 5 characters: two people')
})

it('adds one, in place of what was said of the same tool and size', () => {
  const one = withPolicy([], { tool: 'Write', over: ' 20 ', policy: 'owner' })
  expect(one).toEqual([{ tool: 'Write', over: 20, policy: 'owner' }])
  expect(withPolicy(one ?? [], { tool: 'Write', over: '20', policy: 'two' })).toEqual([
    { tool: 'Write', over: 20, policy: 'two' },
  ])
  expect(withPolicy(one ?? [], { tool: 'Write', over: '20', policy: 'owner' })).toBeNull()
})

it('adds nothing that is no policy for a part of the changes', () => {
  for (const over of ['', 'few', '-1', '1.5'])
    expect(withPolicy([], { tool: '', over, policy: 'owner' })).toBeNull()
})
