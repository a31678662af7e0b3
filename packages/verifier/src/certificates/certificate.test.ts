import { describe, expect, it } from 'vitest'
import { createTestNetwork } from '../certified/testing/network.ts'
import type { InvalidProof } from '../proof/invalid-proof.ts'
import {
  type Certificate,
  combineCertificates,
  encodeCertificate,
  parseCertificate,
  verifySignatures,
} from './certificate.ts'
import { createCertificateChecks } from './certificate-checks.ts'

type Signed = Certificate['signatures'][number]
const network = createTestNetwork(4)
const point = {
  offset: 42,
  recordTime: 1_700_000_000_123_456,
  historyHash: 'cd'.repeat(32),
  stateRoot: 'ef'.repeat(32),
}
const certificate = network.certificateOf(point, [0, 2, 3])
const text = encodeCertificate(certificate)

const judge = (one: Certificate) =>
  verifySignatures(one, network).then(
    () => 'genuine',
    ({ code }: InvalidProof) => code,
  )

describe('a certificate', () => {
  it('has one canonical text', () => {
    expect(parseCertificate(text)).toEqual(certificate)
    expect(text).toBe(JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text)).sort())))
  })

  it('with any byte changed, removed or doubled is refused', async () => {
    const checks = createCertificateChecks(network)
    for (let index = 0; index < text.length; index++)
      for (const between of [
        String.fromCharCode(text.charCodeAt(index) ^ 1),
        '',
        text.slice(index, index + 1).repeat(2),
        `${text[index]} `,
      ]) {
        const changed = text.slice(0, index) + between + text.slice(index + 1)
        // Two digits in a row that are equal can be exchanged.
        if (changed !== text)
          await expect(checks.check(changed), `${index}: ${changed}`).rejects.toThrow(
            expect.objectContaining({ name: 'InvalidProof' }),
          )
      }
  })

  it.each([
    ['null'],
    ['7'],
    ['"x"'],
    ['[]'],
    ['{}'],
    [text.replace('"offset":42', '"offset":42.0')],
    [text.replace('"offset":42', '"offset":-0')],
    [text.replace('"offset":42', '"offset":9007199254740992')],
    [text.replace('{', '{"a":1,')],
    [text.replace('"offset":42', '"offset":42,"offset":42')],
    [text.replace('"offset":42', '"__proto__":{},"offset":42')],
    [text.replaceAll('ef', 'EF')],
    [text.replace('["sv-1",', '["sv-1",1,')],
    [`${text}\n`],
    [text.replace('"sv-1"', `"${'x'.repeat(30_000)}"`)],
  ])('is not %j', (other) => {
    expect(() => parseCertificate(other)).toThrow(expect.objectContaining({ code: 'MALFORMED' }))
  })

  it('is signed by members, each once, in the order of the genesis', async () => {
    const [first, second, third] = certificate.signatures as [Signed, Signed, Signed]
    const signed = (...signatures: unknown[]) =>
      judge({ ...certificate, signatures } as unknown as Certificate)
    expect(await judge(certificate)).toBe('genuine')
    expect(await signed(first)).toBe('genuine')
    expect(await signed()).toBe('genuine') // Without signatures: the reader counts them.
    expect(await signed(first, first)).toBe('BAD_SIGNATURE')
    expect(await signed(second, first)).toBe('BAD_SIGNATURE')
    expect(await signed(first, second, third, ['sv-9', first[1]])).toBe('BAD_SIGNATURE')
    expect(await signed(['sv-2', first[1]])).toBe('BAD_SIGNATURE')
    const foreign = network.signatureOf(0, point, 'ab'.repeat(32))
    expect(await signed(['sv-1', foreign])).toBe('BAD_SIGNATURE')
    expect(await signed(first, ['sv-2', first[1]], second)).toBe('BAD_SIGNATURE')
  })

  it('belongs to its network, and its signatures cover each JSON member', async () => {
    expect(await judge({ ...certificate, genesisHash: 'ab'.repeat(32) })).toBe('OTHER_GENESIS')
    for (const change of [
      { offset: 43 },
      { recordTime: point.recordTime + 1 },
      { historyHash: point.stateRoot },
      { stateRoot: point.historyHash },
    ])
      expect(await judge({ ...certificate, ...change })).toBe('BAD_SIGNATURE')
  })

  it('is combined from others with the same content', async () => {
    const others = [[3], [0], [0, 2]].map((signers) => network.certificateOf(point, signers))
    const [a, b, c] = others as [Certificate, Certificate, Certificate]
    expect(combineCertificates([a, b, c], network.genesis)).toEqual(certificate)
    const other = network.certificateOf({ ...point, stateRoot: '00'.repeat(32) }, [1])
    expect(() => combineCertificates([a, other], network.genesis)).toThrow(RangeError)
  })
})

describe('checks of certificates', () => {
  it('run once for each valid text, and again for an invalid one', async () => {
    let count = 0
    const counting = {
      verifyEd25519: async (input: Parameters<typeof network.crypto.verifyEd25519>[0]) => {
        count += 1
        return await network.crypto.verifyEd25519(input)
      },
    }
    const checks = createCertificateChecks({ ...network, crypto: counting })
    const both = await Promise.all([checks.check(text), checks.check(text)])
    expect(both[0]).toBe(await checks.check(text))
    expect(both[0]).toMatchObject({ offset: 42, signers: ['sv-1', 'sv-3', 'sv-4'] })
    expect(count).toBe(3)
    const bad = text.replace('"offset":42', '"offset":43')
    for (const _ of [1, 2]) await expect(checks.check(bad)).rejects.toThrow('does not verify')
    expect(count).toBe(9)
  })

  it('drop the least recently used certificate', async () => {
    let count = 0
    const crypto = {
      async verifyEd25519() {
        count += 1
        return true
      },
    }
    const checks = createCertificateChecks({ ...network, crypto })
    const textAt = (offset: number) =>
      encodeCertificate({ ...certificate, offset, signatures: certificate.signatures.slice(0, 1) })
    for (let offset = 0; offset < 40; offset++) {
      await checks.check(textAt(offset))
      await checks.check(textAt(0))
    }
    expect(count).toBe(40)
    await checks.check(textAt(1))
    expect(count).toBe(41)
  })
})
