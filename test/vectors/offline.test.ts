/** A stored document verifies with only the genesis document, without network, files or clock. */
import { webcrypto } from 'node:crypto'
import { createContext, runInContext } from 'node:vm'
import { expect, it } from 'vitest'
import { buildVerifier, readStored } from '../support/offline-verifier.ts'

it('the verifier needs no network, file, module or clock', async () => {
  // The only globals in addition to the language: no fetch, socket, process or require.
  const context = createContext({ TextDecoder, TextEncoder, atob, btoa, crypto: webcrypto })
  runInContext('delete globalThis.Date', context)
  runInContext(await buildVerifier(), context)
  expect(runInContext('typeof fetch + typeof process + typeof require', context)).toBe(
    'undefined'.repeat(3),
  )
  const stored = readStored()
  for (const vector of stored.vectors) {
    const verified = context['verify'](stored.genesis, vector)
    if ('refuse' in vector) await expect(verified, vector.name).rejects.toThrow()
    // Its objects are of another realm.
    else expect(JSON.stringify((await verified).answer)).toBe(JSON.stringify(vector.answer))
  }
})
