import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatPageToken, type PageSubject, parsePageToken } from './page-token.ts'

const genesisHash = 'ab'.repeat(32)
const prefix = (text: string): PageSubject => ({ kind: 'prefix', prefix: text })
const wellFormed = fc.string({ unit: 'grapheme', maxLength: 60 })
const offsets = fc.nat({ max: Number.MAX_SAFE_INTEGER })

it('a token returns its name and offset', () => {
  fc.assert(
    fc.property(wellFormed, wellFormed, offsets, (start, rest, offset) => {
      const after = start + rest
      const token = formatPageToken(genesisHash, prefix(start), { after, offset })
      expect(token).toMatch(/^[A-Za-z0-9_-]{1,1024}$/)
      expect(parsePageToken(genesisHash, prefix(start), token)).toEqual({ after, offset })
    }),
  )
})

it('a token is refused for another list, another network, and with any character changed', () => {
  const token = formatPageToken(genesisHash, prefix('al'), {
    after: 'alice.unverified.ns',
    offset: 7,
  })
  const refused = (hash: string, subject: PageSubject, text: string) =>
    expect(parsePageToken(hash, subject, text), text).toBeUndefined()
  refused(genesisHash, prefix('ali'), token)
  refused(genesisHash, { kind: 'party', party: 'al' }, token)
  refused('cd'.repeat(32), prefix('al'), token)
  for (let index = 0; index < token.length; index++)
    for (const character of ['A', 'b', '-'])
      if (token[index] !== character)
        refused(
          genesisHash,
          prefix('al'),
          token.slice(0, index) + character + token.slice(index + 1),
        )
})

it('any other text is refused without an exception', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z0-9_-]{1,100}$/), (text) => {
      expect(parsePageToken(genesisHash, prefix(''), text)).toBeUndefined()
    }),
  )
})
