/**
 * Simulates separate machines of operators on this machine. Each is a network namespace with its own address. A bridge
 * connects them and this process. Without the right to make namespaces, each is a loopback address. Each machine has a
 * directory and, if this process is root and other users can read this repository, its own user. Linux only.
 */
import {
  type ChildProcess,
  execFile,
  execFileSync,
  type StdioOptions,
  spawn,
  spawnSync,
} from 'node:child_process'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { redisCache } from '@quorumscan/base'
import { createDirectory, provided, required, untilTrue } from '@quorumscan/testkit'
import { deleteAfterTest } from './test-logs.ts'

const exec = promisify(execFile)

/** Prefix of the namespaces and links of this process. The pid shows which ones a killed process has left. */
const PREFIX = `qs${process.pid}`
/** Addresses for network tests (RFC 2544), which no real network uses. */
const TRIAL_NETWORK = '198.18'
/** Announced addresses, if a proxy relays connections between machines. */
const ANNOUNCED_NETWORK = '198.19'
/** Number of networks for processes that run in parallel. */
const NETWORK_COUNT = 256
/** Last byte of the address of this process on the bridge. */
const OWN_NUMBER = 254
/** First of the user ids of machines. They have no names. */
const USER_FIRST = 47_000
/** A variable of every process on a machine. Its value is the machine's directory. */
const MARKER = 'QUORUMSCAN_TEST_MACHINE'

export type Machine = {
  readonly name: string
  readonly address: string
  /** Listening address of programs that other machines can reach. */
  readonly anyAddress: string
  /** Listening address of programs that only this machine can reach. */
  readonly ownAddress: string
  /** Only its user can access it. */
  readonly directory: string
  /** Runs a program to its end, and returns its standard output. */
  run(command: string, ...args: readonly string[]): Promise<string>
  /** Starts a program. */
  start(
    options: { readonly stdio: StdioOptions; readonly env?: Readonly<Record<string, string>> },
    command: string,
    ...args: readonly string[]
  ): ChildProcess
  /** Writes a file below its directory, and returns the absolute path. */
  write(path: string, content: string | Uint8Array): string
  /** Kills all its processes at once, like a power failure. */
  kill(): Promise<void>
  /** Drops all traffic in and out. On a loopback address, all its processes are paused instead. */
  cutOff(): Promise<void>
  reconnect(): Promise<void>
  /** Kills its processes, and takes it from the network. Its directory stays. */
  detach(): Promise<void>
  /** As `detach`, and deletes its directory. */
  destroy(): Promise<void>
}

export type Machines = AsyncDisposable & {
  readonly kind: Wiring['kind']
  /** Address of this process for the machines. */
  readonly hostAddress: string
  /** Parent of the machines' directories. All users can enter it. */
  readonly directory: string
  /** @param address - Address of a destroyed machine. Default: a new address. */
  add(name: string, address?: string): Promise<Machine>
}

/** Relays connections from the announced address of a machine to its real address. */
export type StartRelay = (announced: string, address: string) => Promise<void>

/**
 * The directory stays until the current test has ended, so that its logs are printed if it fails.
 *
 * @param startRelay - Starts a relay in front of each machine. Used only if machines are namespaces.
 */
export async function createMachines(startRelay?: StartRelay): Promise<Machines> {
  const { path: root } = createDirectory('machines')
  await chmod(root, 0o711) // A user can enter its directory, but not list the others.
  const wiring = canUseNamespaces() ? wireNamespaces(startRelay) : wireLoopback()
  const redis = redisOfMachines(root)
  const hasUsers = canHaveUsers()
  const machines = new Set<Machine>()
  let count = 0
  return {
    kind: wiring.kind,
    hostAddress: wiring.hostAddress,
    directory: root,
    async add(name, address) {
      const number = ++count
      const machine = await addMachine(wiring, {
        name,
        address: address ?? wiring.addressOf(number),
        directory: join(root, `${number}-${name}`),
        user: hasUsers ? USER_FIRST + number : null,
        redis,
        onDetached: () => machines.delete(machine),
      })
      machines.add(machine)
      return machine
    },
    async [Symbol.asyncDispose]() {
      for (const machine of machines) await machine.detach()
      wiring.remove()
      deleteAfterTest(root)
    },
  }
}

