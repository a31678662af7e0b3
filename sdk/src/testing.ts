/**
 * Starts a real cluster for tests. It runs the `quorumscan` command (an optional peer dependency) with the same
 * processes as in production. Node only.
 */
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { type Genesis, parseGenesis } from '@quorumscan/verifier'
import { failure, type QuorumscanError, transient } from './errors.ts'
import { inTime, systemClock } from './platform/clock.ts'
import { assertOptions, isArray, isMs, isObject, isSignal, isWhole } from './platform/options.ts'
import { createScan, type Scan, type ScanOptions } from './scan.ts'
import { createValidator, type Validator } from './validator.ts'
import type { ValidatorOptions } from './validator-options.ts'

/** Options of `startCluster`. */
export type TestClusterOptions = {
  /** From 1 to 13. The default is 4, which tolerates one lying node. */
  readonly nodes?: number
  /** Other rules of the network, such as `{names: {entryLifetimeMicros: 5_000_000}}`. */
  readonly genesisOverrides?: object
  /** How to run the command. Default: the one installed in the project, else the one on the PATH. */
  readonly command?: readonly [string, ...string[]]
}

/**
 * State of a node. `paused`: hangs. `down`: does not run. `silent`: runs, but does not answer. `catching-up`: reads the
 * log, and answers when it has reached its end.
 */
export type NodeState = 'starting' | 'catching-up' | 'up' | 'silent' | 'paused' | 'down'

/** The status of a cluster. */
export type ClusterStatus = {
  /** Values of the genesis, and thresholds that follow from them. */
  readonly cluster: {
    /** Number of scan nodes. */
    readonly n: number
    /** How many of them may lie or be down. */
    readonly f: number
    /** Equal votes for a `weak` read. */
    readonly readThreshold: number
    /** Confirmations for a registration. */
    readonly confirmThreshold: number
    /** 64 hex digits, for `genesis` of `createScan`. */
    readonly genesisHash: string
  }
  /** The scan nodes. */
  readonly nodes: readonly {
    readonly name: string
    readonly url: string
    readonly state: NodeState
    /** Newest ledger offset that it has applied; null while it does not answer. */
    readonly offset: number | null
  }[]
  /** The one validator. */
  readonly validator: { readonly url: string; readonly state: NodeState }
}

/** A running cluster. Methods with a node take its name, `sv-1` …, or `validator`. */
export type TestCluster = AsyncDisposable & {
  /** Directory of its files; `down` deletes it. */
  readonly dataDir: string
  /** The genesis document. */
  readonly genesis: Genesis
  /** Its hash, 64 hex digits. */
  readonly genesisHash: string
  /** URLs of all scan nodes. */
  readonly seeds: readonly string[]
  /** URL of the validator's root, for `createValidator`. */
  readonly validatorUrl: string
  /** A verified reader of this cluster; close it. */
  scan(options?: Partial<ScanOptions>): Scan
  /**
   * A client of the validator as this user, who gets a party with `wallet.party()`, or with its first payment. Its calls may
   * take 30 s unless `timeoutMs` is given, since the cluster shares the machine with the test.
   */
  validator(user: string, options?: Partial<ValidatorOptions>): Validator
  /** A bearer token of the user; without a user, of the administrator. */
  token(user?: string): Promise<string>
  /** Sends SIGKILL. */
  kill(node: string): Promise<void>
  /** Sends SIGSTOP, so that the process hangs. */
  pause(node: string): Promise<void>
  /** Sends SIGCONT to a paused process. */
  resume(node: string): Promise<void>
  /** Starts a killed process, or restarts a running one. */
  restart(node: string): Promise<void>
  /** Deletes a replica, which is rebuilt from the log. */
  wipe(node: string): Promise<void>
  /** The current status. */
  status(): Promise<ClusterStatus>
  /** Resolves once the status satisfies `isWanted`; rejects after `timeoutMs` (30 000). */
  waitFor(
    isWanted: (status: ClusterStatus) => boolean,
    options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal | undefined },
  ): Promise<ClusterStatus>
  /** Stops all processes and deletes the directory. The command is killed after `timeoutMs` (30 000). */
  down(options?: { readonly timeoutMs?: number }): Promise<void>
}

const WAIT_MS = 30_000
const POLL_MS = 100
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024

/**
 * Starts a cluster on free ports and returns when all processes are ready (some seconds). The start has no time-out of its
 * own: it ends when the command ends, which gives up a process that does not answer for 60 s. `waitFor` and `down` take
 * 30 s, and calls of `validator` 30 s, unless they are given another `timeoutMs`; calls of `scan` 10 s. It ends with `down`, with
 * `await using`, or with this process.
 *
 * @example await using cluster = await startCluster({ nodes: 4 })
 * @throws {QuorumscanError} CLUSTER_FAILED if the command is not installed, or the cluster does not start; the message
 *   has its output.
 */
