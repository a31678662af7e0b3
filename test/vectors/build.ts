/** Builds the published vectors from fixed keys. The files in this folder contain them. */
import { type KeyPair, keyPairFromSeed, toHex } from '@quorumscan/base'
import { createTestNetwork } from '@quorumscan/testkit'
import {
  canonicalJson,
  encodeAddressStatement,
  encodeLogGroupStatement,
  encodeSnapshotStatement,
  encodeStateStatement,
  encodeSubmissionStatement,
} from '@quorumscan/verifier'

const RECORD_TIME = 1_700_000_000_123_456
export const {
  genesis,
  genesisHash,
  scans: keyPairs,
  synchronizer,
} = createTestNetwork({
  protocolVersion: 3,
})
export const genesisText = canonicalJson(genesis)

export function buildStatements(): string {
  const keyPair = keyPairFromSeed('07'.repeat(32))
  const point = { genesisHash, offset: 42, recordTime: RECORD_TIME, historyHash: 'cd'.repeat(32) }
  const hash = 'ef'.repeat(32)
  const statements: readonly (readonly [string, Uint8Array])[] = [
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
    '# Statements (packages/verifier/STATEMENTS.md): kind, statement, Ed25519 signature by the key below; hex.',
    '# Offset 42 (log group: 41 to 42), record time 1700000000123456, history hash cd.., previous hash 12..,',
    '# content and body hash and state root ef..; address: sv-1, https://sv-1.example.com/scan, sequence 3.',
    `genesis-hash ${genesisHash}`,
    `public-key ${keyPair.publicKey}`,
    ...statements.map(([kind, bytes]) => `${kind} ${toHex(bytes)} ${signed(keyPair, bytes)}`),
    '',
  ].join('\n')
}

const signed = (keyPair: KeyPair, bytes: Uint8Array): string => toHex(keyPair.sign(bytes))
