import { expect, it } from 'vitest'
import { canComment, canDecide } from '../../session/roles.ts'
import type { Comment, CommentThread, Role } from '../../wire/generated.ts'
import { canDelete, canEdit, lengthNote, notSent, refusedBefore } from './rights.ts'

const comment: Comment = {
  id: 'cmt_1',
  author: { id: 'bo', name: 'Bo' },
  text: 'Why?',
  at: '2026-11-28T10:00:00Z',
  mentions: [],
}

it('lets all but viewers and guests comment, and suggesters decide nothing', () => {
  const roles = ['owner', 'editor', 'reviewer', 'suggester', 'viewer', 'guest'] as Role[]
  expect(roles.filter(canComment)).toEqual(['owner', 'editor', 'reviewer', 'suggester'])
  expect(roles.filter(canDecide)).toEqual(['owner', 'editor', 'reviewer'])
})

it('lets people edit and delete what is theirs, and an owner delete what is not', () => {
  const bo = { id: 'bo', role: 'reviewer' } as const
  const cy = { id: 'cy', role: 'editor' } as const
  const owner = { id: 'ana', role: 'owner' } as const
  expect([bo, cy, owner].map((who) => canEdit(comment, who.id))).toEqual([true, false, false])
  expect([bo, cy, owner].map((who) => canDelete(comment, who))).toEqual([true, false, true])
  const imported = { ...comment, claimedAuthor: { name: 'Di' } }
  expect([canEdit(imported, 'bo'), canDelete(imported, bo)]).toEqual([false, true])
  const deleted = { ...comment, deleted: true }
  expect([bo, owner].map((who) => canDelete(deleted, who))).toEqual([false, false])
})

it('says before sending what is too long or too much', () => {
  expect(refusedBefore('🙂'.repeat(10_000))).toBeNull()
  expect(refusedBefore('🙂'.repeat(10_002))).toBe('2 characters too long.')
  const full = { comments: Array.from({ length: 200 }, () => comment) } as CommentThread
  expect(refusedBefore('One more', full)).toContain('200 comments')
  expect(lengthNote('short')).toBeNull()
  expect(lengthNote('x'.repeat(9_120))).toBe('9,120 of 10,000 characters')
})

it.each(['offline', 'not_allowed', 'rate_limited', 'not_found', 'words_gone'])(
  'says that the words are kept after %s',
  (code) => {
    expect(notSent({ code, message: 'its words were deleted' })).toMatch(
      /^Not sent: .*kept as a draft/,
    )
  },
)
