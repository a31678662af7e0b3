/** What `verify` says to good and bad files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKeyPair, sha256Hex, systemRandom, toHex, utf8 } from '@quorumscan/base'
import {
  type CanonicalRequest,
  canonicalRequest,
  encodeAnswerStatement,
  encodeReceipt,
  encodeVerifiedBody,
  type Receipt,
  requestOfLookup,
} from '@quorumscan/consensus'
import { afterAll, describe, expect, it } from 'vitest'
import { UsageError } from '../cluster-error.ts'
import { createGenesis, hashGenesis } from '../genesis.ts'
import { type Asked, verify } from './verify.ts'

const keys = ['sv-1', 'sv-2', 'sv-3', 'sv-4'].map((name) => ({ name, key: createKeyPair() }))
const newGenesis = () =>
  createGenesis({
    nodes: keys.map(({ name, key }) => ({
      name,
      scanKey: key.publicKey,
      operatorKey: createKeyPair().publicKey,
    })),
    ordering: { driver: 'redis', key: createKeyPair().publicKey },
    recordTime: 1_700_000_000_000_000,
    overrides: {},
    random: systemRandom,
  })
const genesis = newGenesis()
const genesis_hash = hashGenesis(genesis)
const directory = mkdtempSync(join(tmpdir(), 'qs-verify-'))
afterAll(() => rmSync(directory, { recursive: true }))

function file(name: string, text: string): string {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}
const genesisFile = file('genesis.json', JSON.stringify(genesis))
const otherGenesisFile = file('other.json', JSON.stringify(newGenesis()))

const NAME = 'alice.unverified.ns'
const ENTRY = `{"entry":{"contract_id":null,"user":"a","name":"${NAME}"}}`
const ABSENT = '{"entry":null}'
const byName = requestOfLookup({ name: NAME })

function statementOf(request: CanonicalRequest, answer: string, offset: number) {
  return {
    offset,
    recordTime: 1_700_000_000_000_001,
    historyHash: 'ab'.repeat(32),
    genesisHash: genesis_hash,
    requestHash: sha256Hex(canonicalRequest(request)),
    answerHash: sha256Hex(utf8(answer)),
  }
}

function receiptOf(
  answer = ENTRY,
  options: { signers?: readonly number[]; request?: CanonicalRequest } = {},
): Receipt {
  const { signers = [0, 1], request = byName } = options
  const { offset, recordTime, historyHash, ...hashes } = statementOf(request, answer, 17)
  const message = encodeAnswerStatement({ offset, recordTime, historyHash, ...hashes })
  return {
    tag: 'quorumscan/answer/1',
    genesis_hash,
    offset,
    record_time: recordTime,
    history_hash: historyHash,
    request,
    answer: toHex(utf8(answer)),
    signatures: signers.map((index) => {
      const { name, key } = keys[index] ?? { name: '', key: createKeyPair() }
      return [name, toHex(key.sign(message))]
    }),
  }
}

const judge = (text: string, more: { asked?: Asked; threshold?: string; genesis?: string } = {}) =>
  verify({
    file: file('subject.json', text),
    genesisFile: more.genesis ?? genesisFile,
    asked: more.asked ?? {},
    threshold: more.threshold ?? 'weak',
  })

describe('a valid receipt', () => {
  it('is told with request, answer, offset, time and signers', async () => {
    const { isValid, text, json } = await judge(encodeReceipt(receiptOf()))
    expect(isValid).toBe(true)
    expect(text).toBe(
      [
        'valid',
        '',
        `request    getEntryByName {"name":"${NAME}"}`,
        `answer     ${ENTRY}`,
        'offset     17',
        'time       2023-11-14T22:13:20.000001Z',
        'signed by  sv-1, sv-2 (2 of 4, 2 needed)',
      ].join('\n'),
    )
    expect(json).toMatchObject({
      valid: true,
      proven: [{ answer: JSON.parse(ENTRY), offset: 17, signers: ['sv-1', 'sv-2'] }],
    })
  })

  it('may lie beside its answer, also one of absence, and in a batch', async () => {
    const present = encodeVerifiedBody({ status: 200, receipt: receiptOf() })
    const absent = encodeVerifiedBody({ status: 404, receipt: receiptOf(ABSENT) })
    const texts = [present, absent].map((bytes) => new TextDecoder().decode(bytes))
    for (const text of [
      ...texts,
      `{"results":[${texts.join()}]}`,
      JSON.stringify(receiptOf(), null, 2),
    ])
      expect(await judge(text), text).toMatchObject({ isValid: true })
  })

  it('fits the request in each of its spellings', async () => {
    const text = encodeReceipt(receiptOf())
    const spelled = `{"parameters":{"name":"${NAME}"},"operation":"getEntryByName"}`
    for (const asked of [{ name: NAME }, { request: spelled }])
      expect(await judge(text, { asked })).toMatchObject({ isValid: true })
  })
})

describe('an invalid receipt', () => {
  const text = encodeReceipt(receiptOf())
  const changed = (change: object) => JSON.stringify({ ...receiptOf(), ...change })
  const doubled = receiptOf(ENTRY, { signers: [0, 0] })
  const stranger = receiptOf(ENTRY, { signers: [0, 1, 9] })
  const shown = (status: number, answer: string, receipt = text) =>
    `{"status":${status},"answer":${answer},"receipt":${receipt}}`

  it.each([
    ['an unknown member', changed({ note: 1 }), {}, 'unknown member'],
    ['a missing member', changed({ tag: undefined }), {}, 'lacks tag'],
    ['a doubled member', text.replace('{', '{"offset":17,'), {}, 'a member occurs twice'],
    [
      'a member hidden by a doubled one',
      text.replace('"name":', '"name":"x","name":'),
      {},
      'twice',
    ],
    ['a doubled signer', JSON.stringify(doubled), {}, 'sv-1 signed the receipt twice'],
    ['a signer that is no node', JSON.stringify(stranger), {}, 'no node of the network'],
    ['too few signers', encodeReceipt(receiptOf(ENTRY, { signers: [2] })), {}, '1 nodes signed'],
    [
      'fewer signers than asked for',
      text,
      { threshold: 'strong' },
      '2 nodes signed the receipt, 3',
    ],
    ['another request', text, { asked: { name: 'bob.unverified.ns' } }, 'for another request'],
    ['another operation', text, { asked: { party: 'a::b' } }, 'for another request'],
    ['another network', text, { genesis: otherGenesisFile }, 'from another network'],
    ['another answer beside it', shown(200, ABSENT), {}, 'not the one that was signed'],
    ['another status beside it', shown(404, ENTRY), {}, 'the status shown'],
    ['no absence, shown as one', shown(404, ABSENT), {}, 'not the one that was signed'],
    ['something beside it', shown(200, ENTRY).replace('{', '{"x":1,'), {}, 'exactly the members'],
    ['no JSON', 'valid', {}, 'cannot be read'],
    ['nothing in it', '', {}, 'cannot be read'],
    ['no object in it', '[]', {}, 'no object'],
    ['an empty batch in it', '{"results":[]}', {}, 'proves nothing'],
    ['one bad answer in a batch', `{"results":[${text},${shown(404, ENTRY)}]}`, {}, 'the status'],
    ['a text that commands the terminal', '{"\\u001b[2J":1,"\\u001b[2J":2}', {}, 'occurs twice'],
  ])('with %s is refused for that', async (_title, document, options, reason) => {
    const judged = await judge(document, options)
    expect(judged.isValid).toBe(false)
    expect(judged.text).toMatch(/^invalid, because /)
    expect(judged.text).toContain(reason)
    expect(judged.text).not.toMatch(/\p{Cc}/u)
  })

  it('is one with any byte changed, whether alone or beside its answer', async () => {
    const body = new TextDecoder().decode(encodeVerifiedBody({ status: 200, receipt: receiptOf() }))
    for (const whole of [text, body])
      for (let position = 0; position < whole.length; position++) {
        const bytes = utf8(whole)
        bytes[position] = (bytes[position] ?? 0) ^ (1 + (position % 7))
        const { isValid } = await judge(new TextDecoder().decode(bytes))
        expect(isValid, `byte ${position} of ${whole}`).toBe(false)
      }
  })
})

describe('evidence', () => {
  const signed = (answer: string, offset = 17) => {
    const statement = encodeAnswerStatement(statementOf(byName, answer, offset))
    const signature = toHex(keys[2]?.key.sign(statement) ?? statement)
    return { statement: toHex(statement), signature }
  }
  const piece = { signer: 'sv-3', statements: [signed(ENTRY), signed(ABSENT)] }

  it('names who contradicts itself, and where', async () => {
    for (const document of [piece, { evidence: [piece] }]) {
      const judged = await judge(JSON.stringify(document))
      expect(judged).toMatchObject({ isValid: true })
      expect(judged.text).toContain('sv-3 signed two different statements (answer) about offset 17')
    }
  })

  it.each([
    ['the same twice', { ...piece, statements: [signed(ENTRY), signed(ENTRY)] }, 'say the same'],
    [
      'two offsets',
      { ...piece, statements: [signed(ENTRY), signed(ABSENT, 18)] },
      'different things',
    ],
    ['another signer', { ...piece, signer: 'sv-1' }, 'signature 1 does not fit'],
    ['no pieces', { evidence: [] }, 'proves nothing'],
    ['a further member', { ...piece, note: 'trust me' }, 'exactly the members'],
  ])('with %s proves nothing', async (_title, document, reason) => {
    const judged = await judge(JSON.stringify(document))
    expect(judged.isValid).toBe(false)
    expect(judged.text).toContain(reason)
  })

  it('answers no request', async () => {
    const asked = { name: NAME }
    expect(await judge(JSON.stringify(piece), { asked })).toMatchObject({ isValid: false })
  })
})

describe('a command that makes no sense', () => {
  const good = { file: file('good.json', '{}'), genesisFile, asked: {}, threshold: 'weak' }

  it.each([
    [{ threshold: '1' }, 'a number from 2 to 4'],
    [{ threshold: '5' }, 'a number from 2 to 4'],
    [{ threshold: 'most' }, 'weak, strong, all'],
    [{ asked: { request: '{"operation":1}' } }, 'a request is'],
    [{ asked: { request: NAME } }, 'a request is'],
    [{ asked: { name: NAME, party: 'a::b' } }, 'say one of'],
    [{ asked: { name: NAME, pageSize: 1 } }, 'of a --prefix'],
    [{ file: join(directory, 'nowhere') }, 'cannot read'],
    [{ genesisFile: join(directory, 'nowhere') }, 'no genesis document'],
    [{ genesisFile: file('bad.json', '{"version":1}') }, 'no genesis document'],
  ])('%j judges nothing', async (change, reason) => {
    const refused = verify({ ...good, ...change })
    await expect(refused).rejects.toThrow(reason)
    await expect(refused).rejects.toThrow(UsageError)
  })
})
