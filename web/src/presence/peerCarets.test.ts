import { expect, it } from 'vitest'
import type { Peer } from '../wire/generated.ts'
import { withColors } from './peerCarets.ts'

const peer = (id: string, user: string, name: string, color: number): Peer => ({
  id,
  user,
  name,
  role: 'owner',
  color,
  clientIDs: [],
})

it('gives two people of one account different colours, and one person with two tabs the same', () => {
  const colours = withColors([
    peer('1', 'u', 'Ana', 0),
    peer('2', 'u', 'Bo', 0),
    peer('3', 'u', 'Ana', 0),
    peer('4', 'v', 'Cy', 1),
  ])
  expect(colours.map((one) => one.color)).toEqual([0, 1, 0, 2])
})
