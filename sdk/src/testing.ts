/**
 * A real cluster for tests, in one line: it runs the `quorumscan` command (an optional peer dependency),
 * whose processes are those that run anywhere else. Node only.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { type Genesis, parseGenesis } from '@quorumscan/verifier'
import { failure, passing, type QuorumscanError } from './errors.ts'
import { systemClock } from './platform/clock.ts'
import { createScan, type Scan, type ScanOptions } from './scan.ts'
import { createValidator, type Validator, type ValidatorOptions } from './validator.ts'

/** What cluster to start. */
export type TestClusterOptions = {
  /** From 1 to 13; 4 (the default) tolerate one that lies. */
  readonly nodes?: number
  /** Other rules of the network, such as `{names: {entryLifetimeMicros: 5_000_000}}`. */
  readonly genesisOverrides?: object
  /** How to run the command. Default: the one that is installed in the project, else on the PATH. */
  readonly command?: readonly [string, ...string[]]
}

/**
 * `paused` hangs, `down` does not run, `silent` runs and does not say how it is; `catching-up` reads the log, and answers
 * only when it is through.
 */
export type NodeState = 'starting' | 'catching-up' | 'up' | 'silent' | 'paused' | 'down'

/** How a cluster is at one moment. */
export type ClusterStatus = {
  /** What the genesis says, and what follows from it. */
  readonly cluster: {
    /** Scan nodes. */
    readonly n: number
    /** Of these so many may lie or be dead. */
    readonly f: number
    /** Equal votes that a `weak` read needs. */
    readonly readThreshold: number
    /** Confirmations that a registration needs. */
    readonly confirmThreshold: number
    /** 64 hex digits: what `createScan` takes as `genesis`. */
    readonly genesisHash: string
  }
  /** The scan nodes. */
  readonly nodes: readonly {
    readonly name: string
    readonly url: string
    readonly state: NodeState
    /** Newest ledger offset that it applied; null while it cannot be asked. */
    readonly offset: number | null
  }[]
  /** The one validator. */
  readonly validator: { readonly url: string; readonly state: NodeState }
}

/** A cluster that runs. What takes a node takes its name, `sv-1` …, or `validator`. */
export type TestCluster = AsyncDisposable & {
  /** Where its files are; deleted by `down`. */
  readonly dataDir: string
  /** The genesis document: whom to believe. */
  readonly genesis: Genesis
  /** Its hash, 64 hex digits. */
  readonly genesisHash: string
  /** URLs of all scan nodes. */
  readonly seeds: readonly string[]
  /** URL of the validator's root, for `createValidator`. */
  readonly validatorUrl: string
  /** A verified reader of this cluster; close it. */
  scan(options?: Partial<ScanOptions>): Scan
  /** What this user of the validator can do. Without `wallet.register()` he has no party yet. */
  validator(user: string, options?: Partial<ValidatorOptions>): Validator
  /** A bearer token; without a user, of the administrator. */
  token(user?: string): Promise<string>
  /** SIGKILL. */
  kill(node: string): Promise<void>
  /** SIGSTOP: it hangs. */
  pause(node: string): Promise<void>
  /** SIGCONT: what was paused goes on. */
  resume(node: string): Promise<void>
  /** Starts what was killed, or stops and starts it. */
  restart(node: string): Promise<void>
  /** Deletes a replica; it is rebuilt from the log. */
  wipe(node: string): Promise<void>
  /** How all of it is now. */
  status(): Promise<ClusterStatus>
  /** Resolves once the status is as wanted; rejects after `timeoutMs` (30 000). */
  waitFor(
    isWanted: (status: ClusterStatus) => boolean,
    options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal },
  ): Promise<ClusterStatus>
  /** Stops everything and deletes its directory. */
  down(): Promise<void>
}

const WAIT_MS = 30_000
const POLL_MS = 100
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024

/**
 * Starts a cluster on free ports and returns when all of it is ready (some seconds). It ends with `down`,
 * with `await using`, or with this process.
 *
 * @throws {QuorumscanError} CLUSTER_FAILED if the command is not installed, or the cluster does not start; with what it said.
 */