export async function startCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  assertOptions('startCluster', options, {
    nodes: isWhole(1, 13),
    genesisOverrides: isObject,
    command: isArray,
  })
  const [program, ...first] = options.command ?? findCommand()
  const dataDir = await mkdtemp(join(tmpdir(), 'quorumscan-test-'))
  const argsOf = (args: readonly string[]) => [...first, ...args, '--data-dir', dataDir]
  const up = ['up', '--json', '--base-port', '0', '--nodes', String(options.nodes ?? 4)]
  if (options.genesisOverrides !== undefined) {
    const file = join(dataDir, 'overrides.json')
    await writeFile(file, JSON.stringify(options.genesisOverrides))
    up.push('--genesis-overrides', file)
  }
  const child = spawn(program, argsOf(up), { stdio: ['ignore', 'pipe', 'pipe'] })
  const end = () => child.kill('SIGINT')
  process.once('exit', end)
  const down = async (bounds: { readonly timeoutMs?: number } = {}): Promise<void> => {
    assertOptions('down', bounds, { timeoutMs: isMs })
    const { timeoutMs = WAIT_MS } = bounds
    process.off('exit', end)
    const isRunning = child.exitCode === null && child.signalCode === null
    if (child.pid !== undefined && isRunning) {
      end()
      const exited = once(child, 'exit')
      await inTime(systemClock, timeoutMs, exited).catch(() => child.kill('SIGKILL'))
      await exited
    }
    await rm(dataDir, { recursive: true, force: true })
  }
  const run = async (...args: readonly string[]): Promise<string> => {
    const bounds = { maxBuffer: OUTPUT_BYTES_MAX }
    const { stdout } = await promisify(execFile)(program, argsOf(args), bounds)
    return stdout.trim()
  }
  const act = (command: string) => async (node: string) => {
    await run(command, node)
  }
  const status = async () => JSON.parse(await run('status', '--json')) as ClusterStatus
  const token = (user?: string) => run('token', ...(user === undefined ? ['--admin'] : [user]))
  try {
    const { cluster, nodes, validator } = await untilReady(child)
    const genesis = parseGenesis(JSON.parse(await readFile(join(dataDir, 'genesis.json'), 'utf8')))
    const seeds = nodes.map((node) => node.url)
    const client = { url: validator.url, timeoutMs: WAIT_MS }
    return {
      dataDir,
      genesis,
      genesisHash: cluster.genesisHash,
      seeds,
      validatorUrl: validator.url,
      scan: (more) => createScan({ seeds, genesis, ...more }),
      validator: (user, more) => createValidator({ ...client, token: () => token(user), ...more }),
      token,
      kill: act('kill'),
      pause: act('pause'),
      resume: act('resume'),
      restart: act('restart'),
      wipe: act('wipe'),
      status,
      async waitFor(isWanted, bounds = {}) {
        assertOptions('waitFor', bounds, { timeoutMs: isMs, signal: isSignal })
        const { timeoutMs = WAIT_MS, signal } = bounds
        const endsAtMs = systemClock.monotonicMs() + timeoutMs
        for (;;) {
          const now = await status()
          if (isWanted(now)) return now
          if (systemClock.monotonicMs() > endsAtMs) {
            const message = `The cluster did not reach the expected state within ${timeoutMs} ms: ${JSON.stringify(now)}.`
            throw transient('TIMEOUT', message)
          }
          await systemClock.delay(POLL_MS, signal)
        }
      },
      down,
      [Symbol.asyncDispose]: () => down(),
    }
  } catch (error) {
    await down()
    throw error
  }
}

/** The status that the command prints when all processes are ready. */
async function untilReady(child: ChildProcessByStdio<null, Readable, Readable>) {
  let output = ''
  child.stderr.on('data', (chunk: Uint8Array) => {
    output += String(chunk)
  })
  const failed = once(child, 'exit').then(
    ([code]) => {
      throw clusterFailed(`quorumscan exited with ${code} before the cluster was ready:\n${output}`)
    },
    (cause: unknown) => {
      const message = 'The quorumscan command is missing: install it, or pass `command`.'
      throw clusterFailed(message, cause)
    },
  )
  const ready = async (): Promise<ClusterStatus> => {
    for await (const line of createInterface({ input: child.stdout }))
      if (line.startsWith('{')) return JSON.parse(line) as ClusterStatus // Its documented form.
    return failed
  }
  return Promise.race([ready(), failed])
}

function clusterFailed(message: string, cause?: unknown): QuorumscanError {
  return failure('CLUSTER_FAILED', message, { cause })
}

/** The command in `node_modules/.bin` of this directory or its parents; else the system searches the PATH. */
function findCommand(): readonly [string] {
  for (let at = process.cwd(); ; at = dirname(at)) {
    const file = join(at, 'node_modules/.bin/quorumscan')
    if (existsSync(file)) return [file]
    if (dirname(at) === at) return ['quorumscan']
  }
}
