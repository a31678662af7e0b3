/**
 * Machines of operators who share none, on this one: each is a network namespace with an address of its own, on a bridge
 * at which this process is, too; where that is not allowed, a loopback address. Each has a directory, and, where this
 * process is root, a user of its own. Linux only.
 */
import {
  type ChildProcess,
  execFile,
  execFileSync,
  type StdioOptions,
  spawn,
} from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { provided, untilTrue } from '@quorumscan/testkit'

const exec = promisify(execFile)

/** Names of what belongs to this process begin so: what a killed one left behind is known by its pid. */
const PREFIX = `qs${process.pid}`
/** Of addresses for trying out networks (RFC 2544), which no real network has. */
const TRIAL_NETWORK = '198.18'
/** The same, where what is announced is not where a machine is. */
const ANNOUNCED_NETWORK = '198.19'
/** Networks of processes that run side by side. */
const NETWORK_COUNT = 256
/** The end of the bridge at which this process is. */
const OWN_NUMBER = 254
/** Users without a name, one for each machine, from here on. */
const USER_FIRST = 47_000
/** In the environment of all that runs on a machine; its value is the machine's directory. */
const MARKER = 'QUORUMSCAN_TEST_MACHINE'

export type Machine = {
  readonly name: string
  readonly address: string
  /** Where its programs listen for everybody. */
  readonly anyAddress: string
  /** Where they listen for this machine alone. */
  readonly ownAddress: string
  /** For its user alone. */
  readonly directory: string
  /** Runs a program to its end; what it wrote to its standard output. */
  run(command: string, ...args: readonly string[]): Promise<string>
  /** Starts a program. */
  start(
    options: { readonly stdio: StdioOptions; readonly env?: Readonly<Record<string, string>> },
    command: string,
    ...args: readonly string[]
  ): ChildProcess
  /** Puts a file below its directory; where it is. */
  write(path: string, content: string | Uint8Array): string
  /** Ends all that runs on it at once, as a loss of power does. */
  kill(): Promise<void>
  /** Drops all traffic in and out. On a loopback address, all its processes are paused instead. */
  cutOff(): Promise<void>
  reconnect(): Promise<void>
  /** It is lost, with its disk. */
  destroy(): Promise<void>
}

export type Machines = AsyncDisposable & {
  readonly kind: Wiring['kind']
  /** Where they reach this process. */
  readonly hostAddress: string
  /** Has a directory for each machine, and one that all may read. */
  readonly directory: string
  /** @param address - Of one that was destroyed. Default: a new one. */
  add(name: string, address?: string): Promise<Machine>
}

/** Stands between machines: peers that connect to the announced address reach it. */
export type Between = (announced: string, address: string) => Promise<void>

/** @param between - Where machines are namespaces, on the way of each to any other. */
export async function createMachines(between?: Between): Promise<Machines> {
  const root = await mkdtemp(join(tmpdir(), 'qs-machines-'))
  await chmod(root, 0o711) // Each finds its own in it, and nothing else.
  const wiring = mayWire() ? wireNamespaces(between) : wireLoopback()
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
        number,
        address: address ?? wiring.addressOf(number),
        directory: join(root, `${number}-${name}`),
        onDestroyed: () => machines.delete(machine),
      })
      machines.add(machine)
      return machine
    },
    async [Symbol.asyncDispose]() {
      for (const machine of machines) await machine.destroy()
      wiring.remove()
      await rm(root, { recursive: true, force: true })
    },
  }
}

