import { once } from 'node:events'
import { connect } from 'node:net'
import { createMetrics } from '@quorumscan/runtime'
import { createManualClock } from '@quorumscan/testkit'
import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { buildServer } from './server.ts'

const common = { tag: 'test', summary: '', errors: [], auth: 'none', method: 'GET' } as const
const routes = {
  ask: { ...common, operationId: 'ask', path: '/ask', response: Type.Boolean(), cost: 1 },
  readyz: { ...common, operationId: 'readyz', path: '/readyz', response: null, cost: 0 },
} as const

function build(hasOperatorServer: boolean) {
  return buildServer({
    routes,
    handlers: { ask: async () => ({ body: true }), readyz: async () => ({ body: null }) },
    prefix: '/api/test',
    rateLimit: { unitsPerSecond: 2 },
    metrics: createMetrics(),
    clock: createManualClock(),
    limits: { connectionsMax: 1 },
    hasOperatorServer,
  })
}

const statusOf = async (server: ReturnType<typeof build>, url: string) =>
  (await server.inject(url)).statusCode

it('the public server has health and metrics if operators have no own server', async () => {
  const server = build(false)
  expect(await statusOf(server, '/metrics')).toBe(200)
  expect(await statusOf(server, '/readyz')).toBe(200)
})

it('the server of operators has health and metrics, also of the other server, and nothing else', async () => {
  const server = build(true)
  const operators = server.buildOperatorServer()
  expect(await statusOf(server, '/ask')).toBe(200)
  expect(await statusOf(server, '/metrics')).toBe(404)
  expect(await statusOf(operators, '/readyz')).toBe(200)
  expect(await statusOf(operators, '/api/test/readyz')).toBe(200)
  expect(await statusOf(operators, '/ask')).toBe(404)
  const { body } = await operators.inject('/metrics')
  expect(body).toMatch(/_request_duration_seconds_count\{operation="ask",status="200"\} 1$/m)
  // Those who compare clocks, or balance load, ask the public one.
  expect(await statusOf(server, '/readyz')).toBe(200)
})

it('operators get answers while clients use all slots and units of the other server', async () => {
  await using server = build(true)
  await using operators = server.buildOperatorServer()
  const { port } = new URL(await server.listen({ host: '127.0.0.1', port: 0 }))
  const url = await operators.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect(Number(port), '127.0.0.1')
  socket.write('GET /ask HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(3))
  for (let text = ''; !text.includes(' 429 '); ) text += String(await once(socket, 'data'))
  for (let count = 0; count < 3; count++)
    for (const path of ['readyz', 'metrics'])
      await expect(await fetch(`${url}/${path}`)).toAnswer(200)
  socket.destroy()
})
