/** `bootstrap.mjs` and the `bin`, in a directory where npm, turbo, redis-server and chromium are scripts that record their calls. */
import { spawnSync } from 'node:child_process'
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDirectory } from '@quorumscan/testkit'
import { expect, it } from 'vitest'

// Real processes take their time on a machine that does other things, too.
const workspace = fileURLToPath(new URL('..', import.meta.url))

const LOCK = {
  packages: {
    '': {},
    'node_modules/a': { version: '1.0.0' },
    'node_modules/mine': { resolved: 'packages/mine', link: true },
    'packages/mine': { version: '0.1.0' },
    'node_modules/other-system': { version: '1.0.0', optional: true },
  },
}
const INSTALLED = { packages: { 'node_modules/a': { version: '1.0.0' }, 'node_modules/mine': {} } }

/** A clone in which `npm ci` installs package a, and everything is written to the file `calls`. */
async function createClone() {
  const { path: root, ...temporary } = createDirectory()
  const put = async (path: string, text: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  const putScript = async (path: string, text: string) => {
    await put(path, text)
    await chmod(join(root, path), 0o755)
  }
  await put('package-lock.json', JSON.stringify(LOCK))
  await put(
    'npm.cjs',
    `const fs = require('node:fs')
     fs.appendFileSync(${JSON.stringify(join(root, 'calls'))}, 'npm ' + process.argv.slice(2).join(' ') + '\\n')
     fs.mkdirSync('node_modules/a', { recursive: true })
     fs.mkdirSync('node_modules/mine', { recursive: true })
     fs.writeFileSync('node_modules/.package-lock.json', ${JSON.stringify(JSON.stringify(INSTALLED))})`,
  )
  await put(
    'cluster/dist/processes/cli-main.js',
    'export const main = (args) => console.log(args.join(" "))',
  )
  await put(
    'test/run.mjs',
    'export const main = (args) => console.log([...args, process.env.CHROMIUM].join(" "))',
  )
  await putScript('node_modules/.bin/turbo', '#!/bin/sh\nexit 0\n')
  await putScript('redis', '#!/bin/sh\necho "Redis server v=7.0.15 sha=0 bits=64"\n')
  const copied = ['bootstrap.mjs', 'bin/quorumscan.mjs', '../test/programs.mjs']
  for (const file of copied) {
    await mkdir(dirname(join(root, 'cluster', file)), { recursive: true })
    await copyFile(join(workspace, file), join(root, 'cluster', file))
  }
  const run = (script: string, args: readonly string[], env: Record<string, string>) => {
    const result = spawnSync(process.execPath, [join(root, script), ...args], {
      cwd: tmpdir(),
      encoding: 'utf8',
      env: { npm_execpath: join(root, 'npm.cjs'), ...env },
    })
    return { exitCode: result.status, stdout: result.stdout, stderr: result.stderr }
  }
  return {
    root,
    put,
    putScript,
    start: (env: Record<string, string> = { REDIS_SERVER: join(root, 'redis') }) =>
      run('cluster/bootstrap.mjs', ['start', '--detach'], env),
    test: (env: Record<string, string>, ...kinds: readonly string[]) =>
      run('cluster/bootstrap.mjs', ['test', ...kinds], {
        REDIS_SERVER: join(root, 'redis'),
        PATH: join(root, 'bin'),
        ...env,
      }),
    run,
    calls: () => readFile(join(root, 'calls'), 'utf8').catch(() => ''),
    remove: (path: string) => rm(join(root, path), { recursive: true }),
    ...temporary,
  }
}

it('installs the packages, reports it, and starts; the second time it only starts', async () => {
  await using clone = await createClone()
  expect(clone.start()).toEqual({
    exitCode: 0,
    stdout: 'up --seed-names --detach\n',
    stderr: 'Installing the npm packages (npm ci) …\n',
  })
  expect(await clone.calls()).toBe('npm ci --include=dev --no-audit --no-fund\n')
  expect(clone.start().stderr).toBe('')
  expect(await clone.calls()).toBe('npm ci --include=dev --no-audit --no-fund\n')
})

it('installs again when the lock file has changed', async () => {
  await using clone = await createClone()
  clone.start()
  const changed = { packages: { ...LOCK.packages, 'node_modules/b': { version: '2.0.0' } } }
  await clone.put('package-lock.json', JSON.stringify(changed))
  clone.start()
  expect((await clone.calls()).split('\n')).toHaveLength(3)
})

it('installs again when a package was deleted', async () => {
  await using clone = await createClone()
  clone.start()
  await clone.remove('node_modules/a')
  await clone.remove('node_modules/.quorumscan-stamp')
  clone.start()
  expect((await clone.calls()).split('\n')).toHaveLength(3)
})

it('does not change packages that were installed by hand and match the lock file', async () => {
  await using clone = await createClone()
  await clone.put('node_modules/a/package.json', '{}')
  await clone.put('node_modules/mine/package.json', '{}')
  await clone.put('node_modules/.package-lock.json', JSON.stringify(INSTALLED))
  expect(clone.start().exitCode).toBe(0)
  expect(await clone.calls()).toBe('')
})

it('reports in one sentence which Redis it needs', async () => {
  await using clone = await createClone()
  await clone.putScript('old/redis-server', '#!/bin/sh\necho "Redis server v=6.2.1 sha=0"\n')
  const none = clone.start({ PATH: '/nowhere' })
  expect(none.exitCode).toBe(1)
  expect(none.stderr).toMatch(/\nredis-server 7\.0 or newer is needed: .*\n$/)
  const old = clone.start({ REDIS_SERVER: join(clone.root, 'old/redis-server') })
  expect(old.exitCode).toBe(1)
  expect(old.stderr).toMatch(/^\$REDIS_SERVER .* is not redis-server 7\.0 or newer\.\n$/)
})

const CHROMIUM = '#!/bin/sh\necho "Chromium 150.0.1 built on Debian"\n'
const SKIPPED = /browser tests are SKIPPED/

it('finds the Chromium of the browser tests: $CHROMIUM, else the first on the PATH that runs', async () => {
  await using clone = await createClone()
  await clone.putScript('bin/chromium', '#!/bin/sh\necho "install the snap"; exit 1\n')
  await clone.putScript('bin/google-chrome', CHROMIUM)
  await clone.putScript('mine', CHROMIUM)
  expect(clone.test({}).stdout).toBe(`${join(clone.root, 'bin/google-chrome')}\n`)
  const mine = join(clone.root, 'mine')
  expect(clone.test({ CHROMIUM: mine }, 'unit', 'browser').stdout).toBe(`unit browser ${mine}\n`)
  const wrong = clone.test({ CHROMIUM: join(clone.root, 'redis') })
  expect([wrong.exitCode, wrong.stderr]).toEqual([
    1,
    expect.stringMatching(/^\$CHROMIUM .* is no Chromium that runs\.\n$/),
  ])
})

/** apt-get and sudo of a clone in which the package prometheus has the program promtool, and chromium itself. */
async function putPackages(clone: Awaited<ReturnType<typeof createClone>>) {
  await clone.putScript('packages/chromium/chromium', CHROMIUM)
  await clone.putScript('packages/prometheus/promtool', '#!/bin/sh\n')
  await clone.putScript('bin/apt-get', '#!/bin/sh\nexit 0\n')
  await clone.putScript('bin/sudo', '#!/bin/sh\nshift\n[ "$1" = true ] || exec "$@"\n')
  // Instead of the shell that runs apt-get: the third word is the package.
  const [from, to] = [join(clone.root, 'packages'), join(clone.root, 'bin')]
  await clone.putScript('bin/sh', `#!/bin/sh\n/bin/cp "${from}/$3"/* "${to}/"\n`)
}
const TEST_PROGRAMS = ['python3', 'openssl', 'ip', 'mount', 'setpriv']

it('installs nothing as root without a terminal to ask at, and names the command', async () => {
  await using clone = await createClone()
  await putPackages(clone)
  await clone.putScript('packages/redis-server/redis-server', '#!/bin/sh\n')
  const tests = clone.test({})
  expect([tests.exitCode, tests.stdout]).toEqual([0, '\n'])
  expect(tests.stderr).toContain('`apt-get install chromium`')
  const start = clone.start({ PATH: join(clone.root, 'bin') })
  expect([start.exitCode, start.stdout]).toEqual([1, ''])
  expect(start.stderr).toContain('`apt-get install redis-server`')
  expect(tests.stderr + start.stderr).not.toContain('Installing Debian')
})

it.each([
  ['unit', false],
  ['e2e', true],
  ['a.test.ts', false],
  ['test/sim', false],
  ['test/browser', true],
  ['b.integration.test.ts', false],
  ['built.integration.test.ts', true],
])('npm test -- %s builds: %s', async (word, isBuilt) => {
  await using clone = await createClone()
  for (const file of [
    'a.test.ts',
    'b.integration.test.ts',
    'test/sim/a.test.ts',
    'test/browser/a.test.ts',
  ])
    await clone.put(file, '')
  await clone.put('built.integration.test.ts', "import '../dist/index.js'")
  await clone.putScript('node_modules/.bin/turbo', '#!/bin/sh\necho "built"; exit 1\n')
  expect(clone.test({}, word, '-t', 'e2e').exitCode).toBe(isBuilt ? 1 : 0)
})

it('refuses a kind of tests that does not exist', async () => {
  await using clone = await createClone()
  const { exitCode, stderr } = clone.test({}, 'units')
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/There is no file and no kind of test named units; the kinds are: check, /)
})

