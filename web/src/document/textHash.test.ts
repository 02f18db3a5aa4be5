import { Text } from '@codemirror/state'
import { afterEach, expect, it, vi } from 'vitest'
import { hasHash } from './textHash.ts'

/** As the server computes it of the text's UTF-8. */
const HASH = 'c4225c48f2fbded1299a2f5b5edab7c204d497eaaf7ce2f51dcaea49a9c551f4'
const TEXT = 'Grüße 😀\nend'

afterEach(() => vi.unstubAllGlobals())

it('knows a text by its hash', async () => {
  expect(await hasHash(Text.of(TEXT.split('\n')).toString(), HASH)).toBe(true)
  expect(await hasHash(`${TEXT}.`, HASH)).toBe(false)
  expect(await hasHash(TEXT, HASH.slice(2))).toBe(false)
})

it('compares nothing where the browser computes no hash', async () => {
  vi.stubGlobal('crypto', {})
  expect(await hasHash('other', HASH)).toBe(true)
})
