/** `bootstrap.mjs` and the `bin`, in a directory where npm, turbo, redis-server, apt-get and chromium are scripts. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, copyFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
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
    'dist/cluster/commands/cli-main.js',
    'export const main = (args) => console.log(args.join(" "))',
  )
  await put(
    'test/run.mjs',
    'export const main = (args) => console.log([...args, process.env.CHROMIUM].join(" "))',
  )
  await put('build.mjs', '')
  // Compiles the SDK's package.
  await putScript('node_modules/.bin/turbo', '#!/bin/sh\nexit 0\n')
  await putScript('redis', '#!/bin/sh\necho "Redis server v=7.0.15 sha=0 bits=64"\n')
  const copied = [
    'bootstrap.mjs',
    'provide-redis.mjs',
    'bin/quorumscan.mjs',
    '../test/programs.mjs',
    '../packages/base/src/find-redis.mjs',
  ]
  for (const file of copied) {
    await mkdir(dirname(join(root, 'cluster', file)), { recursive: true })
    await copyFile(join(workspace, file), join(root, 'cluster', file))
  }
  const optionsOf = (env: Record<string, string>) => ({
    cwd: tmpdir(),
    env: { npm_execpath: join(root, 'npm.cjs'), XDG_CACHE_HOME: join(root, 'cache'), ...env },
  })
  const run = (script: string, args: readonly string[], env: Record<string, string>) => {
    const result = spawnSync(process.execPath, [join(root, script), ...args], {
      ...optionsOf(env),
      encoding: 'utf8',
    })
    return { exitCode: result.status, stdout: result.stdout, stderr: result.stderr }
  }
  return {
    root,
    put,
    putScript,
    start: (env: Record<string, string> = { REDIS_SERVER: join(root, 'redis') }) =>
      run('cluster/bootstrap.mjs', ['start', '--detach'], env),
    /** Like `start`, while other processes run. */
    startNow: async (env: Record<string, string>) => {
      const script = join(root, 'cluster/bootstrap.mjs')
      const child = spawn(process.execPath, [script, 'start'], optionsOf(env))
      const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'exit')])
      return { exitCode, stderr }
    },
    /** What is in the cache of the user. */
    cached: () => readdir(join(root, 'cache/quorumscan')).catch(() => []),
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
  expect(await clone.calls()).toBe('npm ci --include=dev --no-audit --no-fund --loglevel=error\n')
  expect(clone.start().stderr).toBe('')
  expect(await clone.calls()).toBe('npm ci --include=dev --no-audit --no-fund --loglevel=error\n')
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

const SET_IT = 'or set \\$REDIS_SERVER\\.\\n$'

it('reports in one sentence which Redis it needs', async () => {
  await using clone = await createClone()
  await clone.putScript('old/redis-server', '#!/bin/sh\necho "Redis server v=6.2.1 sha=0"\n')
  const none = clone.start({ PATH: join(clone.root, 'old') })
  expect(none.exitCode).toBe(1)
  expect(none.stderr).toMatch(
    new RegExp(`\nRedis 7\\.0 or newer, or Valkey, is needed: .*${SET_IT}`),
  )
  const old = clone.start({ REDIS_SERVER: join(clone.root, 'old/redis-server') })
  expect(old.exitCode).toBe(1)
  expect(old.stderr).toMatch(
    /^\$REDIS_SERVER .* is not redis-server 7\.0 or newer, or valkey-server\.\n$/,
  )
})

it('takes the first server on the PATH that is new enough, also of Valkey', async () => {
  await using clone = await createClone()
  await clone.put('dist/cluster/commands/cli-main.js', PRINT_REDIS)
  await clone.putScript('old/redis-server', '#!/bin/sh\necho "Redis server v=6.2.1 sha=0"\n')
  await clone.putScript('new/valkey-server', '#!/bin/sh\necho "Valkey server v=8.1.1 sha=0"\n')
  const PATH = `${join(clone.root, 'old')}:${join(clone.root, 'new')}`
  const { exitCode, stdout } = clone.start({ PATH })
  expect([exitCode, stdout]).toEqual([0, `${join(clone.root, 'new/valkey-server')}\n`])
})

const PRINT_REDIS = 'export const main = () => console.log(process.env.REDIS_SERVER)'

