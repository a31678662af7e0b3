/** Pages of the stream of activities: who shares one, what each asker pays, and what it holds. */
import type { Decided, Genesis, ReadOptions, ReadRequest } from '@quorumscan/consensus'
import { ReaderError } from '@quorumscan/consensus'
import { expect, test } from 'vitest'
import { createActivityPages, type PageQuestion } from './activity-pages.ts'

const ID = '0000000000000007:0000'
const answer = `{"activities":[{"event_id":"${ID}"}]}`
const outcome: Decided = {
  kind: 'verified',
  answer: new TextEncoder().encode(answer),
  offset: 9,
  recordTime: 1_000_000,
  historyHash: 'ab'.repeat(32),
  signatures: [
    ['sv-1', 'cd'.repeat(64)],
    ['sv-2', 'ef'.repeat(64)],
  ],
  threshold: 2,
  nodeCount: 4,
  answered: 4,
  agreed: ['sv-1', 'sv-2'],
  dissented: ['sv-3'],
}
const question: PageQuestion = {
  pageSize: 100,
  after: null,
  quorum: 'weak',
  minOffset: 4,
  maxAgeMs: null,
}

/** Reads end when the test says so. */
function start() {
  const reads: { readonly request: ReadRequest; readonly options: ReadOptions }[] = []
  const ends: { give(): void; fail(error: Error): void }[] = []
  const genesis = { nodes: [{}, {}, {}, {}] } as unknown as Genesis // Only how many there are.
  const pages = createActivityPages({
    genesis,
    genesisHash: '00'.repeat(32),
    reader: {
      read: (request, options = {}) =>
        new Promise((resolve, reject) => {
          reads.push({ request, options })
          ends.push({ give: () => resolve(outcome), fail: reject })
        }),
    },
  })
  const charged: number[] = []
  const asker = { requestId: 'req-1', charge: (units: number) => charged.push(units) }
  return {
    reads,
    ends,
    charged,
    read: (other: Partial<PageQuestion> = {}) => pages.read({ ...question, ...other }, asker),
  }
}

test('those who ask for the same page in the same moment share a read, and pay for it once', async () => {
  const { reads, ends, charged, read } = start()
  const shared = Array.from({ length: 500 }, () => read())
  const others = [read({ after: ID }), read({ minOffset: 5 }), read({ quorum: 'strong' })]
  expect(reads.length).toBe(4)
  for (const { give } of ends) give()
  expect(new Set((await Promise.all(shared)).map(({ text }) => text)).size).toBe(1)
  await Promise.all(others)
  // A page of 100 rows and one signature, as over HTTP.
  expect(charged.filter((units) => units === 15).length).toBe(4)
  expect(charged.filter((units) => units === 1).length).toBe(499)
  read().catch(() => {})
  expect(reads.length).toBe(5)
})

test('a page is the verified answer with the headers as one more member', async () => {
  const { reads, ends, read } = start()
  const page = read({ maxAgeMs: 5_000 })
  ends[0]?.give()
  const { text, ...rest } = await page
  expect(rest).toEqual({ offset: 9, last: ID })
  expect(JSON.parse(text)).toEqual({
    status: 200,
    answer: JSON.parse(answer),
    receipt: expect.objectContaining({ offset: 9 }),
    headers: {
      'x-quorum-outcome': 'verified',
      'x-quorum-offset': '9',
      'x-quorum-record-time': '1970-01-01T00:00:01.000000Z',
      'x-quorum-threshold': '2',
      'x-quorum-agreed': 'sv-1,sv-2',
      'x-quorum-dissented': 'sv-3',
      'x-quorum-nodes': '4/4',
    },
  })
  expect(reads[0]?.request.parameters).toEqual({
    page_size: 100,
    begin_after_id: null,
    sort_order: 'asc',
  })
  expect(reads[0]?.options).toMatchObject({
    sign: true,
    threshold: 'weak',
    minOffset: 4,
    maxAgeMs: 5_000,
    headers: { 'x-request-id': 'req-1' },
  })
})

test('a read that fails fails for all who share it, and the next one is tried again', async () => {
  const { reads, ends, read } = start()
  const shared = [read(), read()]
  ends[0]?.fail(new ReaderError('OVERLOADED', 'too many'))
  for (const one of shared) await expect(one).rejects.toMatchObject({ code: 'OVERLOADED' })
  await expect(read({ quorum: 'most' })).rejects.toMatchObject({ code: 'INVALID_QUORUM' })
  read().catch(() => {})
  expect(reads.length).toBe(2)
})
