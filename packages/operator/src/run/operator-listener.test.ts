import { join } from 'node:path'
import { createMetrics } from '@quorumscan/runtime'
import type { Service } from '@quorumscan/supervisor'
import { freePort, send, serve } from '@quorumscan/testkit'
import { it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { mergeMetrics, openOperatorListener } from './operator-listener.ts'

const SCRIPT = '<script>alert(1)</script>'

/** The exposition of a process that has counted one event. */
async function expositionOf(node: string): Promise<string> {
  const metrics = createMetrics()
  const known = [['{odd} name="x"']] as const
  metrics.counted({ name: 'some_total', help: 'Some.', labels: ['node'], known })(node)
  metrics.durations({ name: 'work_seconds', help: 'Work.' })().observe(0.002)
  return (await metrics.expose()).text
}

it('metrics of several processes are one exposition, in which each sample names its process', async () => {
  const [one, two] = await Promise.all(['sv-3', 'sv-4'].map(expositionOf))
  const merged = mergeMetrics(
    new Map([
      ['sv-1', one ?? ''],
      ['sv-1.synchronizer', two ?? ''],
    ]),
  )
  const [, some] = /(# HELP quorumscan_some_total .*?\n)\n/s.exec(merged) ?? []
  expect(some).toBe(`# HELP quorumscan_some_total Some.
# TYPE quorumscan_some_total counter
quorumscan_some_total{process="sv-1",node="{odd} name=\\"x\\""} 0
quorumscan_some_total{process="sv-1",node="sv-3"} 1
quorumscan_some_total{process="sv-1.synchronizer",node="{odd} name=\\"x\\""} 0
quorumscan_some_total{process="sv-1.synchronizer",node="sv-4"} 1
`)
  expect(merged).toContain('\nquorumscan_work_seconds_count{process="sv-1"} 1\n')
  const types = merged.match(/^# TYPE .*$/gm) ?? []
  expect(types.length).toBeGreaterThan(20)
  expect(new Set(types).size).toBe(types.length)
  const samples = merged.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  expect(samples.filter((line) => !/^\w+\{process="sv-1(\.synchronizer)?"[,}]/.test(line))).toEqual(
    [],
  )
})

it('a sample that names its process keeps it', () => {
  const up = '# HELP up Up.\n# TYPE up gauge\nup{process="sv-1"} 1\n'
  expect(mergeMetrics(new Map([['sv-1.run', up]]))).toBe(up)
})

it('serves the metrics of the processes that answer, which are up, and the health of the first', async ({
  directory,
  resources,
  clock,
}) => {
  const socketOf = (process: string) => join(directory, process)
  const node = await serve(
    async ({ url }, response) => {
      if (url === '/metrics') response.end(await expositionOf('sv-3'))
      else response.writeHead(url === '/livez' ? 200 : 503, { 'x-detail': 'late' }).end(url)
    },
    { at: socketOf('sv-1') },
  )
  // It accepts connections, and answers none.
  const hanging = await serve(() => {}, { at: socketOf('sv-1.synchronizer') })
  const address = { host: '127.0.0.1', port: await freePort() }
  const redis = { redis: { id: 'sv-1.redis' } as Service['redis'], isExternal: false }
  const services = ['sv-1', 'sv-1.synchronizer'].map((id) => ({
    ...redis,
    app: { id } as Service['app'],
  }))
  const processes = { state: () => 'running' as const }
  const options = { name: 'sv-1', address, services, processes, socketOf, clock }
  resources.opened(await openOperatorListener(options))
  await expect(openOperatorListener(options)).rejects.toThrow('QS_OPERATOR_ADDRESS cannot be')
  const url = `http://127.0.0.1:${address.port}`
  const upAtScrape = async () => {
    const { text } = await send(`${url}/metrics`)
    return [...text.matchAll(/^quorumscan_process_up\{process="(.*)"\} (.)$/gm)].map(
      ([, process, value]) => `${process} ${value}`,
    )
  }
  expect(await upAtScrape()).toEqual(['sv-1 1', 'sv-1.synchronizer 0', 'sv-1.redis 1'])
  await hanging[Symbol.asyncDispose]()
  const { type, text } = await send(`${url}/metrics?x=1`)
  expect(type).toBe('text/plain')
  expect(text).toContain('quorumscan_some_total{process="sv-1",node="sv-3"} 1')
  expect(text).toMatch(/^nodejs_version_info\{process="sv-1.run",/m)
  await expect(await fetch(`${url}/livez`)).toAnswer(200)
  const late = await send(`${url}/api/validator/readyz`)
  expect([late.status, late.text, late.headers.get('x-detail')]).toEqual([
    503,
    '/api/validator/readyz',
    'late',
  ])
  await node[Symbol.asyncDispose]()
  expect((await upAtScrape())[0]).toBe('sv-1 0')
  await expect(await fetch(`${url}/readyz`)).toAnswer(502)
})

it('answers nothing that a browser would run, whatever was asked and whatever the process answers', async ({
  directory,
  resources,
  clock,
}) => {
  const socketOf = (process: string) => join(directory, process)
  resources.opened(
    await serve(
      ({ url = '' }, response) => {
        if (url === '/cut') return void response.destroy()
        response
          .writeHead(url === '/livez' ? 200 : 503, { 'content-type': 'text/html' })
          .end(SCRIPT)
      },
      { at: socketOf('sv-1') },
    ),
  )
  const address = { host: '127.0.0.1', port: await freePort() }
  const processes = { state: () => 'running' as const }
  const service = { redis: { id: 'r' }, isExternal: false, app: { id: 'sv-1' } } as Service
  const options = { name: 'sv-1', address, services: [service], processes, socketOf, clock }
  const makeConsole = () => ({
    async answer(path: string) {
      if (path === '/console') throw new Error('a defect')
      return false
    },
  })
  resources.opened(await openOperatorListener({ ...options, makeConsole }))
  for (const [status, method, path] of [
    [200, 'GET', '/livez'],
    [200, 'GET', '/metrics'],
    [503, 'GET', '/readyz'],
    [503, 'GET', '/console'],
    [502, 'GET', '/cut'],
    [405, 'POST', '/livez'],
  ] as const) {
    const answer = await send(`http://127.0.0.1:${address.port}${path}`, { method })
    expect([answer.status, path]).toEqual([status, path])
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none';/)
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  }
})
