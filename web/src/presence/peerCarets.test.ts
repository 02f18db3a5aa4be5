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

it('gives people the colours that they have elsewhere, and one person with two tabs one', () => {
  const looks = new Map([
    ['u Ana', 4],
    ['u Bo', 1],
    ['v Cy', 2],
  ])
  const colours = withColors(
    [
      peer('1', 'u', 'Ana', 0),
      peer('2', 'u', 'Bo', 0),
      peer('3', 'u', 'Ana', 0),
      peer('4', 'v', 'Cy', 1),
    ],
    looks,
  )
  expect(colours.map((one) => one.color)).toEqual([0, 1, 0, 2])
})
