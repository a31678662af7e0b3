import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createWebCrypto, hashGenesis, parseGenesis } from '@quorumscan/consensus'
import { createCertifiedVerifier, questionOf, sha256 } from '@quorumscan/consensus/certified'
import { describe, expect, it } from 'vitest'
import { buildCertified, type Vector } from './certified.ts'

const path = (name: string) => join(import.meta.dirname, name)
const text = readFileSync(path('certified.json'), 'utf8')
const file = JSON.parse(text) as { readonly genesis: string; readonly vectors: readonly Vector[] }

describe('published vectors of certified reads', () => {
  // `vitest run --project vectors -u` writes them.
  it('are what the code makes', async () => {
    await expect(await buildCertified()).toMatchFileSnapshot(path('certified.json'))
  })

  it('are of documents that prove something, and of documents to refuse', () => {
    expect(file.vectors.filter((vector) => 'answer' in vector).length).toBeGreaterThan(40)
    expect(file.vectors.filter((vector) => 'refuse' in vector).length).toBeGreaterThan(70)
  })

  it.each(file.vectors)('$name, by the library', async (vector) => {
    const genesis = parseGenesis(JSON.parse(file.genesis))
    const network = { genesis, genesisHash: await hashGenesis(genesis), sha256 }
    const verifier = createCertifiedVerifier({ ...network, crypto: createWebCrypto() })
    const question = questionOf(vector.request, network)
    const verified = verifier.verify(vector.document, question, vector.signers)
    if ('refuse' in vector) await expect(verified).rejects.toMatchObject({ name: 'InvalidProof' })
    else expect(await verified).toMatchObject({ answer: vector.answer, signers: vector.signed_by })
  })

  it('are judged alike by a verifier in another language', () => {
    const script = path('verify_certified.py')
    const judged = execFileSync('python3', [script, path('certified.json')], { encoding: 'utf8' })
    const expected = file.vectors.map((vector) =>
      'answer' in vector
        ? { answer: vector.answer, offset: 42, signed_by: vector.signed_by }
        : { refused: expect.any(String) },
    )
    expect(JSON.parse(judged)).toEqual(expected)
  })
})
