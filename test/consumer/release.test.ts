/**
 * A release, built by `deploy/release` and installed into an empty directory, without this repository and without the
 * registry. What the image and the systemd unit run is the package of operators, which has no fault injector.
 *
 * @module-tag long
 * @module-tag release
 */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, normalize } from 'node:path'
import { promisify } from 'node:util'
import { freePort, required, until } from '@quorumscan/testkit'
import { directoryOfFile, it } from '@quorumscan/testkit/fixtures'
import { beforeAll, describe, expect } from 'vitest'

const root = join(import.meta.dirname, '../..')
const OPERATORS = 'quorumscan-cli'
const FULL = 'quorumscan'
const SDK = 'quorumscan-sdk'
/** Folders of the packages, by the names of their files. */
const FOLDERS: Readonly<Record<string, string>> = {
  [OPERATORS]: 'apps/cli',
  [FULL]: 'cluster',
  [SDK]: 'sdk',
}
/** Words of the fault injector that every bundle with a part of it contains. */
const FAULTS = /\bliar\b|QS_FAULTS|QS_FAULT_SOCKETS|faketime/i

type Exit = { readonly code: number; readonly stdout: string; readonly stderr: string }

const project = directoryOfFile()
const release = join(project, 'release')
const git = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const versionOf = (name: string): string =>
  JSON.parse(read(`${FOLDERS[name]}/package.json`)).version
/** A file of the release, by the end of its name. */
const fileOf = (name: string, end: string) => join(release, `${name}-${versionOf(name)}.${end}`)
const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')

async function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Exit> {
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, { cwd, env })
    return { code: 0, stdout, stderr }
  } catch (error) {
    return error as Exit
  }
}

/** The `quorumscan` command of a package, each installed for itself. */
const commandOf = (name: string) => join(project, name, 'bin/quorumscan')
const type = (name: string, ...args: readonly string[]) => run(commandOf(name), args, project)

beforeAll(async () => {
  const done = (exit: Exit) => expect(exit, exit.stdout + exit.stderr).toMatchObject({ code: 0 })
  done(await run(process.execPath, [join(root, 'deploy/release/main.mjs'), release], project))
  const flags = ['--offline', '--no-audit', '--no-fund', '--prefix']
  const install = (name: string) => {
    return run(
      'npm',
      ['install', '--global', fileOf(name, 'tgz'), ...flags, join(project, name)],
      project,
    )
  }
  for (const exit of await Promise.all([OPERATORS, FULL].map(install))) done(exit)
})

