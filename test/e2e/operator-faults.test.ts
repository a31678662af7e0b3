/**
 * What one member's fault looks like to its own operator and to the others: sv-4 has each fault in turn, and the tables of
 * `docs/operations.md` ("What its own operator sees") say what both see. A fault without rows fails. Operators are separate,
 * with `run`, TLS and Prometheus.
 *
 * `WRITE_TABLES=1` writes the rows instead, as they are after the time in which every alert fires.
 *
 * @module-tag long
 */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repeat } from '@quorumscan/runtime'
import { required, until, untilRead, untilTrue } from '@quorumscan/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clock, createUser, untilFound } from '../support/client.ts'
import {
  createNetwork,
  decide,
  mountDisk,
  type Network,
  type Operator,
  outputOf,
  run,
  runCli,
  stop,
  untilReady,
} from '../support/operators.ts'
import { type Alert, onMachine, type Prometheus, startPrometheus } from '../support/prometheus.ts'
import { ROOT } from '../support/root.ts'
import { copySoftware, newestKnown, nextVersion } from '../support/software.ts'

const ALICE = 'alice.unverified.ns'
const CONSOLE_TOKEN = '0123456789abcdef0123456789abcdef'
/** Alerts need up to two minutes. */
const SEEN_WITHIN_MS = 200_000
const WRITTEN_AFTER_MS = 150_000
/** A look costs two seconds of a processor. */
const READ_EVERY_MS = 5_000
const HANG_EVERY_MS = 200
/** The clock of a process that is beyond the limit of 10 s. */
const WRONG_CLOCK_MS = 20_000
const DISK = '3g'
const FULL_DISK = '64m'
const TAP_MAX = 10n ** 16n
/** An address of documentation (RFC 5737), to which no machine has a route. */
const NOWHERE = 'https://192.0.2.1:4611'

/** Shifts the wall clock of a process by the milliseconds in a file, which is read again and again. */
const CLOCK_MODULE = `
import { readFileSync } from 'node:fs'
const now = Date.now
let skew = 0
const read = () => {
  try {
    skew = Number(readFileSync(process.env.TEST_CLOCK_FILE, 'utf8'))
  } catch {}
}
read()
setInterval(read, 200).unref()
Date.now = () => now() + skew
`

/** Asks the address of the operator on its own machine, and prints the answers. */
const ASK = `
const ask = async (path, headers = {}, port = 9464) => {
  try {
    const url = 'http://127.0.0.1:' + port + path
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(20_000) })
    return { status: answer.status, text: await answer.text() }
  } catch {
    return { status: null, text: '' }
  }
}
const authorization = 'Bearer ${CONSOLE_TOKEN}'
const [ready, status, metrics, page, alerts] = await Promise.all([
  ask('/readyz'),
  ask('/status'),
  ask('/metrics'),
  ask('/console/data', { authorization }),
  ask('/api/v1/alerts', {}, 9090),
])
console.log(JSON.stringify({ ready, status, metrics, page, alerts }))
`

type Answer = { readonly status: number | null; readonly text: string }
type Asked = Readonly<Record<'ready' | 'status' | 'metrics' | 'page' | 'alerts', Answer>>
type Check = { readonly name: string; readonly state: string }

type World = {
  network: Network
  sv1: Operator
  sv4: Operator
  watching: readonly Prometheus[]
  clockFile: string
  disk?: ReturnType<typeof mountDisk>
  stopHanging?: () => void
}

/** A row of the table of its own operator, and one of the table of the others. */
type View = { readonly own: readonly string[]; readonly others: readonly string[] }

const PAGE = join(ROOT, 'docs/operations.md')
const TITLES = { own: 'What its own operator sees', others: 'What the other operators see' }
/** Codes of errors are written as code. */
const CODE = /\b[A-Z]+(?:_[A-Z]+)+\b/g