/** A system whose package archive has Redis. Each change replaces what a program of it does. */
async function putArchive(
  clone: Awaited<ReturnType<typeof createClone>>,
  changes: {
    readonly [program in 'update' | 'policy' | 'simulate' | 'download' | 'unpack']?: string
  },
) {
  const scripts = {
    update: 'exit 0',
    policy: '[ "$last" = redis-server ] && echo "  Candidate: 5:8.0.2-3+deb13u1"',
    simulate:
      'echo "Inst liblzf1 (3.6-4 Debian:13 [amd64])"; echo "Inst redis-server [5:1] (5:8.0.2-3 Debian:13 [amd64])"',
    download: 'echo "$@" >> "$0.calls"; touch liblzf1_3.6.deb redis-server_8.0.2.deb',
    unpack: `case "$2" in
  *liblzf1*) mkdir -p "$3/usr/lib/x86_64-linux-gnu"; touch "$3/usr/lib/x86_64-linux-gnu/liblzf.so.1" ;;
  *) mkdir -p "$3/usr/bin"
     printf '#!/bin/sh\\n[ -e "$LD_LIBRARY_PATH/liblzf.so.1" ] && echo "Redis server v=8.0.2 sha=0"\\n' > "$3/usr/bin/redis-server"
     chmod 755 "$3/usr/bin/redis-server"
     cp "$3/usr/bin/redis-server" "$3/usr/bin/redis-check-aof" ;;
esac`,
    ...changes,
  }
  const begin = '#!/bin/sh\nPATH=/usr/bin:/bin\nfor last; do :; done\n'
  await clone.putScript(
    'system/apt-get',
    `${begin}case "$*" in
  *" update"*) ${scripts.update} ;;
  *" --simulate install"*) ${scripts.simulate} ;;
  *" download "*) ${scripts.download} ;;
  *) exit 100 ;;
esac\n`,
  )
  await clone.putScript('system/apt-cache', `${begin}${scripts.policy}\n`)
  await clone.putScript('system/dpkg-deb', `${begin}${scripts.unpack}\n`)
  return { PATH: join(clone.root, 'system') }
}

it('fetches Redis and its libraries into the cache, once, without a terminal', async () => {
  await using clone = await createClone()
  await clone.put('dist/cluster/commands/cli-main.js', PRINT_REDIS)
  const env = await putArchive(clone, {})
  const server = join(clone.root, 'cache/quorumscan/redis-8.0.2/bin/redis-server')
  const first = clone.start(env)
  expect([first.exitCode, first.stdout], first.stderr).toEqual([0, `${server}\n`])
  expect(first.stderr).toContain(`Fetching Redis into ${join(clone.root, 'cache/quorumscan')} …`)
  expect(clone.start(env)).toEqual({ exitCode: 0, stdout: `${server}\n`, stderr: '' })
  expect(await clone.cached()).toEqual(['redis-8.0.2'])
  expect(spawnSync(server, ['--version'], { encoding: 'utf8' }).stdout).toMatch(/v=8\.0\.2/)
  const link = join(clone.root, 'link')
  await symlink(server, link)
  expect(spawnSync(link, ['--version'], { encoding: 'utf8' }).stdout).toMatch(/v=8\.0\.2/)
  // `log repair` looks for it next to the server.
  expect(await readdir(dirname(server))).toEqual(['redis-check-aof', 'redis-server'])
  const calls = await readFile(join(clone.root, 'system/apt-get.calls'), 'utf8')
  expect(calls).toMatch(/ download liblzf1=3\.6-4 redis-server=5:8\.0\.2-3\n$/)
  expect(calls).toContain(`Dir::State::lists=${join(clone.root, 'cache/quorumscan')}`)
})

it('of two starts at once, both use the same copy', async () => {
  await using clone = await createClone()
  clone.start()
  // Each waits for the other one before it unpacks.
  const meet = 'touch "$0.$$"; until [ "$(ls "$0".[0-9]* | wc -l)" = 2 ]; do :; done; touch r.deb'
  const env = await putArchive(clone, {
    download: meet,
    unpack: `mkdir -p "$3/usr/bin"
printf '#!/bin/sh\\necho "Redis server v=8.0.2 sha=0"\\n' > "$3/usr/bin/redis-server"
chmod 755 "$3/usr/bin/redis-server"`,
  })
  const starts = await Promise.all([clone.startNow(env), clone.startNow(env)])
  expect(starts.map(({ exitCode }) => exitCode)).toEqual([0, 0])
  expect(await clone.cached()).toEqual(['redis-8.0.2'])
})