it('in CI installs missing programs of tests, or fails and names the program', async () => {
  await using clone = await createClone()
  await putPackages(clone)
  for (const program of TEST_PROGRAMS) await clone.putScript(`bin/${program}`, '#!/bin/sh\n')
  const { exitCode, stderr } = clone.test({ CI: 'true' })
  expect(exitCode, stderr).toBe(0)
  expect(stderr).toContain("Installing Debian's package prometheus (its services")
  expect(clone.test({ CI: 'true' }).stderr).toBe('')
  await clone.remove('bin/openssl')
  const refused = clone.test({ CI: 'true' })
  expect([refused.exitCode, refused.stdout]).toEqual([1, ''])
  expect(refused.stderr).toMatch(
    /CI is set, and tests need openssl of Debian's package openssl, which could not be installed\.\n$/,
  )
})

it('reports that it skips the browser tests without Chromium, and never skips them where CI is set', async () => {
  await using clone = await createClone()
  const skipped = clone.test({})
  expect([skipped.exitCode, skipped.stdout]).toEqual([0, '\n'])
  expect(skipped.stderr).toMatch(SKIPPED)
  expect(clone.test({}, 'unit').stderr).not.toMatch(SKIPPED)
  const ci = clone.test({ CI: 'true' })
  expect([ci.exitCode, ci.stdout]).toEqual([1, ''])
  expect(ci.stderr).toMatch(/Chromium is needed for the browser tests/)
})

it('shows why the build failed, and does not start', async () => {
  await using clone = await createClone()
  await clone.putScript('node_modules/.bin/turbo', '#!/bin/sh\necho "src/a.ts: wrong"\nexit 1\n')
  expect(clone.start()).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'Installing the npm packages (npm ci) …\nsrc/a.ts: wrong\nThe build failed.\n',
  })
})

it('before a build, the command reports what to do', async () => {
  await using clone = await createClone()
  await clone.remove('cluster/dist')
  expect(clone.run('cluster/bin/quorumscan.mjs', ['status'], {})).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'quorumscan: nothing is built yet; run `npm start` first\n',
  })
})

it('after a build, forwards the command for the engine', async () => {
  await using clone = await createClone()
  const env = { REDIS_SERVER: join(clone.root, 'redis') }
  const { exitCode, stdout } = clone.run('cluster/bootstrap.mjs', ['cometbft', 'install'], env)
  expect([exitCode, stdout]).toEqual([0, 'cometbft install\n'])
})
