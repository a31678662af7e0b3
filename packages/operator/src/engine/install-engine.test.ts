import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ENGINE_VERSION, engineCache, installEngine } from './find-engine.ts'

let directory: string
let env: { readonly PATH: string; readonly XDG_CACHE_HOME: string }
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'qs-install-'))
  env = { PATH: join(directory, 'bin'), XDG_CACHE_HOME: join(directory, 'cache') }
})
afterEach(() => rm(directory, { recursive: true }))

async function script(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `#!/bin/sh\n${text}\n`)
  await chmod(path, 0o700)
}

/** A Go of this version, which builds an engine in an instant, or fails. */
const go = (version: string, how = 'exit 0') =>
  script(
    join(directory, 'bin', 'go'),
    `if [ "$1" = env ]; then echo ${version}; exit; fi
     ${how}
     [ "$1 $2" = "install github.com/cometbft/cometbft/cmd/cometbft@v${ENGINE_VERSION}" ] || exit 2
     printf '#!/bin/sh\\necho ${ENGINE_VERSION}\\n' > "$GOBIN/cometbft"
     /bin/chmod 700 "$GOBIN/cometbft"`,
  )

it.each(['go1.22.11', 'go1.26.8', 'go1.23rc1'])('builds with %s, once', async (version) => {
  await go(version, ':')
  const path = join(engineCache(env), 'cometbft')
  expect(await installEngine(env)).toBe(path)
  await rm(join(directory, 'bin'), { recursive: true })
  expect(await installEngine(env)).toBe(path)
  expect(await readdir(dirname(engineCache(env)))).toHaveLength(1)
})

it('builds nothing where there is one that may be used', async () => {
  await script(join(directory, 'bin', 'cometbft'), 'echo 0.38.21')
  expect(await installEngine(env)).toBe(join(directory, 'bin', 'cometbft'))
})

it.each([
  ['there is no Go', null, 'none is on the PATH'],
  ['Go is older', 'go1.22.10', 'on the PATH is "1.22.10"'],
])('says in two lines what a person does where %s', async (_, version, reason) => {
  if (version !== null) await go(version)
  const message = await installEngine(env).catch((error) => error.message)
  const [why, ...lines] = message.split('\n')
  expect(why).toContain(reason)
  expect(lines).toEqual([
    'Install Go 1.22.11 or newer from https://go.dev/dl, then:',
    `  GOBIN=${engineCache(env)} go install github.com/cometbft/cometbft/cmd/cometbft@v${ENGINE_VERSION}`,
  ])
})

it('leaves nothing behind where the build fails', async () => {
  await go('go1.26', 'exit 3')
  await expect(installEngine(env)).rejects.toThrow('failed (3)')
  expect(await readdir(dirname(engineCache(env)))).toEqual([])
})
