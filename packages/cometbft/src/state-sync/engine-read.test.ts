import { createKeyPair, fromUtf8, utf8 } from '@quorumscan/base'
import { describe, expect, it } from 'vitest'
import { nodeIdOf } from '../engine-files.ts'
import { openAnswer, openRequest, readOf, signAnswer, signRequest } from './engine-read.ts'

const NOW = 1_700_000_000_000_000
const MINUTE = 60_000_000
const genesisHash = 'ab'.repeat(32)
const [asker, asked, stranger] = [createKeyPair(), createKeyPair(), createKeyPair()]
const idOf = (key: { readonly publicKey: string }) => nodeIdOf(key.publicKey)
const read = { method: 'commit', params: { height: '7' } } as const
const from = { to: idOf(asked), nowMicros: NOW, nonce: '00', genesisHash, key: asker }
const at = {
  ownId: idOf(asked),
  isPeer: (nodeId: string) => nodeId === idOf(asker),
  nowMicros: NOW,
  genesisHash,
}

/** The same bytes with another text in them. */
function changed(bytes: Uint8Array, change: (text: string) => string): Uint8Array {
  const { text, ...signed } = JSON.parse(fromUtf8(bytes))
  return utf8(JSON.stringify({ ...signed, text: change(text) }))
}

describe('a request', () => {
  it('returns the read that was signed', () => {
    const { text, bytes } = signRequest(read, from)
    expect(openRequest(bytes, at)).toEqual({ text, read, nodeId: idOf(asker) })
  })

  it.each([
    ['by an unknown key', signRequest(read, { ...from, key: stranger }).bytes, {}],
    ['in another network', signRequest(read, { ...from, genesisHash: 'cd'.repeat(32) }).bytes, {}],
    ['to another member', signRequest(read, { ...from, to: idOf(stranger) }).bytes, {}],
    ['that is too old', signRequest(read, from).bytes, { nowMicros: NOW + MINUTE + 1 }],
    ['of a clock that is ahead', signRequest(read, from).bytes, { nowMicros: NOW - MINUTE - 1 }],
    [
      'that was changed on the way',
      changed(signRequest(read, from).bytes, (text) => text.replace('"7"', '"8"')),
      {},
    ],
  ])('%s is refused', (_, bytes, changes) => {
    expect(() => openRequest(bytes, { ...at, ...changes })).toThrow(
      expect.objectContaining({ code: 'PERMISSION_DENIED' }),
    )
  })

  it.each(['', '{}', 'null', '{"text":"","key":"","signature":""}'])(
    'is malformed if it is %j',
    (text) => {
      expect(() => openRequest(utf8(text), at)).toThrow(
        expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
      )
    },
  )

  it.each<[string, unknown]>([
    ['broadcast_tx_sync', {}],
    ['dial_peers', {}],
    ['commit', { height: '-1' }],
    ['commit', { prove: '1' }],
  ])('%s of %j is no permitted read', (method, params) => {
    expect(readOf(method, params)).toBeNull()
    const { bytes } = signRequest({ method, params } as never, from)
    expect(() => openRequest(bytes, at)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    )
  })
})

describe('an answer', () => {
  const request = signRequest(read, from).text
  const answer = { result: { height: '7' } }
  const to = { from: idOf(asked), request, genesisHash }

  it('returns what the requested engine signed', () => {
    expect(openAnswer(signAnswer(answer, { request, genesisHash, key: asked }), to)).toEqual(answer)
    const refusal = { refusal: 'height 7 is not available' }
    expect(openAnswer(signAnswer(refusal, { request, genesisHash, key: asked }), to)).toEqual(
      refusal,
    )
  })

  it.each([
    ['of another engine', signAnswer(answer, { request, genesisHash, key: stranger })],
    ['to another request', signAnswer(answer, { request: `${request} `, genesisHash, key: asked })],
    [
      'that was changed on the way',
      changed(signAnswer(answer, { request, genesisHash, key: asked }), (text) =>
        text.replace('7', '8'),
      ),
    ],
    ['that is malformed', utf8('[]')],
  ])('%s is refused', (_, bytes) => {
    expect(openAnswer(bytes, to)).toBeNull()
  })
})