/** Starts a part of a network by the package of operators. */
function start(role: string, name: string, configFile: string) {
  const child = spawn(commandOf(OPERATORS), ['run', role, '--config', configFile])
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += String(chunk)
    })
  const ended = once(child, 'exit')
  return {
    child,
    untilReady: () =>
      until(`${name} to be ready`, () => {
        if (child.exitCode !== null) throw new Error(`${name} ended: ${output}`)
        return output.includes(`${name} is ready`) ? true : undefined
      }),
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Code of an installed package, by the path of its file. */
function codeOf(name: string): ReadonlyMap<string, string> {
  const modules = join(project, name, 'lib/node_modules')
  const files = readdirSync(modules, { recursive: true, encoding: 'utf8' })
  return new Map(
    files
      .filter((file) => /\.m?js$/.test(file))
      .map((file) => [file, readFileSync(join(modules, file), 'utf8')]),
  )
}

/** The modules that rolldown put into bundles. */
function modulesIn(code: ReadonlyMap<string, string>): readonly string[] {
  return [...code.values()].flatMap((text) =>
    [...text.matchAll(/^\/\/(?:#region)? (\S+\.[cm]?[jt]s)$/gm)].map(([, module = '']) => module),
  )
}

describe.each([OPERATORS, FULL])('the package %s', (name) => {
  it('prints its versions, and the commit of which it was built', async () => {
    const { code, stdout } = await type(name, '--version')
    const [first, commit = '', ...others] = stdout.trim().split('\n')
    expect([code, first]).toEqual([0, `quorumscan ${versionOf(name)}`])
    expect(commit.replace(/-dirty$/, '')).toBe(`commit ${git('rev-parse', 'HEAD')}`)
    expect(others).toHaveLength(2)
  })

  it('has the documents to which those of operators link', () => {
    const modules = join(project, name, 'lib/node_modules')
    const all = readdirSync(modules, { recursive: true, encoding: 'utf8' })
    for (const document of ['operations.md', 'configuration.md']) {
      const file = all.find((one) => one.endsWith(`/docs/${document}`)) ?? ''
      const text = readFileSync(join(modules, file), 'utf8')
      const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, link = '']) => link)
      expect(links.length, document).toBeGreaterThan(0)
      const missing = links.filter((link) => !all.includes(normalize(join(dirname(file), link))))
      expect(missing, document).toEqual([])
    }
  })

  it('has the commands of operators, and runs each app', async () => {
    const help = await type(name, 'run', '--help')
    expect(help).toMatchObject({ code: 0, stderr: '' })
    expect(help.stdout).toContain('Usage: quorumscan run')
    const code = codeOf(name)
    for (const app of ['scan', 'synchronizer', 'validator']) {
      const file = [...code.keys()].find((one) => one.endsWith(`/dist/apps/${app}/main.js`)) ?? ''
      const path = join(project, name, 'lib/node_modules', file)
      const env = { PATH: process.env['PATH'] }
      const { stderr } = await run(process.execPath, [path], project, env)
      expect(stderr, app).toContain('QS_GENESIS is not set')
    }
  })

  it('contains no path of the machine that built it', () => {
    expect([...codeOf(name)].filter(([, text]) => text.includes(root))).toEqual([])
  })

  it('is listed with each package of the registry in its bundles, without tools', () => {
    const bill = JSON.parse(readFileSync(fileOf(name, 'cdx.json'), 'utf8'))
    const names = bill.components.map((one: { purl: string }) =>
      decodeURIComponent(one.purl).replace(/^pkg:npm\/|@[^@]*$/g, ''),
    )
    const bundled = modulesIn(codeOf(name)).flatMap(
      (module) => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(module)?.[1] ?? [],
    )
    expect(new Set(bundled).size).toBeGreaterThan(60)
    expect(bundled.filter((one) => !names.includes(one))).toEqual([])
    // Vite's bundle of the console does not name its modules.
    expect(names.includes('react')).toBe(name === FULL)
    expect(names.filter((one: string) => /^(vite|vitest|rolldown|typescript)$/.test(one))).toEqual(
      [],
    )
    expect(bill.metadata.timestamp).toBe(
      git('log', '-1', '--format=%cd', '--date=format-local:%Y-%m-%dT%H:%M:%SZ'),
    )
  })
})

describe('the package of operators', () => {
  it('contains no code of the test rig, and so no fault injector', () => {
    const own = codeOf(OPERATORS)
    expect(modulesIn(own).length).toBeGreaterThan(1000)
    expect(modulesIn(own).filter((module) => /^cluster\/|\/faults\//.test(module))).toEqual([])
    expect([...own].filter(([, text]) => FAULTS.test(text)).map(([file]) => file)).toEqual([])
    // The same searches find it in the full package.
    const full = codeOf(FULL)
    expect(modulesIn(full).some((module) => module.startsWith('cluster/src/faults/'))).toBe(true)
    expect([...full.values()].some((text) => FAULTS.test(text))).toBe(true)
  })

  it('has no commands of a cluster, unlike the full one', async () => {
    expect(await type(OPERATORS, 'up')).toMatchObject({ code: 2, stdout: '' })
    expect((await type(FULL, 'up', '--help')).code).toBe(0)
  })

  it('is what the image and the systemd unit start', () => {
    const dockerfile = read('deploy/docker/Dockerfile')
    expect(dockerfile).toContain(`COPY ${OPERATORS}-*.tgz`)
    expect(dockerfile.match(/^COPY (?!--from).*/gm)).toHaveLength(1)
    expect(dockerfile).toContain('"quorumscan"]')
    expect(read('deploy/systemd/quorumscan@.service')).toContain('=/usr/local/bin/quorumscan run')
  })
})

it('a release has the hash of each file, and the changes since the last one', () => {
  const sums = readFileSync(join(release, 'SHA256SUMS'), 'utf8').trim().split('\n')
  const files = readdirSync(release).filter((file) => file !== 'SHA256SUMS')
  for (const name of Object.keys(FOLDERS)) expect(files).toContain(basename(fileOf(name, 'tgz')))
  expect(sums).toEqual(files.sort().map((file) => `${sha256(join(release, file))}  ${file}`))
  const changes = readFileSync(join(release, 'CHANGES.md'), 'utf8')
  expect(changes.match(/^## /gm)).toHaveLength(1)
  expect(read('CHANGELOG.md')).toContain(changes.trim())
})

describe('an installed release', () => {
  it('the full package starts a network, which answers and stops', async () => {
    required('redis')
    const up = await type(FULL, 'up', '--detach', '--base-port', '0', '--seed-names')
    expect(up, up.stderr).toMatchObject({ code: 0 })
    try {
      expect(up.stdout).toMatch(/^ {2}console +http/m)
      const resolved = await type(FULL, 'resolve', 'alice.unverified.ns')
      expect(resolved.stdout).toContain('alice.unverified.ns: verified')
    } finally {
      expect(await type(FULL, 'down')).toMatchObject({ code: 0 })
    }
  })

  it('the package of operators runs a network of one super-validator', async () => {
    required('redis')
    const directory = join(project, 'operators')
    await mkdir(directory)
    const urlOf = async () => `http://127.0.0.1:${await freePort()}`
    const operators = [
      { role: 'synchronizer', kind: 'synchronizer', name: 'orderer', url: await urlOf() },
      { role: 'sv', kind: 'super-validator', name: 'sv-1', url: await urlOf() },
    ]
    const [log] = operators.map(({ url }) => url)
    const typed = async (...args: readonly string[]) => {
      const exit = await type(OPERATORS, ...args)
      expect(exit, exit.stderr).toMatchObject({ code: 0 })
      return exit.stdout
    }
    const members: string[] = []
    for (const { kind, name, url } of operators) {
      const out = join(directory, name)
      const flags = ['--role', kind, '--name', name, '--out', out, '--json']
      const address = name === 'sv-1' ? ['--url', url] : []
      members.push(JSON.parse(await typed('keys', 'new', ...flags, ...address)).memberFile)
    }
    for (const file of members) await copyFile(file, join(directory, basename(file)))
    const genesis = join(directory, 'genesis.json')
    await typed('genesis', 'create', ...members, '--set', 'devnet=true', '--out', genesis)
    const token = join(directory, 'token')
    await writeFile(token, 'token-of-a-follower-of-the-log\n')
    const running = operators.map(async ({ role, name, url }) => {
      const configFile = join(directory, `${name}.env`)
      const variables = {
        QS_NAME: name,
        QS_DATA_DIR: join(directory, name),
        QS_GENESIS: genesis,
        QS_MEMBERS: directory,
        QS_PORT: new URL(url).port,
        ...(role === 'sv'
          ? { QS_LOG: log, QS_LOG_TOKEN_FILE: token }
          : { QS_PEER_TOKENS_FILE: token }),
      }
      const lines = Object.entries(variables).map(([variable, value]) => `${variable}=${value}\n`)
      await writeFile(configFile, lines.join(''))
      return start(role, name, configFile)
    })
    const processes = await Promise.all(running)
    try {
      await Promise.all(processes.map(({ untilReady }) => untilReady()))
    } finally {
      for (const { stop } of processes.reverse()) await stop()
    }
    expect(processes.map(({ child }) => child.exitCode)).toEqual([0, 0])
  })

  it('a build in another clone is equal byte for byte', async () => {
    // The other clone has what is committed.
    expect(git('status', '--porcelain'), 'commit everything first').toBe('')
    const clone = join(project, 'clone')
    const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1' }
    for (const [program, args, cwd] of [
      ['git', ['clone', '--quiet', root, clone], project],
      ['git', ['checkout', '--quiet', '--detach', git('rev-parse', 'HEAD')], clone],
      ['npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], clone],
      ['npm', ['run', 'release'], clone],
    ] as const) {
      const exit = await run(program, args, cwd, env)
      expect(exit, exit.stdout + exit.stderr).toMatchObject({ code: 0 })
    }
    const sums = (directory: string) => readFileSync(join(directory, 'SHA256SUMS'), 'utf8')
    expect(sums(join(clone, 'release'))).toBe(sums(release))
  })
})
