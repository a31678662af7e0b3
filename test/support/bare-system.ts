/**
 * A bare Debian in a directory, as a person gets it who installs nothing: commands run in it by chroot, as root or as an
 * ordinary user, without a terminal and without the environment of this process. Linux and root only.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createDirectory, required } from '@quorumscan/testkit'
import { archiveOf } from './debian-archive.ts'

type User = 'root' | 'user'

export type BareSystem = AsyncDisposable & {
  /** Clones a repository, at its last commit, into the folder `quorumscan` of the user's home. */
  clone(user: User, repository: string): void
  /** Runs a script of the shell to its end in a process tree of its own, of which nothing is left afterwards. */
  run(user: User, script: string): Promise<{ readonly code: number; readonly output: string }>
  /** Paths of all files that are not in a home, in a temporary directory or in memory. */
  files(): readonly string[]
}

export type BareSystemOptions = {
  /** The name of a release of Debian. */
  readonly release: 'bookworm' | 'trixie'
  readonly packages: readonly string[]
  /** Whether Node and npm of this process are copied into it. */
  readonly hasOurNode: boolean
}

/** Variables by which programs find the network of this machine. */
const NETWORK_VARIABLE = /^(?:https?_proxy|no_proxy|all_proxy|NODE_EXTRA_CA_CERTS|TEST_SLOWNESS)$/i
/** Settings of npm by which it reaches the registry. */
const NPM_SETTINGS = ['registry', 'cafile', 'proxy', 'https-proxy', 'noproxy']
/** Mounts what each system has, in a namespace that ends with the script. */
const ENTER = `
set -e
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
mount -t tmpfs tmpfs "$1/dev/shm"
cd "$1"
exec chroot --userspec="$2" "$1" env -i HOME="$3" PATH=/usr/local/bin:/usr/bin:/bin "\${@:5}" sh -c "$4"
`

export async function createBareSystem(options: BareSystemOptions): Promise<BareSystem> {
  const mmdebstrap = required('mmdebstrap')
  required('mount')
  const directory = createDirectory('bare')
  const root = join(directory.path, 'root')
  const remove = async () => {
    // Its files have several owners and modes.
    execFileSync('rm', ['-rf', '--one-file-system', directory.path])
  }
  try {
    const { release, packages } = options
    const proxies = join(directory.path, 'apt.conf')
    writeFileSync(proxies, aptNetwork())
    execFileSync(
      mmdebstrap,
      [
        '--variant=minbase',
        `--include=${packages.join(',')}`,
        `--aptopt=${proxies}`,
        '--quiet',
        release,
        root,
        archiveOf(release),
      ],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    )
    const settings = npmNetwork()
    const certificates = [process.env['NODE_EXTRA_CA_CERTS'], settings['npm_config_cafile']]
    for (const file of certificates) if (file) copyInto(root, file, file)
    copyInto(root, '/etc/resolv.conf', '/etc/resolv.conf')
    execFileSync('chroot', [root, 'useradd', '--create-home', '--shell', '/bin/sh', 'user'])
    if (options.hasOurNode) copyNode(root)
    const variables = Object.entries({ ...networkVariables(), ...settings })
    const words = variables.map(([name, value]) => `${name}=${value}`)
    return {
      clone(user, repository) {
        const clone = join(root, homeOf(user), 'quorumscan')
        execFileSync('git', ['clone', '--quiet', '--no-hardlinks', repository, clone])
        execFileSync('chroot', [root, 'chown', '-R', `${user}:${user}`, homeOf(user)])
      },
      run: (user, script) => runIn(root, { user, script, words }),
      files: () => filesOf(root),
      [Symbol.asyncDispose]: remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function runIn(
  root: string,
  options: { readonly user: User; readonly script: string; readonly words: readonly string[] },
) {
  const { user, script, words } = options
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private']
  const child = spawn(
    'unshare',
    [
      ...namespaces,
      'bash',
      '-c',
      ENTER,
      'enter',
      root,
      `${user}:${user}`,
      homeOf(user),
      script,
      ...words,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const [code] = await once(child, 'close')
  return { code: Number(code ?? 1), output }
}

function homeOf(user: User): string {
  return user === 'root' ? '/root' : '/home/user'
}

function networkVariables(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      NETWORK_VARIABLE.test(name) && value ? [[name, value]] : [],
    ),
  )
}

function npmNetwork(): Record<string, string> {
  const entries = NPM_SETTINGS.flatMap((name) => {
    const value = execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim()
    return ['', 'null', 'undefined'].includes(value)
      ? []
      : [[`npm_config_${name.replaceAll('-', '_')}`, value] as const]
  })
  return Object.fromEntries(entries)
}

/** The proxies of apt on this machine. */
function aptNetwork(): string {
  const dump = execFileSync('apt-config', ['dump'], { encoding: 'utf8' })
  return dump
    .split('\n')
    .filter((line) => /^Acquire::(?:http|https)::[^ ]*Proxy[^ ]* "/i.test(line))
    .map((line) => `${line}\n`)
    .join('')
}

function copyNode(root: string): void {
  copyInto(root, process.execPath, '/usr/local/bin/node')
  const npm = execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim()
  copyInto(root, join(npm, 'npm'), '/usr/local/lib/node_modules/npm')
  for (const name of ['npm', 'npx']) {
    const link = join(root, 'usr/local/bin', name)
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, link)
  }
}

function copyInto(root: string, file: string, place: string): void {
  const target = join(root, place)
  mkdirSync(dirname(target), { recursive: true })
  cpSync(realpathSync(file), target, { recursive: true, force: true })
}

function filesOf(root: string): readonly string[] {
  const outside = ['dev', 'proc', 'sys', 'run', 'tmp', 'home', 'root']
  const below = (directory: string): readonly string[] =>
    readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
      const path = join(directory, entry.name)
      return entry.isDirectory() ? [path, ...below(path)] : [path]
    })
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !outside.includes(entry.name))
    .flatMap(({ name }) => below(join(root, name)))
}
