/** In ten years: a stored document, the genesis document, and nothing that could ask anybody. */
import { webcrypto } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import type { Vector } from './certified.ts'

const CODE = `
  import { createWebCrypto, hashGenesis, parseGenesis } from '@quorumscan/consensus'
  import { createCertifiedVerifier, questionOf, sha256 } from '@quorumscan/consensus/certified'

  globalThis.verify = async (text, { request, document, signers }) => {
    const genesis = parseGenesis(JSON.parse(text))
    const network = { genesis, genesisHash: await hashGenesis(genesis), sha256 }
    const verifier = createCertifiedVerifier({ ...network, crypto: createWebCrypto() })
    return await verifier.verify(document, questionOf(request, network), signers)
  }`

it('a stored document is verified where there is no network, no file and no module', async () => {
  const { outputFiles } = await build({
    stdin: { contents: CODE, resolveDir: import.meta.dirname },
    conditions: ['@quorumscan/source'],
    bundle: true,
    format: 'iife',
    write: false,
  })
  // All that the verifier gets beside the language: no fetch, no socket, no process, no require.
  const context = createContext({ TextDecoder, TextEncoder, atob, btoa, crypto: webcrypto })
  runInContext(outputFiles[0]?.text ?? '', context)
  expect(runInContext('typeof fetch + typeof process + typeof require', context)).toBe(
    'undefined'.repeat(3),
  )
  const text = readFileSync(join(import.meta.dirname, 'certified.json'), 'utf8')
  const stored = JSON.parse(text) as { readonly genesis: string; readonly vectors: Vector[] }
  for (const vector of stored.vectors) {
    const verified = context['verify'](stored.genesis, vector)
    if ('refuse' in vector) await expect(verified, vector.name).rejects.toThrow()
    // Its objects are of another realm.
    else expect(JSON.stringify((await verified).answer)).toBe(JSON.stringify(vector.answer))
  }
})
