/** What a process says of itself while one of its certificates ends soon, has expired or is not valid yet. */
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, createSystemClock } from '@quorumscan/base'
import { readScanConfig } from '@quorumscan/config'
import { createLogger } from '@quorumscan/runtime'
import { createAuthority, createManualClock, createTestNetwork } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { createAppBase } from './app.ts'
import { createHealthHandlers } from './health.ts'

const MICROS_PER_SECOND = 1_000_000
const DAY_MICROS = 86_400_000_000
/** Certificates of servers are read again after this time, others sooner. */
const REREAD_MS = 10_000
/** After the certificates are made. */
const startMicros = createSystemClock().nowMicros() + DAY_MICROS / 24
const FILES = { QS_TLS_CERT: 'own.pem', QS_LOG_CERT: 'client.pem', QS_PEER_CA: 'ca.pem' }
const VARIABLES = Object.keys(FILES) as readonly (keyof typeof FILES)[]

const it = base
  .extend('authority', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await createAuthority()),
  )
  .extend('own', { scope: 'file' }, ({ authority }) => authority.issue('own'))
  /** For the same key, valid for a day. */
  .extend('ofOneDay', { scope: 'file' }, async ({ authority, own }) => {
    const request = own.keyFile.replace(/key$/, 'csr')
    return authority.sign(await readFile(request, 'utf8'), '127.0.0.1', 1)
  })
  /** A node that is live, with a certificate, a client certificate and an authority that are valid for 30 days. */
  .extend(
    'startNode',
    ({ authority, own, directory, resources }) =>
      async (atMicros = startMicros) => {
        const at = (name: string) => join(directory, name)
        for (const name of ['own.pem', 'client.pem']) await copyFile(own.certFile, at(name))
        await copyFile(own.keyFile, at('own.key'))
        await copyFile(authority.caFile, at('ca.pem'))
        await writeFile(at('genesis.json'), JSON.stringify(createTestNetwork().genesis))
        const config = readScanConfig({
          QS_GENESIS: at('genesis.json'),
          QS_PORT: '0',
          QS_REDIS: 'unix:///run/sv-1.sock',
          QS_LOG: 'https://127.0.0.1:4600/',
          QS_LOG_CERT: at('client.pem'),
          QS_LOG_KEY: at('own.key'),
          QS_PEER_CA: at('ca.pem'),
          QS_TLS_CERT: at('own.pem'),
          QS_TLS_KEY: at('own.key'),
          QS_NODE_NAME: 'sv-1',
          QS_SCAN_KEY_FILE: at('scan'),
          QS_OPERATOR_KEY_FILE: at('operator'),
        })
        const manual = createManualClock(atMicros)
        let days = 0
        const clock: Clock = { ...manual, nowMicros: () => manual.nowMicros() + days * DAY_MICROS }
        const lines: string[] = []
        const stream = { write: (line: string) => void lines.push(line) }
        const logger = createLogger({ name: 'test', level: 'info', stream })
        const app = await createAppBase('sv-1', config, { clock, logger })
        const stopping = new AbortController()
        resources.onClose(() => stopping.abort())
        const listener = { setSecureContext: () => {} }
        void app.serving.certificate?.autoReload(listener, stopping.signal)
        const clocks = { verdict: () => ({ kind: 'unknown' }) as const }
        const health = createHealthHandlers(
          { ...app, clocks },
          { port: () => 1, assertReady: () => {}, state: () => 'live', head: () => null },
        )
        const request = {} as Parameters<typeof health.readyz>[0]
        return {
          at,
          lines,
          pass(count: number): void {
            days += count
          },
          untilRead: () => manual.advance(REREAD_MS),
          async metric(name: string) {
            const { text } = await app.metrics.expose()
            const line = text.split('\n').find((one) => one.startsWith(`quorumscan_${name} `))
            return Number(line?.split(' ').at(-1))
          },
          async says() {
            const status = await health.getStatus(request)
            if ('error' in status || status.body instanceof Uint8Array) throw new Error('no status')
            const { extra } = status.body.success
            const { headers } = await health.livez(request)
            expect(headers?.['x-state']).toBe(extra.state)
            const ready = await health.readyz(request).then(
              (answer) => answer.headers?.['x-detail'] ?? 'ready',
              ({ code, message }) => `${code}: ${message}`,
            )
            return { state: extra.state, detail: extra.detail, ready }
          },
        }
      },
  )