/** The cells of the row of a fault; none without a row. */
function rowOf(title: string, fault: string): readonly string[] {
  const [, section = ''] = readFileSync(PAGE, 'utf8').split(`\n### ${title}\n`)
  const [table = ''] = section.split(/\n#/)
  const row = table.split('\n').find((line) => line.startsWith(`| ${fault} | `))
  const cells = row?.slice(2, -2).split(' | ') ?? []
  return cells.slice(1).map((cell) => cell.replaceAll('`', '').trim())
}

/** Writes the row of a fault, at the end of the table if it has none. */
function writeRow(title: string, fault: string, cells: readonly string[]): void {
  const [before = '', section = ''] = readFileSync(PAGE, 'utf8').split(`\n### ${title}\n`)
  const lines = section.split('\n')
  const written = [fault, ...cells.map((cell) => cell.replaceAll(CODE, '`$&`'))].join(' | ')
  const index = lines.findIndex((line) => line.startsWith(`| ${fault} | `))
  const end = lines.findLastIndex(
    (line, at) => line.startsWith('|') && !lines.slice(0, at).some((one) => one.startsWith('#')),
  )
  lines.splice(index < 0 ? end + 1 : index, index < 0 ? 0 : 1, `| ${written} |`)
  writeFileSync(PAGE, [before, lines.join('\n')].join(`\n### ${title}\n`))
}

const HEALTHY: View = {
  own: ['200', 'healthy', '2, 1', '–', '–'],
  others: ['healthy', '2, 1', '–', '–'],
}

function parse(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Each asks other machines once, with a short limit: on a busy machine it is a warning now and then. */
const MOMENTARY = ['peers', 'clock']

/** What is not as it should be, such as `FAILED scan node, warning members`. */
function wordsOf(checks: readonly Check[] | null): string {
  const found = (checks ?? []).filter(
    ({ name, state }) => state === 'failed' || (state === 'warning' && !MOMENTARY.includes(name)),
  )
  const words = found.map(({ name, state }) => `${state === 'failed' ? 'FAILED' : state} ${name}`)
  return checks === null ? 'no answer' : words.join(', ') || '–'
}

describe.each([
  ['operators-faults-state', ['rebuilding', 'diverged']],
  ['operators-faults-log', ['behind', 'old software']],
  ['operators-faults-silence', ['hung', 'cut off']],
  ['operators-faults-start', ['wrong genesis', 'expired certificate']],
  ['operators-faults-machine', ['wrong clock', 'full disk']],
])('%s', (tag, faults) => {
  const world = {} as World
  beforeAll(async () => {
    required('namespaces')
    // With rounds of ten minutes, as by default: else jobs of rounds fail, too.
    world.network = await createNetwork({ ordering: 'redis', svCount: 4, rules: [] })
    const { network } = world
    const [sv1, , , sv4] = network.svs
    if (sv1 === undefined || sv4 === undefined) throw new Error('four members are needed')
    Object.assign(world, { sv1, sv4 })
    for (const { machine, configFile } of [sv1, sv4]) {
      const token = machine.write('etc/console-token', CONSOLE_TOKEN)
      const text = readFileSync(configFile, 'utf8')
      machine.write('etc/run.env', `${text}QS_CONSOLE_TOKEN_FILE=${token}\n`)
    }
    const clockModule = sv4.machine.write('etc/clock.mjs', CLOCK_MODULE)
    world.clockFile = sv4.machine.write('etc/clock', '0')
    sv4.env = { NODE_OPTIONS: `--import=${clockModule}`, TEST_CLOCK_FILE: world.clockFile }
    if (faults.includes('full disk')) world.disk = mountDisk(sv4, DISK)
    if (faults.includes('old software')) {
      const bin = await copySoftware(join(network.machines.directory, 'newer'), [
        nextVersion(TAP_MAX),
      ])
      for (const operator of network.all) if (operator !== sv4) operator.bin = bin
    }
    for (const operator of network.all) run(operator)
    for (const operator of network.all) await untilReady(operator)
    const alice = await createUser(network.client, 'alice', '1000.0')
    await alice.pay(ALICE)
    await untilFound(network.client, ALICE)
    const watch = ({ machine }: Operator) =>
      startPrometheus(onMachine(machine), join(ROOT, 'deploy/prometheus/prometheus.yml'))
    world.watching = [watch(sv4), watch(sv1)]
  })
  afterAll(async () => {
    for (const one of world.watching ?? []) await one[Symbol.asyncDispose]()
    await world.disk?.[Symbol.asyncDispose]()
    await world.network?.[Symbol.asyncDispose]()
  })

  async function ask({ machine }: Operator): Promise<Asked> {
    return JSON.parse(await machine.run(process.execPath, '--input-type=module', '-e', ASK))
  }

  /** The checks of `status`; null: it prints none. */
  async function statusOf(operator: Operator): Promise<readonly Check[] | null> {
    const printed = await runCli(
      operator,
      'status',
      '--config',
      operator.configFile,
      '--json',
    ).catch((error: unknown) => stdoutOf(error))
    return parse(printed)?.checks ?? null
  }

  async function view(): Promise<View> {
    const [own, others, ownChecks, checks] = await Promise.all([
      ask(world.sv4),
      ask(world.sv1),
      statusOf(world.sv4),
      statusOf(world.sv1),
    ])
    const judged = ({ status }: Asked) =>
      parse(status.text)?.success?.extra?.members?.find(
        ({ name }: { readonly name: string }) => name === 'sv-4',
      )?.health ?? 'no answer'
    const gauge = ({ metrics }: Asked, name: string, labels: string) =>
      new RegExp(`^quorumscan_${name}\\{process="sv-[14]",${labels}\\} (\\S+)$`, 'm').exec(
        metrics.text,
      )?.[1]
    const canLose = (asked: Asked) => {
      const counts = ['lookups', 'registrations'].map((of) =>
        gauge(asked, 'can_lose', `kind="${of}"`),
      )
      return counts.includes(undefined) ? 'no answer' : counts.join(', ')
    }
    const judgement = judged(others)
    const isHealthy = gauge(others, 'node_healthy', 'node="sv-4"')
    const readinessOfOthers = readiness(others.ready)
    const consoleOf = ({ page }: Asked) => wordsOf(parse(page.text)?.checks ?? null)
    const same = (status: string, console: string) =>
      status === console ? status : `${status}; console: ${console}`
    return {
      own: [
        readiness(own.ready),
        judged(own),
        canLose(own),
        alertsIn(own),
        same(wordsOf(ownChecks), consoleOf(own)),
      ],
      others: [
        [
          judgement,
          ...(Number(isHealthy) === Number(judgement === 'healthy') ? [] : [`metric ${isHealthy}`]),
          ...(readinessOfOthers === '200' ? [] : [`they report ${readinessOfOthers}`]),
        ].join('; '),
        canLose(others),
        alertsIn(others),
        same(wordsOf(checks), consoleOf(others)),
      ],
    }
  }

  /** `run` restarts it. */
  function killNode(): void {
    process.kill(pidOf('sv-4'), 'SIGKILL')
  }

  const pidOf = (id: string): number =>
    JSON.parse(
      readFileSync(join(world.sv4.machine.directory, 'var/processes.json'), 'utf8'),
    ).content.find((one: { readonly id: string }) => one.id === id).pid

  async function withVariables(changes: Readonly<Record<string, string>>): Promise<void> {
    const given = Object.entries(changes).map(([name, value]) => `${name}=${value}\n`)
    const lines = readFileSync(join(world.sv4.machine.directory, 'etc/run.env'), 'utf8')
      .split(/(?<=\n)/)
      .filter((line) => !Object.keys(changes).some((name) => line.startsWith(`${name}=`)))
    world.sv4.configFile = world.sv4.machine.write('etc/faulty.env', [...lines, ...given].join(''))
  }

  async function runAgain(): Promise<void> {
    world.sv4.configFile = join(world.sv4.machine.directory, 'etc/run.env')
    await stop(world.sv4)
    run(world.sv4)
    await untilReady(world.sv4)
  }

  async function wipe(): Promise<void> {
    await stop(world.sv4)
    await runCli(world.sv4, 'replica', 'wipe', '--config', world.sv4.configFile)
  }

  type Fault = { readonly begin: () => unknown; readonly end: () => unknown }
  const FAULTS: Readonly<Record<string, Fault>> = {
    diverged: {
      async begin() {
        const sockets = JSON.parse(
          readFileSync(join(world.sv4.machine.directory, 'var/sockets.json'), 'utf8'),
        ).content
        const redis = new Redis({ path: join(sockets.path, 'sv-4') })
        const key = '{replica}:names'
        const value = (await redis.hgetBuffer(key, ALICE)) ?? Buffer.of()
        const forged = value.toString('latin1').replace('alice::', 'mallo::')
        expect(forged).not.toBe(value.toString('latin1'))
        await redis.hset(key, ALICE, Buffer.from(forged, 'latin1'))
        redis.disconnect()
        killNode()
      },
      async end() {
        await wipe()
        await runAgain()
      },
    },
    rebuilding: {
      async begin() {
        await wipe()
        // The log does not come, so that it does not end soon.
        await withVariables({ QS_LOG: NOWHERE })
        run(world.sv4)
      },
      end: runAgain,
    },
    behind: {
      async begin() {
        await stop(world.sv4)
        await withVariables({ QS_LOG: NOWHERE })
        run(world.sv4)
      },
      end: runAgain,
    },
    'old software': {
      async begin() {
        const version = (await newestKnown(ROOT)) + 1
        for (const operator of world.network.svs.slice(0, 3))
          await decide(world.network, operator, 'protocol', 'vote', String(version))
      },
      async end() {
        world.sv4.bin = world.sv1.bin
        await runAgain()
      },
    },
    hung: {
      // Again, whenever `run` has started it again: else what is seen ends after a minute.
      begin() {
        const stopping = new AbortController()
        const work = () => process.kill(pidOf('sv-4'), 'SIGSTOP')
        const onError = () => {} // It does not run now.
        repeat(work, { everyMs: HANG_EVERY_MS, clock, signal: stopping.signal, onError })
        world.stopHanging = () => stopping.abort()
      },
      async end() {
        await untilTrue('`run` to end the process that hangs', () =>
          outputOf(world.sv4).includes('it showed no life for 60 s, and was ended'),
        )
        world.stopHanging?.()
        // One that hangs now; `run` has started it, or will.
        await runAgain()
      },
    },
    'cut off': {
      begin: () => world.sv4.machine.cutOff(),
      end: () => world.sv4.machine.reconnect(),
    },
    'wrong genesis': {
      async begin() {
        await stop(world.sv4)
        const { directory } = world.sv4.machine
        const genesis = JSON.parse(readFileSync(join(directory, 'etc/genesis.json'), 'utf8'))
        const other = { ...genesis, nonce: '00'.repeat(32) }
        const file = world.sv4.machine.write('etc/other.json', JSON.stringify(other))
        await withVariables({ QS_GENESIS: file })
        const child = run(world.sv4)
        await once(child, 'exit')
        process.stdout.write(outputOf(world.sv4))
        expect(child.exitCode).toBe(2)
      },
      end: runAgain,
    },
    'expired certificate': {
      async begin() {
        await world.network.certify(world.sv4.machine, 0)
        killNode() // Other processes keep their connections otherwise.
      },
      async end() {
        await world.network.certify(world.sv4.machine)
        await runAgain()
      },
    },
    'wrong clock': {
      begin: () => writeFileSync(world.clockFile, String(WRONG_CLOCK_MS)),
      end: () => writeFileSync(world.clockFile, '0'),
    },
    'full disk': {
      begin: () => world.disk?.fill(FULL_DISK),
      end: () => world.disk?.clear(DISK),
    },
  }

  it.each(faults)('%s', { tags: [tag] }, async (fault) => {
    let shown = ''
    const show = async () => {
      const seen = await view()
      const text = `${fault}: ${JSON.stringify(seen)}\n`
      if (text !== shown) process.stdout.write(text)
      shown = text
      return seen
    }
    const untilSeen = (what: string, wanted: View) =>
      untilRead(what, show, (seen) => JSON.stringify(seen) === JSON.stringify(wanted), {
        timeoutMs: SEEN_WITHIN_MS,
        intervalMs: READ_EVERY_MS,
      })
    await untilSeen('no fault to be seen', HEALTHY)
    const { begin, end } = FAULTS[fault] as Fault
    await begin()
    try {
      if (process.env['WRITE_TABLES'] === '1') {
        const lastMs = clock.monotonicMs() + WRITTEN_AFTER_MS
        const seen = await until(
          'the time of all alerts',
          async () => {
            const now = await show()
            return clock.monotonicMs() > lastMs ? now : undefined
          },
          { timeoutMs: SEEN_WITHIN_MS, intervalMs: READ_EVERY_MS },
        )
        writeRow(TITLES.own, fault, seen.own)
        writeRow(TITLES.others, fault, seen.others)
        return
      }
      const wanted = { own: rowOf(TITLES.own, fault), others: rowOf(TITLES.others, fault) }
      await untilSeen(`what the tables say of: ${fault}`, wanted)
    } finally {
      await end()
    }
  })
})

/** Names of the alerts that fire at the operator's own Prometheus, in the order of the alphabet. */
function alertsIn({ alerts }: Asked): string {
  const found: readonly Alert[] = parse(alerts.text)?.data?.alerts ?? []
  const firing = found.filter(({ state }) => state === 'firing')
  return [...new Set(firing.map(({ labels }) => labels['alertname']))].sort().join(', ') || '–'
}

/** 200, the code of a refusal, or that nothing answers. */
function readiness({ status, text }: Answer): string {
  if (status === 200) return '200'
  return parse(text)?.code ?? 'no answer'
}

/** What a command printed that ended with another status than 0. */
function stdoutOf(error: unknown): string {
  return error instanceof Error && 'stdout' in error ? String(error.stdout) : ''
}
