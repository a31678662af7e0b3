import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { ENGINE_VERSION, engineCache, installEngine } from './find-engine.ts'

const it = base
  .extend('env', ({ directory }) => ({
    PATH: join(directory, 'bin'),
    XDG_CACHE_HOME: join(directory, 'cache'),
  }))
  /** A fake `go` program of this version, which builds an engine at once, or fails. */
  .extend(
    'go',
    ({ directory }) =>
      (version: string, how = 'exit 0') =>
        script(
          join(directory, 'bin', 'go'),
          `if [ "$1" = env ]; then echo ${version}; exit; fi
       ${how}
       [ "$1 $2" = "install github.com/cometbft/cometbft/cmd/cometbft@v${ENGINE_VERSION}" ] || exit 2
       printf '#!/bin/sh\\necho ${ENGINE_VERSION}\\n' > "$GOBIN/cometbft"
       /bin/chmod 700 "$GOBIN/cometbft"`,
        ),
  )

async function script(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `#!/bin/sh\n${text}\n`)
  await chmod(path, 0o700)
}

it.for(['go1.22.11', 'go1.26.8', 'go1.23rc1'])(
  'builds with %s, once',
  async (version, { go, env, directory }) => {
    await go(version, ':')
    const path = join(engineCache(env), 'cometbft')
    expect(await installEngine(env)).toBe(path)
    await rm(join(directory, 'bin'), { recursive: true })
    expect(await installEngine(env)).toBe(path)
    expect(await readdir(dirname(engineCache(env)))).toHaveLength(1)
  },
)

it('builds no engine if a suitable one is installed', async ({ directory, env }) => {
  await script(join(directory, 'bin', 'cometbft'), 'echo 0.38.21')
  expect(await installEngine(env)).toBe(join(directory, 'bin', 'cometbft'))
})

it.for([
  ['there is no Go', null, 'none is on the PATH'],
  ['Go is older', 'go1.22.10', 'on the PATH is "1.22.10"'],
] as const)('prints how to install the engine if %s', async ([_, version, reason], { go, env }) => {
  if (version !== null) await go(version)
  const message = await installEngine(env).catch((error) => error.message)
  const [why, ...lines] = message.split('\n')
  expect(why).toContain(reason)
  expect(lines).toEqual([
    'Install Go 1.22.11 or newer from https://go.dev/dl, then:',
    `  GOBIN=${engineCache(env)} go install github.com/cometbft/cometbft/cmd/cometbft@v${ENGINE_VERSION}`,
  ])
})

it('leaves no file after a build that failed', async ({ go, env }) => {
  await go('go1.26', 'exit 3')
  await expect(installEngine(env)).rejects.toThrow('failed (3)')
  expect(await readdir(dirname(engineCache(env)))).toEqual([])
})
