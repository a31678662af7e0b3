import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromHex, keyPairFromSeed, sha256, toHex, verifySignature } from '@quorumscan/base'
import {
  canonicalRequest,
  createEvidenceLog,
  encodeAnswerStatement,
  encodeLogGroupStatement,
  encodeReceipt,
  encodeSnapshotStatement,
  encodeStateStatement,
  encodeVerifiedBody,
  RECEIPT_DECISIONS,
  type Receipt,
  requestOfLookup,
  type SignedAnswer,
  utf8,
  verifyEvidence,
  verifyReceipt,
} from '@quorumscan/consensus'
import { describe, expect, it } from 'vitest'
import {
  buildReceipts,
  buildStatements,
  genesis,
  genesisHash,
  keyPairs,
  presentReceipt,
  receiptOf,
  synchronizer,
} from './build.ts'

const file = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8')
const any = { genesis, request: 'any' } as const
const alice = requestOfLookup({ name: 'alice.unverified.ns' })

const receiptLines = file('receipts.txt')
  .split('\n')
  .filter((line) => /^(valid|invalid) /.test(line))
  .map((line) => {
    const [verdict = '', name = ''] = line.split(' ', 2)
    return { verdict, name, text: line.slice(verdict.length + name.length + 2) }
  })

describe('published vectors', () => {
  it('are what the code makes', () => {
    expect(file('statements.txt')).toBe(buildStatements())
    expect(file('receipts.txt')).toBe(buildReceipts())
  })

  it('of statements are signed by the key they name', () => {
    const rows = file('statements.txt')
      .split('\n')
      .map((line) => line.split(' '))
    const publicKey = rows.find(([kind]) => kind === 'public-key')?.[1] ?? ''
    const statements = rows.filter((row) => row.length === 3 && row[0] !== '#')
    expect(statements).toHaveLength(6)
    for (const [kind, statement = '', signature = ''] of statements) {
      const message = fromHex(statement)
      const isValid = verifySignature({ publicKey, message, signature: fromHex(signature) })
      expect(isValid, kind).toBe(true)
      expect(new TextDecoder().decode(message.subarray(0, message.indexOf(0)))).toBe(
        `quorumscan/${kind}/1`,
      )
    }
  })

  it.each(receiptLines)('$verdict: $name, by the library', async ({ verdict, text }) => {
    const verified = await verifyReceipt(text, any).then(
      () => 'valid',
      (error) => {
        expect(error.name).toBe('ReceiptError')
        return 'invalid'
      },
    )
    expect(verified).toBe(verdict)
  })

  it('are judged alike by a verifier in shell', () => {
    const directory = mkdtempSync(join(tmpdir(), 'qs-receipts-'))
    try {
      const genesisFile = join(directory, 'genesis')
      const line = file('receipts.txt')
        .split('\n')
        .find((one) => one.startsWith('genesis '))
      writeFileSync(genesisFile, line?.slice('genesis '.length) ?? '')
      for (const { verdict, name, text } of receiptLines) {
        const receiptFile = join(directory, 'receipt')
        writeFileSync(receiptFile, text)
        const script = join(import.meta.dirname, 'verify-receipt.sh')
        let output: string
        try {
          output = execFileSync(script, [genesisFile, receiptFile], { encoding: 'utf8' })
        } catch (error) {
          output = (error as { stdout: string }).stdout
        }
        // That it was moved to another request only shows to who knows the request.
        expect(output.split(/[,:]/)[0], `${name}: ${output}`).toBe(verdict)
      }
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})

describe('a receipt', () => {
  const verify = (receipt: unknown, options: object = {}) =>
    verifyReceipt(receipt, { ...any, ...options })

  it('gives the answer, and who signed it', async () => {
    const verified = await verify(encodeReceipt(presentReceipt), { request: alice })
    expect(JSON.parse(new TextDecoder().decode(verified.answer)).entry.name).toBe(
      'alice.unverified.ns',
    )
    expect(verified).toMatchObject({ signers: ['sv-1', 'sv-2'], offset: 42, threshold: 2 })
  })

  it('for another request is refused', async () => {
    const request = requestOfLookup({ name: 'bob.unverified.ns' })
    await expect(verify(presentReceipt, { request })).rejects.toMatchObject({
      code: 'OTHER_REQUEST',
    })
  })

  it('has to meet what the caller asks, not what it says', async () => {
    await expect(verify(presentReceipt, { threshold: 3 })).rejects.toMatchObject({
      code: 'TOO_FEW_SIGNERS',
    })
    await expect(verify(presentReceipt, { threshold: 1 })).resolves.toMatchObject({ threshold: 2 })
    await expect(verify(presentReceipt, { threshold: 5 })).rejects.toThrow(RangeError)
    // What a command line makes of `--threshold two`; nothing is below it.
    await expect(verify(presentReceipt, { threshold: Number.NaN })).rejects.toThrow(RangeError)
    const nowMicros = presentReceipt.record_time + 60_000_001
    const freshness = { nowMicros, maxAgeMs: 60_000 }
    await expect(verify(presentReceipt, { freshness })).rejects.toMatchObject({ code: 'TOO_OLD' })
    const unclear = { nowMicros, maxAgeMs: Number.NaN }
    await expect(verify(presentReceipt, { freshness: unclear })).rejects.toMatchObject({
      code: 'TOO_OLD',
    })
  })

  it('with one character changed anywhere is invalid', async () => {
    const text = encodeReceipt(presentReceipt)
    for (let position = 0; position < text.length; position++) {
      const old = text[position] as string
      const changed = text.slice(0, position) + (old === '1' ? '2' : '1') + text.slice(position + 1)
      const problem = await verify(changed, { request: alice }).catch((error) => error)
      expect(problem.name, `${position}: ${old}`).toBe('ReceiptError')
    }
  })

  it('with a doubled member is invalid, wherever it is', async () => {
    const text = encodeReceipt(presentReceipt)
    for (const doubled of [
      text.replace('{', '{"offset":42,'),
      text.replace('"parameters":{', '"parameters":{"name":"alice.unverified.ns",'),
      text.replace('"offset"', '"\\u006fffset":42,"offset"'),
    ])
      await expect(verify(doubled, { request: alice })).rejects.toMatchObject({
        code: 'MALFORMED',
        message: expect.stringContaining('twice'),
      })
  })

  it.each([null, 7, '', '[]', 'null', '{}', [], { ...presentReceipt, signatures: [['sv-1']] }])(
    'is not %j',
    async (receipt) => {
      await expect(verify(receipt)).rejects.toMatchObject({ code: 'MALFORMED' })
    },
  )

  it('travels with its answer', () => {
    const body = JSON.parse(
      new TextDecoder().decode(encodeVerifiedBody({ status: 200, receipt: presentReceipt })),
    )
    expect(Object.keys(body)).toEqual(['status', 'answer', 'receipt'])
    expect(body.answer.entry.name).toBe('alice.unverified.ns')
    expect(body.receipt).toEqual(presentReceipt)
  })

  it('is noticed to bind nothing, where a verifier forgets to look', async () => {
    const request = requestOfLookup({ name: 'bob.unverified.ns' })
    const foreign: Receipt = receiptOf({
      request: alice,
      answer: '{"entry":null}',
      signerCount: 4,
      genesisHash: 'ab'.repeat(32),
    })
    const careless = [
      {
        receipt: presentReceipt,
        request,
        decisions: { ...RECEIPT_DECISIONS, isRequest: () => true },
      },
      {
        receipt: foreign,
        request: alice,
        decisions: { ...RECEIPT_DECISIONS, isGenesis: () => true },
      },
    ]
    for (const { receipt, decisions, ...options } of careless) {
      // What the mutant takes, the verifier refuses: so the tests above see the difference.
      await expect(
        verifyReceipt(receipt, { genesis, ...options }, decisions),
      ).resolves.toBeDefined()
      await expect(verifyReceipt(receipt, { genesis, ...options })).rejects.toThrow()
    }
  })
})

describe('evidence', () => {
  const keyPair = keyPairs[1] ?? keyPairFromSeed('00'.repeat(32))
  function signedAnswer(answer: string, more: Partial<SignedAnswer> = {}): SignedAnswer {
    const fields = {
      genesisHash,
      offset: 42,
      recordTime: 1,
      historyHash: 'cd'.repeat(32),
      requestHash: toHex(sha256(canonicalRequest(alice))),
      answerHash: toHex(sha256(utf8(answer))),
      ...more,
    }
    const signature = toHex(keyPair.sign(encodeAnswerStatement(fields)))
    return { node: 'sv-2', signature, ...fields }
  }

  it('is two statements by one key that contradict each other', async () => {
    const log = createEvidenceLog()
    expect(log.add(signedAnswer('yes'))).toBeNull()
    expect(log.add(signedAnswer('yes'))).toBeNull()
    expect(log.add(signedAnswer('maybe', { offset: 43 }))).toBeNull()
    const evidence = log.add(signedAnswer('no'))
    expect(log.list()).toEqual([evidence])
    if (evidence === null) throw new Error('no evidence')
    await expect(verifyEvidence(evidence, { genesis })).resolves.toEqual({
      signer: 'sv-2',
      kind: 'answer',
      offset: 42,
    })
    const [first, second] = evidence.statements
    const other = signedAnswer('maybe', { offset: 43 })
    const elsewhere = { statement: toHex(encodeAnswerStatement(other)), signature: other.signature }
    const worthless = [
      { ...evidence, signer: 'sv-1' },
      { ...evidence, signer: 'sv-9' },
      { ...evidence, statements: [first, first] },
      { ...evidence, statements: [first, elsewhere] },
      { ...evidence, statements: [first, { ...second, signature: first.signature }] },
      { ...evidence, statements: [first] },
      { ...evidence, statements: [first, { ...second, statement: '00' }] },
      { ...evidence, statements: [first, { ...second, statement: `${second.statement}00` }] },
    ]
    for (const [index, claim] of worthless.entries())
      await expect(verifyEvidence(claim as never, { genesis }), String(index)).rejects.toThrow()
  })

  it('can be of every statement that has one content at one place', async () => {
    const point = { genesisHash, offset: 42, recordTime: 1 }
    const [hash, other] = ['cd'.repeat(32), 'ef'.repeat(32)]
    const group = { genesisHash, firstOffset: 7, previousHash: hash, contentHash: hash }
    const cases = [
      [
        'state',
        'sv-2',
        [hash, other].map((stateRoot) =>
          encodeStateStatement({ ...point, historyHash: hash, stateRoot }),
        ),
      ],
      [
        'snapshot',
        'sv-2',
        [hash, other].map((contentHash) =>
          encodeSnapshotStatement({ ...point, historyHash: hash, contentHash }),
        ),
      ],
      [
        'logGroup',
        'synchronizer',
        [8, 9].map((lastOffset) => encodeLogGroupStatement({ ...group, lastOffset })),
      ],
    ] as const
    for (const [kind, signer, [first, second]] of cases) {
      const key = signer === 'sv-2' ? keyPair : synchronizer
      const signed = (bytes: Uint8Array<ArrayBuffer> | undefined) => ({
        statement: toHex(bytes ?? new Uint8Array()),
        signature: toHex(key.sign(bytes ?? new Uint8Array())),
      })
      const evidence = { signer, statements: [signed(first), signed(second)] as const }
      const offset = kind === 'logGroup' ? 7 : 42
      await expect(verifyEvidence(evidence, { genesis })).resolves.toEqual({ signer, kind, offset })
      const wrong = kind === 'logGroup' ? 'sv-2' : 'synchronizer'
      await expect(verifyEvidence({ ...evidence, signer: wrong }, { genesis })).rejects.toThrow()
    }
  })

  it('is kept for the first and last 16 per node', () => {
    const log = createEvidenceLog()
    for (let offset = 1; offset <= 50; offset++) {
      log.add(signedAnswer('yes', { offset }))
      log.add(signedAnswer('no', { offset }))
    }
    expect(log.list()).toHaveLength(32)
  })
})
