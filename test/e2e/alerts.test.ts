/**
 * The shipped alerts in a real Prometheus: processes are killed, hang, lie, lose their disk, clock or certificate, and
 * recover. `deploy/prometheus/alerts.test.yml` tests the alerts that need a voted version, a damaged log or a bug.
 *
 * @module-tag long
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, required, slowness, until, untilTrue } from '@quorumscan/testkit'
import { it } from '@quorumscan/testkit/fixtures'
import { Redis } from 'ioredis'
import { expect, type RunnerTestCase } from 'vitest'
import { clock, createUser, lookup, untilFound } from '../support/client.ts'
import { startCluster } from '../support/clusters.ts'
import { createNetwork, mountDisk, type Operator, run, untilReady } from '../support/operators.ts'
import {
  type Alert,
  onMachine,
  onThisMachine,
  type Prometheus,
  startPrometheus,
} from '../support/prometheus.ts'

const DEPLOY = join(import.meta.dirname, '../../deploy')
const FIRES_WITHIN_S = 60
const ENDS_WITHIN_S = 120
const LOOKUP_EVERY_MS = 200
const ALICE = 'alice.unverified.ns'
/** More than the alerts about free space ask for. A file system in memory takes only what is written. */
const DISK = '4g'
const FULL_DISK = '200m'
/** Memory of Redis next to which what else it uses changes little. */
const FILLER_BYTES = 64 * 1024 * 1024

type Labels = Alert['labels']
/** Which alerts must fire at each Prometheus: their names, and the labels that tell them apart. */
type Expected = Readonly<Record<string, readonly (readonly [alertname: string, labels: Labels])[]>>

const nowSeconds = () => clock.nowMicros() / 1_000_000

const hasLabels = (labels: Labels, wanted: Labels) =>
  Object.entries(wanted).every(([label, value]) => labels[label] === value)

/** Shows that nothing fires, then all that is expected within a minute, then nothing within two after the recovery. */
async function expectAlerts(options: {
  readonly watching: Readonly<Record<string, Prometheus>>
  readonly expected: Expected
  readonly fail: () => Promise<unknown>
  /** Returns when the processes run again. */
  readonly recover: () => Promise<unknown>
  readonly task: RunnerTestCase
}): Promise<void> {
  const { watching, fail, recover, task } = options
  const expected = Object.entries(options.expected).flatMap(([name, alerts]) =>
    alerts.map(([alertname, labels]) => ({ name, labels: { alertname, ...labels } })),
  )
  const silence = () =>
    untilTrue('no alert to fire or to be pending', async () => {
      const alerts = await Promise.all(Object.values(watching).map((one) => one.alerts()))
      return alerts.every((some) => some?.length === 0)
    })
  await untilTrue('the first scrape', async () => {
    const scraped = await Promise.all(Object.values(watching).map((one) => one.series('up == 1')))
    return scraped.every((some) => some.length > 0)
  })
  await silence()
  const failedAt = nowSeconds()
  await fail()
  let missing: readonly Labels[] = []
  const alerts = await until('all alerts', async () => {
    const found = await Promise.all(
      expected.map(async ({ name, labels }) =>
        (await watching[name]?.alerts())?.find(
          (one) => one.state === 'firing' && hasLabels(one.labels, labels),
        ),
      ),
    )
    missing = expected.filter((_, index) => found[index] === undefined).map((one) => one.labels)
    return missing.length === 0 ? found : undefined
  }).catch((cause: unknown) => {
    throw new Error(`missing: ${JSON.stringify(missing)}`, { cause })
  })
  for (const alert of alerts) {
    const { alertname = '', process = '', node = process } = alert?.labels ?? {}
    expect(alert?.annotations).toEqual({
      summary: expect.stringContaining(node),
      runbook_url: `docs/operations.md#${alertname.toLowerCase()}`,
    })
  }
  await recover()
  const recoveredAt = nowSeconds()
  await silence()
  const measured = await Promise.all(
    expected.map(async ({ name, labels }) => {
      const firings = await watching[name]?.firings(failedAt, nowSeconds())
      const seconds = firings?.find((one) => hasLabels(one.labels, labels))?.seconds ?? []
      const fires = Math.ceil((seconds[0] ?? Infinity) - failedAt)
      const ends = Math.ceil((seconds.at(-1) ?? Infinity) - recoveredAt)
      return { alert: Object.values(labels).join(' '), fires, ends }
    }),
  )
  task.meta.figures = Object.fromEntries(
    measured.map(({ alert, fires, ends }) => [
      alert,
      `fires after ${fires} s, ends after ${ends} s`,
    ]),
  )
  process.stdout.write(`${JSON.stringify(task.meta.figures, null, 2)}\n`)
  for (const { alert, fires, ends } of measured) {
    expect(fires, alert).toBeLessThanOrEqual(FIRES_WITHIN_S * slowness())
    expect(ends, alert).toBeLessThanOrEqual(ENDS_WITHIN_S * slowness())
  }
}