it('replaces a copy that does not run any more', async () => {
  await using clone = await createClone()
  await clone.putScript('cache/quorumscan/redis-8.0.2/bin/redis-server', '#!/bin/sh\nexit 127\n')
  expect(clone.start(await putArchive(clone, {})).exitCode).toBe(0)
  const server = join(clone.root, 'cache/quorumscan/redis-8.0.2/bin/redis-server')
  expect(spawnSync(server, ['--version'], { encoding: 'utf8' }).stdout).toMatch(/v=8\.0\.2/)
})

it.each([
  [
    'has an older one',
    { policy: '[ "$last" = redis-server ] && echo "  Candidate: 5:6.0.16-1ubuntu1"' },
    'the package archive of this system has redis-server 6.0.16: install a newer one',
  ],
  [
    'does not answer',
    {
      update: 'echo "Err:1 http://m trixie InRelease"; echo "W: Failed to fetch http://m"',
      policy: '',
    },
    'a package archive does not answer (Failed to fetch http://m): check network and proxy',
  ],
  ['has none', { policy: '' }, 'the package archives of this system do not have it: install it'],
  [
    'does not answer later',
    { download: 'echo "E: Failed to fetch http://m/r.deb"; exit 100' },
    'a package archive does not answer (Failed to fetch http://m/r.deb): check network and proxy',
  ],
  [
    'cannot be installed',
    { simulate: 'echo "E: Unable to correct problems"; exit 100' },
    'redis-server 8.0.2 cannot be installed here (Unable to correct problems)',
  ],
  [
    'fills the disk',
    { unpack: 'echo "dpkg-deb: error: No space left on device" >&2; exit 2' },
    'the disk of the cache is full: free space',
  ],
  [
    'has one that does not run here',
    { unpack: 'mkdir -p "$3/usr/bin"; touch "$3/usr/bin/redis-server"' },
    'redis-server 8.0.2 of the package archive does not run here',
  ],
])(
  'ends with a sentence and leaves nothing behind if the archive %s',
  async (_, changes, sentence) => {
    await using clone = await createClone()
    const { exitCode, stdout, stderr } = clone.start(await putArchive(clone, changes))
    expect([exitCode, stdout]).toEqual([1, ''])
    const last = stderr.trimEnd().split('\n').at(-1)
    expect(last).toContain('Redis 7.0 or newer, or Valkey, is needed, and ')
    expect(last).toContain(sentence)
    expect(last).toMatch(/, or set \$(REDIS_SERVER|XDG_CACHE_HOME to .*)\.$/)
    expect(await clone.cached()).toEqual([])
    // The packages of npm stay, for the next start.
    expect(await clone.calls()).toContain('npm ci')
  },
)

it('ends with a sentence if the cache cannot be written', async () => {
  await using clone = await createClone()
  await clone.put('cache', 'a file')
  const { exitCode, stderr } = clone.start(await putArchive(clone, {}))
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/could not be stored in .*set \$XDG_CACHE_HOME to another folder.*\.\n$/)
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

it.each([
  ['unit', false],
  ['e2e', true],
  ['a.test.ts', false],
  ['test/sim', false],
  ['test/browser', true],
  ['b.integration.test.ts', false],
])('npm test -- %s builds: %s', async (word, isBuilt) => {
  await using clone = await createClone()
  for (const file of [
    'a.test.ts',
    'b.integration.test.ts',
    'test/sim/a.test.ts',
    'test/browser/a.test.ts',
  ])
    await clone.put(file, '')
  await clone.put('build.mjs', 'process.exitCode = 1')
  expect(clone.test({}, word, '-t', 'e2e').exitCode).toBe(isBuilt ? 1 : 0)
})

it('refuses a kind of tests that does not exist', async () => {
  await using clone = await createClone()
  const { exitCode, stderr } = clone.test({}, 'units')
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/There is no file and no kind of test named units; the kinds are: check, /)
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
  await clone.put('build.mjs', 'console.log("src/a.ts: wrong"); process.exitCode = 1')
  expect(clone.start()).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'Installing the npm packages (npm ci) …\nsrc/a.ts: wrong\nThe build failed.\n',
  })
})

it('before a build, the command reports what to do', async () => {
  await using clone = await createClone()
  await clone.remove('dist')
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
