/** The published vectors as they follow from fixed keys; the files beside this one hold them. */
import { type KeyPair, keyPairFromSeed, sha256, toHex } from '@quorumscan/base'
import {
  type CanonicalRequest,
  canonicalJson,
  canonicalRequest,
  encodeAddressStatement,
  encodeAnswerStatement,
  encodeLogGroupStatement,
  encodeReceipt,
  encodeSnapshotStatement,
  encodeStateStatement,
  encodeSubmissionStatement,
  type Json,
  type Receipt,
  requestOfLookup,
  STATEMENT_TAGS,
  utf8,
} from '@quorumscan/consensus'
import { createTestNetwork } from '@quorumscan/testkit'

const RECORD_TIME = 1_700_000_000_123_456
export const { genesis, genesisHash, scans: keyPairs, synchronizer } = createTestNetwork()
export const genesisText = canonicalJson(genesis as unknown as Json)

const PRESENT =
  `{"entry":{"contract_id":"00ab","user":"alice::1220${'a'.repeat(64)}","name":"alice.unverified.ns",` +
  `"url":"","description":"grün \\"and\\" {so} on","expires_at":"2024-02-12T00:00:00.000000Z"}}`

/** A receipt signed by the first nodes. */
export function receiptOf(input: {
  readonly request: CanonicalRequest
  readonly answer: string
  readonly signerCount: number
  readonly genesisHash?: string
}): Receipt {
  const point = { offset: 42, recordTime: RECORD_TIME, historyHash: 'cd'.repeat(32) }
  const statement = encodeAnswerStatement({
    ...point,
    genesisHash: input.genesisHash ?? genesisHash,
    requestHash: toHex(sha256(canonicalRequest(input.request))),
    answerHash: toHex(sha256(utf8(input.answer))),
  })
  return {
    tag: STATEMENT_TAGS.answer,
    genesis_hash: input.genesisHash ?? genesisHash,
    offset: point.offset,
    record_time: point.recordTime,
    history_hash: point.historyHash,
    request: input.request,
    answer: toHex(utf8(input.answer)),
    signatures: keyPairs
      .slice(0, input.signerCount)
      .map((keyPair, index) => [`sv-${index + 1}`, toHex(keyPair.sign(statement))] as const),
  }
}

export const presentReceipt = receiptOf({
  request: requestOfLookup({ name: 'alice.unverified.ns' }),
  answer: PRESENT,
  signerCount: 2,
})

export function buildStatements(): string {
  const keyPair = keyPairFromSeed('07'.repeat(32))
  const point = { genesisHash, offset: 42, recordTime: RECORD_TIME, historyHash: 'cd'.repeat(32) }
  const hash = 'ef'.repeat(32)
  const statements: readonly (readonly [string, Uint8Array])[] = [
    ['answer', encodeAnswerStatement({ ...point, requestHash: '12'.repeat(32), answerHash: hash })],
    ['state', encodeStateStatement({ ...point, stateRoot: hash })],
    ['snapshot', encodeSnapshotStatement({ ...point, contentHash: hash })],
    [
      'address',
      encodeAddressStatement({
        genesisHash,
        name: 'sv-1',
        url: 'https://sv-1.example.com/scan',
        sequence: 3,
      }),
    ],
    ['submission', encodeSubmissionStatement({ genesisHash, bodyHash: hash })],
    [
      'log-group',
      encodeLogGroupStatement({
        genesisHash,
        firstOffset: 41,
        lastOffset: 42,
        previousHash: '12'.repeat(32),
        contentHash: hash,
      }),
    ],
  ]
  return [
    '# Statements (packages/consensus/RECEIPTS.md): kind, statement, Ed25519 signature by the key below; hex.',
    '# Offset 42 (log group: 41 to 42), record time 1700000000123456, history hash cd.., request and previous',
    '# hash 12.., answer, content and body hash and state root ef..; address: sv-1, https://sv-1.example.com/scan, sequence 3.',
    `genesis-hash ${genesisHash}`,
    `public-key ${keyPair.publicKey}`,
    ...statements.map(([kind, bytes]) => `${kind} ${toHex(bytes)} ${signed(keyPair, bytes)}`),
    '',
  ].join('\n')
}

const signed = (keyPair: KeyPair, bytes: Uint8Array): string => toHex(keyPair.sign(bytes))

export function buildReceipts(): string {
  const absent = receiptOf({
    request: requestOfLookup({ party: `bob::1220${'b'.repeat(64)}` }),
    answer: '{"entry":null}',
    signerCount: 4,
  })
  const [first, second] = presentReceipt.signatures as readonly (readonly [string, string])[]
  const invalid: readonly (readonly [string, object])[] = [
    ['too-few-signers', { ...presentReceipt, signatures: [first] }],
    ['no-signer', { ...presentReceipt, signatures: [] }],
    ['signer-twice', { ...presentReceipt, signatures: [first, first] }],
    ['signature-of-another', { ...presentReceipt, signatures: [first, ['sv-3', second?.[1]]] }],
    ['stranger', { ...presentReceipt, signatures: [first, second, ['sv-9', second?.[1]]] }],
    ['other-answer', { ...presentReceipt, answer: absent.answer }],
    ['other-request', { ...presentReceipt, request: absent.request }],
    ['other-offset', { ...presentReceipt, offset: 43 }],
    ['other-time', { ...presentReceipt, record_time: RECORD_TIME + 1 }],
    ['other-history', { ...presentReceipt, history_hash: 'ce'.repeat(32) }],
    ['other-genesis', { ...presentReceipt, genesis_hash: 'ab'.repeat(32) }],
    ['other-tag', { ...presentReceipt, tag: 'quorumscan/state/1' }],
    ['member-more', { ...presentReceipt, threshold: 1 }],
    ['member-less', { ...presentReceipt, tag: undefined }],
  ]
  return [
    '# Receipts (packages/consensus/RECEIPTS.md) of the network whose genesis document comes first.',
    '# "valid" ones are so for the request that they hold; "invalid" ones are not, for the reason named.',
    `genesis ${genesisText}`,
    `valid present ${encodeReceipt(presentReceipt)}`,
    `valid absent ${encodeReceipt(absent)}`,
    ...invalid.map(([reason, receipt]) => {
      const members = Object.entries(receipt).filter(([, value]) => value !== undefined)
      return `invalid ${reason} ${canonicalJson(Object.fromEntries(members) as Json)}`
    }),
    '',
  ].join('\n')
}