const REFUSES = 'not_ready{code="CERTIFICATE_EXPIRED"}'
const LIVE = { state: 'live', detail: null, ready: 'ready' }

it('a process says nothing of certificates that are valid for weeks', async ({ startNode }) => {
  const { says, lines, metric } = await startNode()
  expect(await says()).toEqual(LIVE)
  expect(lines).toEqual([])
  expect(await metric(REFUSES)).toBe(0)
  for (const variable of VARIABLES) {
    const seconds = await metric(`certificate_ends_seconds{certificate="${variable}"}`)
    const days = (seconds * MICROS_PER_SECOND - startMicros) / DAY_MICROS
    expect(Math.round(days)).toBe(30)
  }
})

it('a certificate that ends within a week is named, and the process stays ready', async ({
  startNode,
}) => {
  const { pass, says, lines, metric } = await startNode()
  pass(24)
  lines.length = 0
  const { state, detail, ready } = await says()
  expect(state).toBe('live')
  expect(ready).toBe(detail)
  for (const variable of VARIABLES)
    expect(detail).toMatch(
      new RegExp(`the certificate of ${variable} is valid until [0-9-]{10}, for [56] days`),
    )
  expect(detail).toMatch(/\. Renew it, and replace the file$/)
  expect(lines.map((line) => JSON.parse(line).level)).toEqual(['warn', 'warn', 'warn'])
  expect(await metric(REFUSES)).toBe(0)
})

it('a certificate that ends within a week is logged where only its metrics are read', async ({
  startNode,
}) => {
  const { pass, lines, metric } = await startNode()
  pass(24)
  lines.length = 0
  await metric('ready')
  const logged = lines.map((line) => JSON.parse(line))
  expect(logged.map(({ level }) => level)).toEqual(['warn', 'warn', 'warn'])
  expect(logged.map(({ msg }) => msg.split(' ')[3]).sort()).toEqual([...VARIABLES].sort())
})

it.for(VARIABLES)(
  'with an expired certificate of %s it is not ready until the file is replaced',
  async (variable, { startNode, ofOneDay }) => {
    const { at, pass, untilRead, says, lines, metric } = await startNode()
    const file = at(FILES[variable])
    const valid = await readFile(file, 'utf8')
    await writeFile(file, ofOneDay)
    await untilRead()
    expect(await says()).toMatchObject({ state: 'live' })
    pass(2)
    lines.length = 0
    expect(await says()).toMatchObject({
      state: 'certificate-expired',
      ready: expect.stringMatching(
        new RegExp(`^CERTIFICATE_EXPIRED: the certificate of ${variable} expired on [0-9-]{10}: `),
      ),
    })
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 'error', msg: expect.stringContaining(variable) }),
    ])
    expect(await metric(REFUSES)).toBe(1)
    await writeFile(file, valid)
    await untilRead()
    expect(await says()).toEqual(LIVE)
    expect(await metric(REFUSES)).toBe(0)
  },
)

it('a certificate that is not valid yet is refused, too', async ({ startNode }) => {
  const { says } = await startNode(startMicros - DAY_MICROS)
  expect(await says()).toMatchObject({
    state: 'certificate-expired',
    ready: expect.stringMatching(/^CERTIFICATE_EXPIRED: .*QS_TLS_CERT is valid only from /),
  })
})

it('while an authority changes, the one that ends last counts', async ({ startNode, ofOneDay }) => {
  const { at, pass, untilRead, says } = await startNode()
  pass(2)
  const file = at(FILES.QS_PEER_CA)
  const valid = await readFile(file, 'utf8')
  for (const text of [ofOneDay + valid, valid + ofOneDay]) {
    await writeFile(file, text)
    await untilRead()
    expect(await says()).toEqual(LIVE)
  }
  // Of a chain, the first is that of the process.
  await writeFile(at(FILES.QS_LOG_CERT), ofOneDay + valid)
  await untilRead()
  expect(await says()).toMatchObject({ state: 'certificate-expired' })
})
