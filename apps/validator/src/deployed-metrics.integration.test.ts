/**
 * Real processes export every metric of the alert rules and the dashboards in `deploy/`. `test/e2e/alerts.test.ts` shows
 * the same of each role, by a real Prometheus.
 *
 * @module-tag rest
 */
import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Resources } from '@quorumscan/base'
import { PLAIN_CONNECTIONS } from '@quorumscan/config'
import { LOG_RULES, LOG_USER } from '@quorumscan/log'
import { createLogger } from '@quorumscan/runtime'
import { startSynchronizer } from '@quorumscan/synchronizer'
import {
  createAuthority,
  createDirectory,
  createTestNetwork,
  freePort,
  required,
  send,
  startRedis,
  until,
} from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { startValidator } from './server.ts'
import { startNetwork } from './testing/network.ts'

const deploy = join(import.meta.dirname, '../../../deploy')
const logger = createLogger({ name: 'test', level: 'silent' })
const it = base
  .extend('network', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startNetwork(4)),
  )
  /** The URL of one process of each kind. */
  .extend('urls', { scope: 'file' }, async ({ network, fileResources }) => {
    const config = { ...network.config, nodes: network.peers }
    const validator = await startValidator(config, { logger, clock: network.clock })
    fileResources.opened(validator)
    const synchronizer = await startLoneSynchronizer(fileResources)
    return [validator.url, synchronizer, network.peers[0]?.url ?? '']
  })
  .extend('scrape', { scope: 'file' }, ({ urls }) => async (): Promise<string> => {
    const answers = await Promise.all(urls.map((url) => send(`${url}/metrics`)))
    return answers.map(({ text }) => text).join('\n')
  })
  /** The metrics that they exported first. */
  .extend('first', { scope: 'file' }, ({ scrape }) => scrape())

/** A synchronizer whose log has no follower, and that speaks TLS. */
async function startLoneSynchronizer(resources: Resources): Promise<string> {
  const authority = resources.opened(await createAuthority())
  const operatorAddress = { host: '127.0.0.1', port: await freePort() }
  const { genesis, synchronizer } = createTestNetwork()
  const { path: directory } = resources.opened(createDirectory())
  const file = async (name: string, text: string) => {
    await writeFile(join(directory, name), text)
    return join(directory, name)
  }
  const redis = resources.opened(
    await startRedis([
      '--appendonly',
      'yes',
      '--appendfsync',
      'always',
      '--maxmemory-policy',
      'noeviction',
      '--user',
      LOG_USER,
      'on',
      '>w',
      ...LOG_RULES.split(' '),
    ]),
  )
  const config = {
    host: '127.0.0.1',
    port: 0,
    logLevel: 'silent',
    tracesEndpoint: null,
    peersFile: null,
    connections: {
      ...PLAIN_CONNECTIONS,
      tls: await authority.issue('synchronizer'),
      operatorAddress,
    },
    rateLimit: 1000,
    genesisFile: await file('genesis.json', JSON.stringify(genesis)),
    ordering: {
      driver: 'redis' as const,
      redis: {
        place: { path: redis.socketPath },
        secretFiles: { password: await file('password', 'w') },
      },
      keyFile: await file('key', synchronizer.seed),
    },
    logDirectory: directory,
    diskFreeMibMin: 0,
    logKeepSeconds: 0,
    peerTokensFile: null,
    nodeTokensFile: null,
    nodes: genesis.nodes.map(({ name }) => ({ name, url: 'http://127.0.0.1:1' })),
    entryRates: { anonymous: 1, peer: 1, superValidator: 1 },
  }
  const { url } = resources.opened(await startSynchronizer(config, { logger }))
  expect(url).toMatch(/^https:/)
  return `http://127.0.0.1:${operatorAddress.port}`
}

const read = (path: string) => readFile(join(deploy, path), 'utf8')

/**
 * `name` or `name{label="value"}`, as rules ask for series. `run` exports whether its processes are up, and only members
 * that order together export how many engines ordering can lose.
 */
const SELECTOR = /quorumscan_(?!process_up|can_lose\{kind="ordering"\})[a-z0-9_]+(?:\{[^}]*\})?/g
/** Metrics of `run`, and of members that order together. */
const METRICS_OF_OTHERS = ['quorumscan_process_up', 'quorumscan_ordering_first_height']

async function alertSelectors(): Promise<readonly string[]> {
  const selectors = [...new Set((await read('prometheus/alerts.yml')).match(SELECTOR))]
  expect(selectors.length).toBeGreaterThan(15)
  return selectors
}

