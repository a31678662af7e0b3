import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { required } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { verifyVector } from '../support/library-verifier.ts'
import { RULES, type Vector } from '../support/vector.ts'
import { buildCertified } from './certified.ts'

const path = (name: string) => join(import.meta.dirname, name)
const text = readFileSync(path('certified.json'), 'utf8')
const file = JSON.parse(text) as { readonly genesis: string; readonly vectors: readonly Vector[] }

/** The report of the library's verifier: class and message of the error. */
function reportOf(error: unknown): string {
  const { name, code = name, message } = error as Error & { readonly code?: string }
  return `${code}: ${message}`
}

describe('published vectors of certified reads', () => {
  // `vitest run --project vectors -u` writes them.
  it('equal those that the code builds', async () => {
    await expect(await buildCertified()).toMatchFileSnapshot(path('certified.json'))
  })

  it('have unique names, and cover every rule', () => {
    expect(new Set(file.vectors.map(({ name }) => name)).size).toBe(file.vectors.length)
    const broken = file.vectors.flatMap((vector) => ('refuse' in vector ? [vector.refuse] : []))
    expect(new Set(broken)).toEqual(new Set(Object.keys(RULES)))
  })

  it('cover exactly the rules that the page for implementers lists', () => {
    const page = readFileSync(path('../../docs/certified-reads.md'), 'utf8')
    const table = page.split('\n| rule | class | what is refused |\n')[1]?.split('\n\n')[0] ?? ''
    const listed = table
      .split('\n')
      .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)])
    expect(listed.map(([, rule]) => rule)).toEqual(Object.keys(RULES))
  })

  it.each(file.vectors)('the library verifies or refuses: $name', async (vector) => {
    const verified = verifyVector(file.genesis, vector)
    if ('answer' in vector)
      expect(await verified).toMatchObject({ answer: vector.answer, signers: vector.signed_by })
    else {
      const report = await verified.then(() => 'proven', reportOf)
      expect(
        RULES[vector.refuse].some((one) => one.test(report)),
        `${vector.refuse}: ${report}`,
      ).toBe(true)
    }
  })

  it('get the same results from a verifier in Python', () => {
    const script = path('verify_certified.py')
    const results = execFileSync(required('python3'), [script, path('certified.json')], {
      encoding: 'utf8',
    })
    const expected = file.vectors.map((vector) =>
      'answer' in vector
        ? { answer: vector.answer, offset: 42, signed_by: vector.signed_by }
        : { refused: vector.refuse },
    )
    const nameOf = (_: unknown, index: number) => file.vectors[index]?.name
    const named = (list: readonly unknown[]) => list.map((one, index) => [nameOf(one, index), one])
    expect(named(JSON.parse(results))).toEqual(named(expected))
  })
})
