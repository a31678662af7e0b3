import { serve } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { fetchHealth } from './health.ts'

type Reply = { status: number; headers?: Record<string, string>; body?: unknown }

/** A process that answers its health routes so; also which of them were asked. */
async function serveReplies(replies: Readonly<Record<string, Reply>>) {
  const asked: string[] = []
  const server = await serve(({ url = '' }, response) => {
    asked.push(url)
    const { status, headers = {}, body = {} } = replies[url] ?? { status: 404 }
    response.writeHead(status, headers).end(JSON.stringify(body))
  })
  return { ...server, asked }
}

const statusOf = (extra: object) => ({ status: 200, body: { success: { extra } } })

it('reads the head of a scan node from its answer, and asks for nothing else', async () => {
  const headers = { 'x-ledger-head': '7', 'x-ledger-head-time': '2026-01-01T00:00:00Z' }
  await using node = await serveReplies({ '/readyz': { status: 200, headers } })
  expect(await fetchHealth(node.url)).toEqual({
    ...{ state: 'up', detail: null, code: null, isWaitingForRebuildTurn: false, isStalled: false },
    ...{ offset: 7, recordTime: '2026-01-01T00:00:00Z', ordering: null },
  })
  expect(node.asked).toEqual(['/readyz'])
})

it('reads the end of the log and the engine of a synchronizer from its status', async () => {
  const ordering = { height: 5, round: null, connected: ['sv-2'], absent: [] }
  await using synchronizer = await serveReplies({
    '/readyz': { status: 503, body: { code: 'LOG_FULL', error: 'no room', retryable: true } },
    '/status': statusOf({ offset: 9, ordering }),
  })
  expect(await fetchHealth(synchronizer.url)).toMatchObject({
    ...{ state: 'up', detail: 'no room', code: 'LOG_FULL', offset: 9, ordering },
  })
})

it('treats a malformed value as not reported', async () => {
  await using other = await serveReplies({
    '/readyz': { status: 503, body: { retryable: false, details: { state: 'starting' } } },
    '/status': statusOf({ offset: -1, ordering: { height: 'x' } }),
  })
  expect(await fetchHealth(other.url)).toMatchObject({
    ...{ state: 'starting', detail: 'HTTP 503', isStalled: true, offset: null, ordering: null },
  })
})

it('is null for a process that does not answer', async () => {
  expect(await fetchHealth('http://127.0.0.1:1')).toBeNull()
})
