import { serve } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { fetchHealth } from './health.ts'

type Reply = { status: number; headers?: Record<string, string>; body?: unknown }

/** A process that answers its health routes so. */
function serveReplies(replies: Readonly<Record<string, Reply>>) {
  return serve(({ url = '' }, response) => {
    const { status, headers = {}, body = {} } = replies[url] ?? { status: 404 }
    response.writeHead(status, headers).end(JSON.stringify(body))
  })
}

const statusOf = (extra: object) => ({ status: 200, body: { success: { extra } } })

it('reads the head and the judgements of a scan node from its status', async () => {
  const members = [{ name: 'sv-1', health: 'healthy', signedOffset: 6, unsignedSeconds: 0 }]
  const recordTime = '2026-01-01T00:00:00Z'
  await using node = await serveReplies({
    '/readyz': { status: 200 },
    '/status': statusOf({ offset: 7, recordTime, members }),
  })
  expect(await fetchHealth(node.url)).toEqual({
    state: 'up',
    detail: null,
    code: null,
    isWaitingForRebuildTurn: false,
    isStalled: false,
    offset: 7,
    recordTime,
    ordering: null,
    members,
  })
})

it('reads the end of the log and the engine of a synchronizer from its status', async () => {
  const ordering = { height: 5, round: null, connected: ['sv-2'], absent: [] }
  await using synchronizer = await serveReplies({
    '/readyz': { status: 503, body: { code: 'LOG_FULL', error: 'no room', retryable: true } },
    '/status': statusOf({ offset: 9, ordering }),
  })
  expect(await fetchHealth(synchronizer.url)).toMatchObject({
    state: 'up',
    detail: 'no room',
    code: 'LOG_FULL',
    offset: 9,
    ordering,
  })
})

it('treats a malformed value as not reported', async () => {
  await using other = await serveReplies({
    '/readyz': { status: 503, body: { retryable: false, details: { state: 'starting' } } },
    '/status': statusOf({ offset: -1, ordering: { height: 'x' }, members: [{ health: 'well' }] }),
  })
  expect(await fetchHealth(other.url)).toMatchObject({
    state: 'starting',
    detail: 'HTTP 503',
    isStalled: true,
    offset: null,
    ordering: null,
    members: null,
  })
})

it('is null for a process that does not answer, itself or to `run`', async () => {
  expect(await fetchHealth('http://127.0.0.1:1')).toBeNull()
  await using run = await serveReplies({ '/readyz': { status: 502 }, '/status': { status: 502 } })
  expect(await fetchHealth(run.url)).toBeNull()
})
