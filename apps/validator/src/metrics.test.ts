import { toHex, utf8 } from '@quorumscan/base'
import type { Transport } from '@quorumscan/reader'
import { createReader, type Reader } from '@quorumscan/reader/voted'
import { createMetrics } from '@quorumscan/runtime'
import { createManualClock, createTestNetwork, createTickingClock } from '@quorumscan/testkit'
import { encodeAddressStatement } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { createReadMetrics } from './metrics.ts'

it('counts reads by outcome and replies by node, and sends the caller’s headers along', async () => {
  const clock = createTickingClock()
  const { genesis, genesisHash, scans } = createTestNetwork({ nodeCount: 4 })
  const metrics = createMetrics()
  const reads = createReadMetrics(
    metrics,
    clock,
    genesis.nodes.map(({ name }) => name),
  )
  const sent: unknown[] = []
  // The node answers the request for its head, but not a batch of two.
  const answerHeaders = new Map([
    ['content-type', 'application/json'],
    ['x-ledger-head', '7'],
    ['x-ledger-offset', '7'],
    ['x-ledger-record-time', '2026-01-01T00:00:00.000000Z'],
    ['x-ledger-history-hash', 'ab'.repeat(32)],
  ])
  const transport: Transport = {
    request: async ({ headers }) => {
      sent.push(headers['x-request-id'])
      return {
        status: 200,
        header: (name) => answerHeaders.get(name) ?? null,
        body: new Uint8Array(utf8('{"results":[]}')),
      }
    },
  }
  const addresses = genesis.nodes.map(({ name }, index) => {
    const record = { name, url: `http://127.0.0.1:${index + 1}`, sequence: 1 }
    const statement = encodeAddressStatement({ genesisHash, ...record })
    return { ...record, signature: toHex(scans[index]?.sign(statement) ?? new Uint8Array()) }
  })
  await using reader = createReader({
    genesis,
    genesisHash,
    seeds: ['http://127.0.0.1:1'],
    transport,
    clock,
    allowPrivateAddresses: true,
    waitMs: 200,
    addressStore: { load: async () => addresses, save: () => {} },
    onReply: reads.noteReply,
  })
  const measured = reads.measured(reader)
  const outcomes = await measured.lookup(
    [{ name: 'a.unverified.ns' }, { name: 'b.unverified.ns' }],
    {
      headers: { 'x-request-id': 'wallet-7' },
    },
  )
  const [kind] = outcomes.map((outcome) => outcome.kind)
  reads.recordEvidence('sv-2')
  const { text } = await metrics.expose()
  expect(text).toContain(`quorumscan_lookups_total{outcome="${kind}"} 2`)
  expect(text).toContain(
    `quorumscan_read_duration_seconds_count{operation="lookup",outcome="${kind}"} 1`,
  )
  expect(sent).toContain('wallet-7')
  expect(text).toMatch(/node_reply_duration_seconds_count\{node="sv-1",outcome="answer"\} [1-9]/)
  expect(text).toContain('quorumscan_evidence_total{node="sv-2"} 1')
})

it('exports what the reader knows of each node, and the age of the newest answer', async () => {
  const clock = createManualClock()
  const metrics = createMetrics({ clock })
  const recordTime = clock.nowMicros() - 2_000_000
  const verified = { kind: 'verified', offset: 9, recordTime, answer: {} }
  // Of a reader only what the metrics read.
  const reader = {
    status: () => ({
      floor: 9,
      nodes: [{ name: 'sv-1', head: 10, votes: 4, dissents: 3, errors: 2 }],
    }),
    lookup: async () => [verified],
  } as unknown as Reader
  const measured = createReadMetrics(metrics, clock, ['sv-1']).measured(reader)
  await measured.lookup([{ name: 'a.unverified.ns' }])
  const { text } = await metrics.expose()
  for (const line of [
    'node_head_offset{node="sv-1"} 10',
    'node_votes_total{node="sv-1"} 4',
    'node_dissents_total{node="sv-1"} 3',
    'node_errors_total{node="sv-1"} 2',
    'quorum_offset 9',
    'quorum_lag_seconds 2',
  ])
    expect(text).toContain(`quorumscan_${line}\n`)
})
