import { utf8 } from '@quorumscan/verifier'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromHex, fromUtf8, toHex } from './bytes.ts'
import { EnvError, readEnv, type Variable } from './env.ts'
import { createKeyPair, keyPairFromSeed, verifySignature } from './keys.ts'
import { systemRandom } from './random.ts'
import { retry } from './waiting.ts'

describe('keys', () => {
  it('matches test 1 of RFC 8032', () => {
    const pair = keyPairFromSeed('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60')
    expect(pair.publicKey).toBe('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a')
    expect(toHex(pair.sign(new Uint8Array()))).toBe(
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    )
  })

  it('finds every changed byte of message and signature, and survives invalid keys', () => {
    const pair = createKeyPair()
    const message = utf8('quorum')
    const signature = pair.sign(message)
    const { publicKey } = pair
    expect(verifySignature({ publicKey, message, signature })).toBe(true)
    for (let index = 0; index < 64; index++) {
      const changed = signature.slice()
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(verifySignature({ publicKey, message, signature: changed }), `byte ${index}`).toBe(
        false,
      )
    }
    expect(verifySignature({ publicKey, message: utf8('Quorum'), signature })).toBe(false)
    for (const bad of ['', 'zz', 'f'.repeat(64), publicKey.toUpperCase()])
      expect(verifySignature({ publicKey: bad, message, signature }), bad).toBe(false)
  })
})

describe('bytes', () => {
  it('decodes only lower-case hex of even length', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => toHex(fromHex(toHex(bytes))) === toHex(bytes)),
    )
    for (const bad of ['0', 'AB', 'xy', '0x00']) expect(() => fromHex(bad), bad).toThrow(RangeError)
  })
  it('refuses malformed UTF-8 and keeps a byte order mark', () => {
    for (const bad of ['ff', 'c080', 'eda080', 'f4908080'])
      expect(() => fromUtf8(fromHex(bad)), bad).toThrow(TypeError)
    expect(fromUtf8(fromHex('efbbbf41'))).toBe('\ufeffA')
  })
})

describe('readEnv', () => {
  it('reports all missing and invalid variables at once', () => {
    const spec = { about: 'something', example: '1' }
    const noted: Variable[] = []
    const read = () =>
      readEnv(
        { QS_PORT: '70000', QS_N: 'x' },
        (v) => [
          v.text('QS_HOST', spec),
          v.integer('QS_PORT', { ...spec, range: [0, 65535] }),
          v.integer('QS_N', { ...spec, range: [0, 1] }),
          v.integer('QS_OK', { ...spec, range: [0, 1], fallback: 1 }),
          v.optional('QS_MORE', spec),
        ],
        (variable) => noted.push(variable),
      )
    expect(read).toThrow(EnvError)
    noted.length = 0
    expect(read).toThrow(/^QS_HOST.*\nQS_PORT.*\nQS_N [^\n]*$/)
    expect(noted.map(({ name, fallback }) => [name, fallback])).toEqual([
      ['QS_HOST', null],
      ['QS_PORT', null],
      ['QS_N', null],
      ['QS_OK', '1'],
      ['QS_MORE', ''],
    ])
  })
})

describe('retry', () => {
  const run = async (failures: number, isRetryable: boolean) => {
    const delays: number[] = []
    let calls = 0
    const result = await retry(
      async () => {
        if (++calls <= failures) throw new Error(`failure ${calls}`)
        return calls
      },
      {
        clock: {
          nowMicros: () => 0,
          monotonicMs: () => 0,
          delay: async (ms) => {
            delays.push(ms)
          },
        },
        random: { ...systemRandom, fraction: () => 0.5 },
        signal: new AbortController().signal,
        attemptsMax: 4,
        delayMsMin: 100,
        delayMsMax: 300,
        isRetryable: () => isRetryable,
      },
    ).catch((error: Error) => error.message)
    return { result, delays }
  }
  it('doubles the delay up to the maximum, with equal jitter', async () => {
    expect(await run(3, true)).toEqual({ result: 4, delays: [75, 150, 225] })
  })
  it('gives up after the last attempt with the last error', async () => {
    expect((await run(9, true)).result).toBe('failure 4')
  })
  it('does not retry errors that are not retryable', async () => {
    expect(await run(1, false)).toEqual({ result: 'failure 1', delays: [] })
  })
})
