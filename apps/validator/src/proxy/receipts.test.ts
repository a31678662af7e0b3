import { sha256Hex, toHex, utf8 } from '@quorumscan/base'
import {
  type CanonicalRequest,
  canonicalRequest,
  type Decided,
  encodeAnswerStatement,
  requestOfLookup,
  verifyReceipt,
} from '@quorumscan/consensus'
import { createTestNetwork } from '@quorumscan/testkit'
import { describe, expect, it } from 'vitest'
import { verifiedAnswer } from './receipts.ts'

const { genesis, genesisHash, scans } = createTestNetwork({ nodeCount: 4 })

function decided(request: CanonicalRequest, answer: string): Decided {
  const point = { offset: 7, recordTime: 1_700_000_000_000_001, historyHash: 'ab'.repeat(32) }
  const bytes = utf8(answer)
  const statement = encodeAnswerStatement({
    genesisHash,
    ...point,
    requestHash: sha256Hex(canonicalRequest(request)),
    answerHash: sha256Hex(bytes),
  })
  const agreed = ['sv-1', 'sv-2']
  return {
    kind: answer === '{"entry":null}' ? 'verified-absent' : 'verified',
    answer: new Uint8Array(bytes),
    ...point,
    signatures: agreed.map((node, index) => [node, toHex(scans[index]?.sign(statement) ?? bytes)]),
    threshold: 2,
    nodeCount: 4,
    answered: 2,
    agreed,
    dissented: [],
  }
}

const present = '{"entry":{"name":"ä"}}'
const byName = (name: string) => requestOfLookup({ name })
const parse = (body: Uint8Array) => JSON.parse(Buffer.from(body).toString())

describe('an answer with its receipt', () => {
  it('says the status of the usual form, shows the answer, and verifies', async () => {
    for (const [name, answer, status] of [
      ['ä', present, 200],
      ['b', '{"entry":null}', 404],
    ] as const) {
      const request = byName(name)
      const form = verifiedAnswer(decided(request, answer), { request, genesisHash })
      const body = parse(form.body)
      expect(Object.keys(body)).toEqual(['status', 'answer', 'receipt'])
      expect([form.status, body.status]).toEqual([status, status])
      expect(body.answer).toEqual(JSON.parse(answer))
      const verified = await verifyReceipt(body.receipt, { genesis, request })
      expect(Buffer.from(verified.answer).toString()).toBe(answer)
      expect(verified.signers).toEqual(['sv-1', 'sv-2'])
    }
  })
})
