import { expect, it } from 'vitest'
import { connectRefusal } from './socket.ts'

it('reads the code of a refused handshake up to the first colon', () => {
  expect(connectRefusal('unauthorized: a token is needed')).toEqual({
    code: 'unauthorized',
    message: 'a token is needed',
  })
  expect(connectRefusal('invalid_payload: name: not text')).toEqual({
    code: 'invalid_payload',
    message: 'name: not text',
  })
  expect(connectRefusal('no code at all')).toEqual({ code: '', message: 'no code at all' })
})