export async function startCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const command = options.command ?? findCommand()
  const dataDir = await mkdtemp(join(tmpdir(), 'quorumscan-test-'))
  const args = ['up', '--json', '--base-port', '0', '--nodes', String(options.nodes ?? 4)]
  if (options.genesisOverrides !== undefined) {
    const file = join(dataDir, 'overrides.json')
    await writeFile(file, JSON.stringify(options.genesisOverrides))
    args.push('--genesis-overrides', file)
  }
  const [program, ...first] = command
  const child = spawn(program, [...first, ...args, '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const end = () => child.kill('SIGINT')
  process.once('exit', end)
  const stop = async (): Promise<void> => {
    process.off('exit', end)
    const isRunning = child.exitCode === null && child.signalCode === null
    if (child.pid !== undefined && isRunning) {
      end()
      await once(child, 'exit')
    }
    await rm(dataDir, { recursive: true, force: true })
  }
  try {
    const status = await untilReady(child)
    const genesis = parseGenesis(JSON.parse(await readFile(join(dataDir, 'genesis.json'), 'utf8')))
    return createTestCluster({ command, dataDir, genesis, status, stop })
  } catch (error) {
    await stop()
    throw error
  }
}

function clusterFailed(message: string, cause?: unknown): QuorumscanError {
  return failure('CLUSTER_FAILED', message, { cause })
}

/** The status that it prints when all is ready. */
async function untilReady(child: ChildProcess): Promise<ClusterStatus> {
  let said = ''
  child.stderr?.on('data', (chunk: Uint8Array) => {
    said += String(chunk)
  })
  const failed = once(child, 'exit').then(
    ([code]) => {
      throw clusterFailed(`quorumscan ended with ${code} before the cluster was ready:\n${said}`)
    },
    (cause: unknown) => {
      throw clusterFailed('There is no quorumscan command: install it, or pass `command`.', cause)
    },
  )
  const ready = async (): Promise<ClusterStatus> => {
    if (child.stdout === null) throw clusterFailed('quorumscan has no standard output.')
    for await (const line of createInterface({ input: child.stdout }))
      if (line.startsWith('{')) return JSON.parse(line) as ClusterStatus // Its documented form.
    return failed
  }
  return Promise.race([ready(), failed])
}

function createTestCluster(parts: {
  readonly command: readonly [string, ...string[]]
  readonly dataDir: string
  readonly genesis: Genesis
  readonly status: ClusterStatus
  readonly stop: () => Promise<void>
}): TestCluster {
  const { dataDir, genesis, stop } = parts
  const seeds = parts.status.nodes.map((node) => node.url)
  const validatorUrl = parts.status.validator.url
  const [program, ...first] = parts.command
  const run = async (...args: readonly string[]): Promise<string> => {
    const words = [...first, ...args, '--data-dir', dataDir]
    const { stdout } = await promisify(execFile)(program, words, { maxBuffer: OUTPUT_BYTES_MAX })
    return stdout.trim()
  }
  const act = async (...args: readonly string[]): Promise<void> => {
    await run(...args)
  }
  const status = async () => JSON.parse(await run('status', '--json')) as ClusterStatus
  const token = (user?: string) => run('token', ...(user === undefined ? ['--admin'] : [user]))
  return {
    dataDir,
    genesis,
    genesisHash: parts.status.cluster.genesisHash,
    seeds,
    validatorUrl,
    scan: (options) => createScan({ seeds, genesis, ...options }),
    validator: (user, options) =>
      createValidator({ url: validatorUrl, token: () => token(user), ...options }),
    token,
    kill: (node) => act('kill', node),
    pause: (node) => act('pause', node),
    resume: (node) => act('resume', node),
    restart: (node) => act('restart', node),
    wipe: (node) => act('wipe', node),
    status,
    async waitFor(isWanted, { timeoutMs = WAIT_MS, signal } = {}) {
      const endsAtMs = systemClock.monotonicMs() + timeoutMs
      for (;;) {
        const now = await status()
        if (isWanted(now)) return now
        if (systemClock.monotonicMs() > endsAtMs)
          throw passing(
            'TIMEOUT',
            `Not within ${timeoutMs} ms; the cluster is ${JSON.stringify(now)}.`,
          )
        await systemClock.delay(POLL_MS, signal)
      }
    },
    down: stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** In `node_modules/.bin` of this directory and those above; else the system looks on the PATH. */
function findCommand(): readonly [string] {
  for (let at = process.cwd(); ; at = dirname(at)) {
    const file = join(at, 'node_modules/.bin/quorumscan')
    if (existsSync(file)) return [file]
    if (dirname(at) === at) return ['quorumscan']
  }
}