/** The values of the series that a selector finds. */
function valuesOf(selector: string, text: string): readonly number[] {
  const [name, matchers = ''] = selector.split(/[{}]/)
  const wanted = [...matchers.matchAll(/(\w+)(=~?)"([^"]*)"/g)].map(
    ([, label, how, value = '']) =>
      new RegExp(
        `[{,]${label}="${how === '=' ? value.replace(/\W/g, '\\$&') : `(?:${value})`}"[,}]`,
      ),
  )
  return text.split('\n').flatMap((line) => {
    const labels = /^\w+(\{.*\})? /.exec(line)?.[1] ?? ''
    const isFound =
      line.startsWith(`${name}{`) || line.startsWith(`${name} `)
        ? wanted.every((matcher) => matcher.test(labels))
        : false
    return isFound ? [Number(line.split(' ').at(-1))] : []
  })
}

it('every counter that an alert watches is zero from the start', async ({ first }) => {
  const counters = (await alertSelectors()).filter((selector) => /_(total|count)\b/.test(selector))
  expect(counters.length).toBeGreaterThan(7)
  expect(counters.filter((selector) => valuesOf(selector, first).length === 0)).toEqual([])
  const moved = counters.filter((selector) => valuesOf(selector, first).some((value) => value > 0))
  // Finished jobs are counted although no fault occurs.
  expect(moved.filter((selector) => !selector.includes('"done"'))).toEqual([])
})

it('every series that an alert watches exists once the processes have connected', async ({
  scrape,
}) => {
  const selectors = await alertSelectors()
  let missing: readonly string[] = []
  await until('every series of every alert', async () => {
    const text = await scrape()
    missing = selectors.filter((selector) => valuesOf(selector, text).length === 0)
    return missing.length === 0 ? true : undefined
  }).catch((cause: unknown) => {
    throw new Error(`missing: ${missing.join(', ')}`, { cause })
  })
})

it('every metric on a dashboard is exported by a process', async ({ first }) => {
  const roles = ['super-validator', 'validator', 'synchronizer']
  const dashboards = await Promise.all(roles.map((role) => read(`grafana/${role}.json`)))
  const names = new Set(dashboards.join().match(/quorumscan_[a-z0-9_]+/g))
  expect(names.size).toBeGreaterThan(20)
  const isKnown = (name: string) =>
    [name, name.replace(/_(bucket|count|sum)$/, '')].some((one) => first.includes(`# TYPE ${one} `))
  expect([...names].filter((name) => !isKnown(name)).sort()).toEqual(METRICS_OF_OTHERS.toSorted())
})

it('no label is one that Prometheus or `run` sets itself', async ({ first }) => {
  expect(first.split('\n').filter((line) => /[{,](job|instance|process)="/.test(line))).toEqual([])
})

it('promtool accepts the files, and the tests of the alerts pass', () => {
  const promtool = required('promtool')
  const check = (...args: string[]) =>
    execFileSync(promtool, args, { cwd: join(deploy, 'prometheus'), encoding: 'utf8' })
  for (const file of ['prometheus.yml', 'cluster.yml'])
    expect(check('check', 'config', file)).toContain('SUCCESS')
  expect(check('test', 'rules', 'alerts.test.yml')).toContain('SUCCESS')
})

it('metrics of Redis, disk and failures tolerated are exported for each process', async ({
  scrape,
  urls,
  network,
}) => {
  const all = (selector: string, values: readonly number[]) =>
    until(`${selector} to be ${values.join(', ')}`, async () => {
      const found = valuesOf(selector, await scrape())
      return found.join() === values.join() ? true : undefined
    })
  // Exported by the validator and by the scraped node.
  await all('quorumscan_can_lose{kind="lookups"}', [2, 2])
  await all('quorumscan_can_lose{kind="registrations"}', [1, 1])
  // A process exports them once its Redis has answered.
  const text = await until('metrics of the Redis and the disk of each process', async () => {
    const scraped = await scrape()
    const names = ['redis_memory_bytes', 'redis_aof_bytes', 'disk_free_bytes']
    return names.every((name) => valuesOf(`quorumscan_${name}`, scraped).length === urls.length)
      ? scraped
      : undefined
  })
  expect(Math.min(...valuesOf('quorumscan_replica_entries_total', text))).toBeGreaterThan(0)
  // In bytes: a Redis without data uses between half a megabyte and two, by its version.
  for (const name of ['redis_memory_bytes', 'disk_free_bytes'])
    expect(Math.min(...valuesOf(`quorumscan_${name}`, text)), name).toBeGreaterThan(100_000)
  // The nodes other than the scraped one.
  await Promise.all(network.scans.slice(2).map((scan) => scan.stop()))
  await all('quorumscan_can_lose{kind="lookups"}', [0, 0])
  await all('quorumscan_can_lose{kind="registrations"}', [-1, -1])
  await network.scans[2]?.start()
  // It moves to an address that no configuration has.
  await network.scans[3]?.moveTo(await freePort())
  await all('quorumscan_can_lose{kind="lookups"}', [2, 2])
  await all('quorumscan_can_lose{kind="registrations"}', [1, 1])
})
