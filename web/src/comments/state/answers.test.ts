import { expect, it } from 'vitest'
import { proposalWords, waitingWords } from './answers.ts'

const proposal = (
  status: Parameters<typeof proposalWords>[0]['status'],
  accepted: number,
  of: number,
) => ({
  request_id: 'req_1',
  status,
  accepted,
  of,
})

it('says what became of a proposal', () => {
  const words = (...[status, accepted, of]: Parameters<typeof proposal>) =>
    proposalWords(proposal(status, accepted, of))
  expect(words('pending', 0, 1)).toBe('1 change waits for a decision')
  expect(words('pending', 0, 2)).toBe('2 changes wait for a decision')
  expect(words('pending', 1, 3)).toBe('1 of 3 changes accepted, the others wait for a decision')
  expect(words('partly', 2, 3)).toBe('2 of 3 changes accepted')
  expect(words('approved', 1, 1)).toBe('1 change was accepted')
  expect(words('rejected', 0, 2)).toBe('2 changes were rejected')
  expect(words('pending', 0, 0)).toBe('A plan waits for a decision')
})

it('waits for the AI, and then for people', () => {
  expect(waitingWords([])).toBe('AI is answering…')
  expect(waitingWords([proposal('rejected', 0, 1)])).toBe('AI is answering…')
  expect(waitingWords([proposal('pending', 0, 1)])).toBe('AI answers once that is decided.')
})