async function addMachine(
  wiring: Wiring,
  options: {
    readonly name: string
    readonly address: string
    readonly directory: string
    /** Its own user; null: that of this process. */
    readonly user: number | null
    /** The Redis of its processes. */
    readonly redis: string
    onDetached(): void
  },
): Promise<Machine> {
  const { name, address, directory, user, redis } = options
  const chownToUser = (path: string) => {
    if (user !== null) chownSync(path, user, user)
  }
  mkdirSync(directory, { mode: 0o700 })
  chownToUser(directory)
  const attachment = await wiring.attach(name, address)
  const enter = [...attachment.enter, ...(user === null ? [] : becomeUser(user))]
  const env = {
    PATH: process.env['PATH'],
    HOME: directory,
    REDIS_SERVER: redis,
    [MARKER]: directory,
  }
  const onMachine = (command: string, args: readonly string[]) => {
    const [first = command, ...rest] = [...enter, command, ...args]
    return [first, rest] as const
  }
  const signal = (name: NodeJS.Signals) => {
    for (const pid of pidsOf(directory))
      try {
        process.kill(pid, name)
      } catch {
        // The process has ended.
      }
  }
  const kill = () =>
    untilTrue(`nothing to run on ${name}`, () => {
      signal('SIGKILL')
      return pidsOf(directory).length === 0
    })
  const detach = async () => {
    await kill()
    attachment.remove()
    options.onDetached()
  }
  return {
    name,
    address,
    directory,
    anyAddress: wiring.kind === 'namespaces' ? '0.0.0.0' : address,
    ownAddress: wiring.kind === 'namespaces' ? '127.0.0.1' : address,
    async run(command, ...args) {
      const { stdout } = await exec(...onMachine(command, args), { env, cwd: directory })
      return stdout.trim()
    },
    start({ stdio, env: more }, command, ...args) {
      return spawn(...onMachine(command, args), { env: { ...env, ...more }, cwd: directory, stdio })
    },
    write(path, content) {
      const file = join(directory, path)
      const made = mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      if (made !== undefined)
        for (let at = dirname(file); at !== directory; at = dirname(at)) chownToUser(at)
      writeFileSync(file, content, { mode: 0o600 })
      chownToUser(file)
      return file
    },
    kill,
    async cutOff() {
      if (attachment.cut === null) signal('SIGSTOP')
      else attachment.cut(true)
    },
    async reconnect() {
      if (attachment.cut === null) signal('SIGCONT')
      else attachment.cut(false)
    },
    detach,
    async destroy() {
      await detach()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** The beginning of a command that another user runs. */
function becomeUser(user: number): readonly string[] {
  return ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--inh-caps=-all']
}

/** Root can become another user, who must be able to run this Node and read this file: both may be in the home of root. */
function canHaveUsers(): boolean {
  if (process.getuid?.() !== 0) return false
  const [setpriv = '', ...words] = becomeUser(USER_FIRST)
  const read = ['-e', 'fs.readFileSync(process.argv[1])', import.meta.filename]
  return spawnSync(setpriv, [...words, process.execPath, ...read], { cwd: '/' }).status === 0
}

/** The path of the Redis of machines. Their users cannot read the cache of this user: they get a copy. */
function redisOfMachines(directory: string): string {
  const redis = required('redis')
  const [copy = '..'] = relative(redisCache(process.env), redis).split('/')
  if (copy === '..') return redis
  // Links within it stay within it.
  const how = { recursive: true, verbatimSymlinks: true }
  cpSync(join(redisCache(process.env), copy), join(directory, copy), how)
  return join(directory, relative(redisCache(process.env), redis))
}

/** The processes on the machine with this directory. */
function pidsOf(directory: string): readonly number[] {
  const wanted = `${MARKER}=${directory}`
  return readdirSync('/proc')
    .filter((entry) => /^[0-9]+$/.test(entry))
    .filter((pid) => environmentOf(pid).includes(wanted))
    .map(Number)
}

function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    return [] // The process has ended, or belongs to another user.
  }
}

/** How machines reach each other. */
type Wiring = {
  readonly kind: 'namespaces' | 'loopback addresses'
  readonly hostAddress: string
  addressOf(number: number): string
  attach(name: string, address: string): Promise<Attachment>
  remove(): void
}
type Attachment = {
  /** Prefix of commands that run on the machine. */
  readonly enter: readonly string[]
  /** Null if a single machine cannot be cut off. */
  readonly cut: ((isCut: boolean) => void) | null
  remove(): void
}

const ip = (...args: readonly string[]) =>
  execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/** If false, machines are loopback addresses. With CI set, missing rights are an error instead. */
function canUseNamespaces(): boolean {
  if (provided('namespaces') === null) return false
  removeLeftovers()
  return true
}

/** Removes namespaces and bridges of killed processes. */
function removeLeftovers(): void {
  const isOrphaned = (name: string) => {
    const [, pid] = /^qs([0-9]+)/.exec(name) ?? []
    return pid !== undefined && !existsSync(`/proc/${pid}`)
  }
  const spaces = ip('netns', 'list')
    .split('\n')
    .map((line) => line.split(' ')[0] ?? '')
  for (const space of spaces.filter(isOrphaned)) {
    for (const pid of ip('netns', 'pids', space).trim().split('\n').filter(Boolean))
      process.kill(Number(pid), 'SIGKILL')
    ip('netns', 'del', space)
  }
  const bridges: { ifname: string }[] = JSON.parse(ip('-json', 'link', 'show', 'type', 'bridge'))
  for (const { ifname } of bridges) if (isOrphaned(ifname)) ip('link', 'del', ifname)
}

function wireNamespaces(startRelay: StartRelay | undefined): Wiring {
  const bridge = `${PREFIX}b`
  const last = freeNetwork()
  const [network, announced] = [`${TRIAL_NETWORK}.${last}`, `${ANNOUNCED_NETWORK}.${last}`]
  const spaces = new Set<string>()
  ip('link', 'add', bridge, 'type', 'bridge')
  ip('address', 'add', `${network}.${OWN_NUMBER}/24`, 'dev', bridge)
  ip('link', 'set', bridge, 'up')
  const removeSpace = (space: string) => {
    if (spaces.delete(space)) ip('netns', 'del', space)
  }
  const remove = () => {
    process.removeListener('exit', remove)
    for (const space of spaces) removeSpace(space)
    ip('link', 'del', bridge)
  }
  process.once('exit', remove)
  let count = 0
  return {
    kind: 'namespaces',
    hostAddress: `${network}.${OWN_NUMBER}`,
    addressOf: (number) => `${startRelay === undefined ? network : announced}.${number}`,
    async attach(name, address) {
      const space = `${PREFIX}-${++count}-${name}`
      const port = `${PREFIX}v${count}`
      const peer = ['type', 'veth', 'peer', 'eth0', 'netns', space]
      ip('netns', 'add', space)
      spaces.add(space)
      ip('link', 'add', port, 'master', bridge, 'up', ...peer)
      for (const link of ['lo', 'eth0']) ip('-n', space, 'link', 'set', link, 'up')
      const realAddress = startRelay === undefined ? address : `${network}.${count}`
      ip('-n', space, 'address', 'add', `${realAddress}/24`, 'dev', 'eth0')
      if (startRelay !== undefined) {
        // The machine reaches itself directly. All others reach it through the relay at its address.
        ip('-n', space, 'address', 'add', `${address}/32`, 'dev', 'lo')
        ip('-n', space, 'route', 'add', 'default', 'via', `${network}.${OWN_NUMBER}`)
        ip('address', 'add', `${address}/32`, 'dev', bridge)
        await startRelay(address, realAddress)
      }
      return {
        enter: ['ip', 'netns', 'exec', space],
        cut: (isCut) => void ip('link', 'set', port, isCut ? 'down' : 'up'),
        remove: () => removeSpace(space),
      }
    },
    remove,
  }
}

/** The third byte of a network that no link of this machine uses. */
function freeNetwork(): number {
  const taken = ip('-oneline', 'address', 'show')
  for (let each = 0; each < NETWORK_COUNT; each++) {
    const number = (process.pid + each) % NETWORK_COUNT
    if (!taken.includes(` ${TRIAL_NETWORK}.${number}.`)) return number
  }
  throw new Error(`all of ${TRIAL_NETWORK}.0.0/16 is taken`)
}

function wireLoopback(): Wiring {
  const network = `127.${1 + (process.pid % 254)}.${(process.pid >> 8) % 256}`
  return {
    kind: 'loopback addresses',
    hostAddress: `${network}.${OWN_NUMBER}`,
    addressOf: (number) => `${network}.${number}`,
    attach: async () => ({ enter: [], cut: null, remove: () => {} }),
    remove: () => {},
  }
}
