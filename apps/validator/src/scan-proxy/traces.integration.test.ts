/**
 * The trace of a lookup: the requested nodes, and those that did not answer.
 *
 * @module-tag rest
 */
import { createLogger } from '@quorumscan/runtime'
import { type CollectedSpan, listen, send, startTraceCollector, until } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { startValidator } from '../server.ts'
import { startNetwork } from '../testing/network.ts'

const TRACE = 'ab'.repeat(16)

it('a trace shows a silent node, and the log has the refusal with the request id', async () => {
  await using collector = await startTraceCollector()
  await using network = await startNetwork(4)
  const lines: string[] = []
  const logger = createLogger({
    name: 'validator',
    level: 'info',
    stream: { write: (line) => lines.push(line) },
  })
  const config = { ...network.config, nodes: network.peers, tracesEndpoint: collector.endpoint }
  {
    await using validator = await startValidator(config, { logger, clock: network.clock })
    const lookUp = (id: string, query: string, trace = {}) =>
      send(`${validator.url}/v0/scan-proxy/ans-entries/by-name/dso.ns${query}`, {
        headers: { ...trace, 'x-request-id': id },
      })
    await until('all to answer', async () => {
      const { status } = await lookUp('all', '?quorum=all')
      return status === 200 ? true : undefined
    })
    await network.scans[3]?.stop()
    // Accepts connections, and never answers.
    await using _silent = await listen(() => {}, {
      at: Number(new URL(network.peers[3]?.url ?? '').port),
    })
    const traceparent = `00-${TRACE}-${'cd'.repeat(8)}-01`
    // Three of four nodes are asked, in an order that is drawn.
    await until('the silent node to be asked', async () => {
      const answer = await lookUp('three', '?quorum=strong', { traceparent })
      expect(answer).toAnswer(200)
      return answer.headers.get('x-quorum-asked')?.includes('sv-4') ? true : undefined
    })
    expect((await lookUp('never', '?quorum=all')).status).toBeGreaterThan(500)
  }
  // Closing sends the remaining spans.
  const trace = collector.spans().filter(({ traceId }) => traceId === TRACE)
  const requests = trace.filter(({ parentSpanId }) => parentSpanId === 'cd'.repeat(8))
  expect(new Set(requests.map(({ kind }) => kind))).toEqual(new Set([2]))
  const asked = trace.filter(
    ({ kind, parentSpanId }) =>
      kind === 3 && requests.some(({ spanId }) => spanId === parentSpanId),
  )
  const names = ['sv-1', 'sv-2', 'sv-3', 'sv-4'].map((name) => `POST ${name}`)
  expect([...new Set(asked.map(({ name }) => name))].sort()).toEqual(names)
  const hasAnswer = ({ attributes }: CollectedSpan) =>
    attributes.some(({ key }) => key === 'http.response.status_code')
  const answered = new Set(asked.filter(hasAnswer).map(({ name }) => name))
  expect([...answered].sort()).toEqual(names.slice(0, 3))
  expect(asked.find(({ name }) => name === 'POST sv-4')?.status.code).toBe(2)
  const logged = lines.map((line) => JSON.parse(line))
  expect(logged.filter(({ request_id }) => request_id === 'three')).toEqual([])
  expect(logged.find(({ request_id }) => request_id === 'never')).toMatchObject({
    level: 'info',
    method: 'GET',
    path: '/v0/scan-proxy/ans-entries/by-name/dso.ns',
  })
})