/** Looks up a name again and again, whatever the answer is, until it is disposed of. */
function keepLooking(
  network: Parameters<typeof lookup>[0],
  name: string,
  quorum: string,
): AsyncDisposable {
  let isOver = false
  const looking = (async () => {
    while (!isOver) {
      await lookup(network, name, { 'x-quorum': quorum }).catch(() => {})
      await clock.delay(LOOKUP_EVERY_MS)
    }
  })()
  return {
    async [Symbol.asyncDispose]() {
      isOver = true
      await looking
    },
  }
}

/** A file that the operator's `run` keeps in its data directory. */
const own = ({ machine }: Operator, file: string) =>
  JSON.parse(readFileSync(join(machine.directory, 'var', file), 'utf8')).content

/** The names of metrics on a dashboard. */
const metricsOf = (role: string) =>
  new Set(readFileSync(join(DEPLOY, `grafana/${role}.json`), 'utf8').match(/quorumscan_[a-z_]+/g))

it('alerts of operators name what is wrong within a minute, and end within two after the recovery', {
  tags: ['alerts'],
}, async ({ resources, task }) => {
  required('namespaces') // Other machines have no 127.0.0.1 of their own, which prometheus.yml scrapes.
  const network = resources.opened(await createNetwork({ ordering: 'cometbft', svCount: 4 }))
  const { svs, validator: v, client } = network
  const [sv1, sv2, sv3, sv4] = svs as [Operator, Operator, Operator, Operator]
  const trust = 'QS_TRUST_MEMBERS=sv-3,sv-4\nQS_TRUST_THRESHOLD=2\n'
  v.machine.write('etc/run.env', readFileSync(v.configFile, 'utf8') + trust)
  const disk = resources.opened(mountDisk(sv1, DISK))
  for (const operator of network.all) run(operator)
  for (const operator of network.all) await untilReady(operator)
  const watch = ({ machine }: Operator) =>
    startPrometheus(onMachine(machine), join(DEPLOY, 'prometheus/prometheus.yml'))
  const watching = { 'sv-1': watch(sv1), 'sv-2': watch(sv2), v: watch(v) }
  resources.opened(keepLooking(client, 'missing.unverified.ns', 'weak'))
  const redis = new Redis({ path: join(own(v, 'sockets.json').path, 'v') })
  resources.onClose(() => redis.disconnect())
  const pidOf = (operator: Operator, wanted: string): number =>
    own(operator, 'processes.json').find(({ id }: { id: string }) => id === wanted).pid
  const hanging = pidOf(v, 'v.synchronizer')
  await expectAlerts({
    watching,
    task,
    expected: {
      'sv-1': [
        ['Stopped', { kind: 'ordering', process: 'sv-1.synchronizer' }],
        ['NodeSilent', { node: 'sv-3', process: 'sv-1' }],
        ['DiskLow', { process: 'sv-1' }],
        ['DiskFull', { process: 'sv-1' }],
        ['LogFull', { process: 'sv-1.synchronizer' }],
      ],
      'sv-2': [
        ['ProcessDown', { process: 'sv-2' }],
        ['ProcessDown', { process: 'sv-2.redis' }],
      ],
      v: [
        ['ProcessDown', { process: 'v.synchronizer' }],
        ['LookupsUnanswered', { process: 'v' }],
        ['RedisMemory', { process: 'v' }],
        ['CertificateEnds', { process: 'v' }],
      ],
    },
    async fail() {
      await redis.setrange('filler', FILLER_BYTES, 'x')
      const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
      sv2.running?.kill('SIGKILL') // Its processes stay.
      process.kill(hanging, 'SIGSTOP')
      disk.resize(FULL_DISK)
      await Promise.all([
        sv3.machine.kill(),
        sv4.machine.kill(),
        redis.config('SET', 'maxmemory', String(Math.floor(used * 1.05))),
        network.certify(v.machine, 1),
      ])
    },
    async recover() {
      // `run` ends the process that hangs, after a minute, and starts it again.
      process.kill(pidOf(sv1, 'sv-1'), 'SIGKILL') // `run` starts it again at once.
      disk.resize(DISK)
      await redis.config('SET', 'maxmemory', '512mb')
      await redis.del('filler')
      await network.certify(v.machine)
      for (const operator of [sv2, sv3, sv4]) run(operator)
      for (const operator of [sv2, sv3, sv4]) await untilReady(operator)
    },
  })
  for (const [role, name] of [['super-validator', 'sv-1'] as const, ['validator', 'v'] as const]) {
    const series = await watching[name].series('count by (__name__) ({process=~".+"})')
    // Missing while the memory does not grow.
    const known = new Set(['quorumscan_redis_days_left'])
    for (const { __name__: metric = '' } of series) known.add(metric)
    expect(
      [...metricsOf(role)].filter((metric) => !known.has(metric)),
      role,
    ).toEqual([])
  }
})