async function addMachine(
  wiring: Wiring,
  options: {
    readonly name: string
    readonly number: number
    readonly address: string
    readonly directory: string
    onDestroyed(): void
  },
): Promise<Machine> {
  const { name, number, address, directory } = options
  const user = process.getuid?.() === 0 ? USER_FIRST + number : null
  const own = (path: string) => {
    if (user !== null) chownSync(path, user, user)
  }
  mkdirSync(directory, { mode: 0o700 })
  own(directory)
  const plug = await wiring.plug(name, address)
  const enter = [
    ...plug.enter,
    ...(user === null
      ? []
      : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--inh-caps=-all']),
  ]
  const env = { PATH: process.env['PATH'], HOME: directory, [MARKER]: directory }
  const placed = (command: string, args: readonly string[]) => {
    const [first = command, ...rest] = [...enter, command, ...args]
    return [first, rest] as const
  }
  const signal = (name: NodeJS.Signals) => {
    for (const pid of pidsOf(directory))
      try {
        process.kill(pid, name)
      } catch {
        // It has ended.
      }
  }
  const kill = () =>
    untilTrue(`nothing to run on ${name}`, () => {
      signal('SIGKILL')
      return pidsOf(directory).length === 0
    })
  return {
    ...{ name, address, directory },
    anyAddress: wiring.kind === 'namespaces' ? '0.0.0.0' : address,
    ownAddress: wiring.kind === 'namespaces' ? '127.0.0.1' : address,
    async run(command, ...args) {
      const { stdout } = await exec(...placed(command, args), { env, cwd: directory })
      return stdout.trim()
    },
    start({ stdio, env: more }, command, ...args) {
      return spawn(...placed(command, args), { env: { ...env, ...more }, cwd: directory, stdio })
    },
    write(path, content) {
      const file = join(directory, path)
      const made = mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      if (made !== undefined)
        for (let at = dirname(file); at !== directory; at = dirname(at)) own(at)
      writeFileSync(file, content, { mode: 0o600 })
      own(file)
      return file
    },
    kill,
    async cutOff() {
      if (plug.cut === null) signal('SIGSTOP')
      else plug.cut(true)
    },
    async reconnect() {
      if (plug.cut === null) signal('SIGCONT')
      else plug.cut(false)
    },
    async destroy() {
      await kill()
      plug.remove()
      await rm(directory, { recursive: true, force: true })
      options.onDestroyed()
    },
  }
}

/** All that runs on the machine of this directory. */
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
    return [] // It has ended, or is not ours.
  }
}

/** How machines reach each other. */
type Wiring = {
  readonly kind: 'namespaces' | 'loopback addresses'
  readonly hostAddress: string
  addressOf(number: number): string
  plug(name: string, address: string): Promise<Plug>
  remove(): void
}
type Plug = {
  /** What precedes a command that runs there. */
  readonly enter: readonly string[]
  /** Null where one machine cannot be cut off. */
  readonly cut: ((isCut: boolean) => void) | null
  remove(): void
}

const ip = (...args: readonly string[]) =>
  execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/** Where it may not, machines are loopback addresses, never where CI is set. */
function mayWire(): boolean {
  if (provided('namespaces') === null) return false
  removeLeftovers()
  return true
}

/** Removes what killed processes left behind. */
function removeLeftovers(): void {
  const isOver = (name: string) => {
    const [, pid] = /^qs([0-9]+)/.exec(name) ?? []
    return pid !== undefined && !existsSync(`/proc/${pid}`)
  }
  const spaces = ip('netns', 'list')
    .split('\n')
    .map((line) => line.split(' ')[0] ?? '')
  for (const space of spaces.filter(isOver)) {
    for (const pid of ip('netns', 'pids', space).trim().split('\n').filter(Boolean))
      process.kill(Number(pid), 'SIGKILL')
    ip('netns', 'del', space)
  }
  const bridges: { ifname: string }[] = JSON.parse(ip('-json', 'link', 'show', 'type', 'bridge'))
  for (const { ifname } of bridges) if (isOver(ifname)) ip('link', 'del', ifname)
}

function wireNamespaces(between: Between | undefined): Wiring {
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
    addressOf: (number) => `${between === undefined ? network : announced}.${number}`,
    async plug(name, address) {
      const space = `${PREFIX}-${++count}-${name}`
      const port = `${PREFIX}v${count}`
      const peer = ['type', 'veth', 'peer', 'eth0', 'netns', space]
      ip('netns', 'add', space)
      spaces.add(space)
      ip('link', 'add', port, 'master', bridge, 'up', ...peer)
      for (const link of ['lo', 'eth0']) ip('-n', space, 'link', 'set', link, 'up')
      const own = between === undefined ? address : `${network}.${count}`
      ip('-n', space, 'address', 'add', `${own}/24`, 'dev', 'eth0')
      if (between !== undefined) {
        // It reaches itself directly; all others reach it through the proxy at its address.
        ip('-n', space, 'address', 'add', `${address}/32`, 'dev', 'lo')
        ip('-n', space, 'route', 'add', 'default', 'via', `${network}.${OWN_NUMBER}`)
        ip('address', 'add', `${address}/32`, 'dev', bridge)
        await between(address, own)
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

/** The third number of addresses that no link of this machine has. */
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
    plug: async () => ({ enter: [], cut: null, remove: () => {} }),
    remove: () => {},
  }
}
