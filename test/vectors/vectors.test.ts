import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromHex, keyPairFromSeed, toHex, verifySignature } from '@quorumscan/base'
import {
  createEvidenceLog,
  type Evidence,
  encodeLogGroupStatement,
  encodeSnapshotStatement,
  encodeStateStatement,
  verifyEvidence,
} from '@quorumscan/verifier'
import { describe, expect, it } from 'vitest'
import { buildStatements, genesis, genesisHash, keyPairs, synchronizer } from './build.ts'

const file = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8')

describe('published vectors', () => {
  it('equal those that the code builds', () => {
    expect(file('statements.txt')).toBe(buildStatements())
  })

  it('of statements have a valid signature of their key', () => {
    const rows = file('statements.txt')
      .split('\n')
      .map((line) => line.split(' '))
    const publicKey = rows.find(([kind]) => kind === 'public-key')?.[1] ?? ''
    const statements = rows.filter((row) => row.length === 3 && row[0] !== '#')
    expect(statements).toHaveLength(5)
    for (const [kind, statement = '', signature = ''] of statements) {
      const message = fromHex(statement)
      const isValid = verifySignature({ publicKey, message, signature: fromHex(signature) })
      expect(isValid, kind).toBe(true)
      expect(new TextDecoder().decode(message.subarray(0, message.indexOf(0)))).toBe(
        `quorumscan/${kind}/1`,
      )
    }
  })
})

describe('evidence', () => {
  const keyPair = keyPairs[1] ?? keyPairFromSeed('00'.repeat(32))
  const hash = 'cd'.repeat(32)
  const signed = (offset: number, stateRoot: string) => {
    const point = { genesisHash, offset, recordTime: 1, historyHash: hash, stateRoot }
    const statement = encodeStateStatement(point)
    return { statement: toHex(statement), signature: toHex(keyPair.sign(statement)) }
  }
  const contradiction = (offset: number, other = 'ef'): Evidence => ({
    signer: 'sv-2',
    statements: [signed(offset, hash), signed(offset, other.repeat(32))],
  })

  it('is valid if it has two contradicting statements of one key', async () => {
    const evidence = contradiction(42)
    await expect(verifyEvidence(evidence, { genesis })).resolves.toEqual({
      signer: 'sv-2',
      kind: 'state',
      offset: 42,
    })
    const [first, second] = evidence.statements
    const elsewhere = signed(43, 'ef'.repeat(32))
    const invalid = [
      { ...evidence, signer: 'sv-1' },
      { ...evidence, signer: 'sv-9' },
      { ...evidence, statements: [first, first] },
      { ...evidence, statements: [first, elsewhere] },
      { ...evidence, statements: [first, { ...second, signature: first.signature }] },
      { ...evidence, statements: [first] },
      { ...evidence, statements: [first, { ...second, statement: '00' }] },
      { ...evidence, statements: [first, { ...second, statement: `${second.statement}00` }] },
    ]
    for (const [index, claim] of invalid.entries())
      await expect(verifyEvidence(claim as never, { genesis }), String(index)).rejects.toThrow()
  })

  it('is possible for state, snapshot and log group statements', async () => {
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

  it('is stored for the first and last 16 offsets of a node, once each', () => {
    const log = createEvidenceLog([contradiction(1)])
    for (let offset = 1; offset <= 50; offset++) {
      expect(log.add(contradiction(offset))).toBe(offset > 1)
      if (offset <= 16) expect(log.add(contradiction(offset))).toBe(false)
    }
    const places = log.list().map(({ statements: [{ statement }] }) => statement)
    const expected = [...Array(16).keys()].flatMap((index) => [index + 1, index + 35])
    expect(new Set(places)).toEqual(
      new Set(expected.map((offset) => signed(offset, hash).statement)),
    )
    expect(places).toHaveLength(32)
  })
})