it('alerts of a cluster name members that are down or lie, and a clock that is wrong', {
  tags: ['alerts-cluster'],
}, async ({ directory, resources, task }) => {
  const cluster = resources.opened(await startCluster())
  const { urls } = cluster
  const ports = { ...urls.nodes, validator: urls.validator, synchronizer: urls.synchronizer }
  const config = Object.entries(ports).reduce(
    (text, [name, url]) =>
      text.replace(
        new RegExp(`\\[127\\.0\\.0\\.1:\\d+\\](, labels: \\{ process: ${name} \\})`),
        `[${new URL(url).host}]$1`,
      ),
    readFileSync(join(DEPLOY, 'prometheus/cluster.yml'), 'utf8'),
  )
  writeFileSync(join(directory, 'cluster.yml'), config)
  copyFileSync(join(DEPLOY, 'prometheus/alerts.yml'), join(directory, 'alerts.yml'))
  const alice = await createUser(cluster, 'alice')
  await alice.pay(ALICE)
  await untilFound(cluster, ALICE)
  const place = onThisMachine(directory)
  const watching = {
    all: startPrometheus(place, join(directory, 'cluster.yml'), await freePort()),
  }
  resources.opened(watching.all)
  for (const quorum of ['weak', 'certified']) resources.opened(keepLooking(cluster, ALICE, quorum))
  await expectAlerts({
    watching,
    task,
    expected: {
      all: [
        ['NodeDissents', { node: 'sv-2', process: 'validator' }],
        ['Equivocation', { node: 'sv-2', process: 'validator' }],
        ['ClockOff', { process: 'sv-3' }],
        ['ProcessDown', { process: 'sv-4' }],
        ['NodeSilent', { node: 'sv-4', process: 'validator' }],
        ['NoFailureTolerated', { kind: 'registrations', process: 'validator' }],
      ],
    },
    fail: () =>
      Promise.all([
        cluster.kill('sv-4'),
        cluster.lie('sv-2', 'equivocate'),
        cluster.clock('sv-3', { offsetMs: 4000 }),
      ]),
    recover: () => cluster.heal(),
  })
})
