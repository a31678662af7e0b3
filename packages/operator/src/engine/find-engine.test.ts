import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { ENGINE_VERSION, engineCache, findEngine } from './find-engine.ts'

async function program(path: string, version: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `#!/bin/sh\necho ${version}\n`)
  await chmod(path, 0o700)
  return path
}

it('finds the engine by QS_COMETBFT, on the PATH, or in the cache', async ({ directory }) => {
  const env = { PATH: `${directory}/none:${directory}/bin`, XDG_CACHE_HOME: directory }
  await expect(findEngine(env)).rejects.toThrow('CometBFT is not installed')
  const cached = await program(join(engineCache(env), 'cometbft'), ENGINE_VERSION)
  expect(await findEngine(env)).toBe(cached)
  await program(join(directory, 'none', 'cometbft'), '1.0.1')
  expect(await findEngine(env)).toBe(cached)
  const onPath = await program(join(directory, 'bin', 'cometbft'), 'v0.38.21+commit')
  expect(await findEngine(env)).toBe(onPath)
  const named = await program(join(directory, 'mine'), '0.38.30')
  expect(await findEngine({ ...env, QS_COMETBFT: named })).toBe(named)
})

it.for([
  ['a version whose block time f members can move', '0.38.20', '0.38.21 or a newer patch'],
  ['another major version', '1.0.1', 'is version "1.0.1"'],
  ['another program', 'hello', 'is version "hello"'],
] as const)('does not accept %s as the engine', async ([_, version, message], { directory }) => {
  const named = await program(join(directory, 'cometbft'), version)
  await expect(findEngine({ QS_COMETBFT: named })).rejects.toThrow(message)
})

it('finds no other engine if QS_COMETBFT names one', async ({ directory }) => {
  const env = { QS_COMETBFT: join(directory, 'none'), PATH: directory }
  await program(join(directory, 'cometbft'), ENGINE_VERSION)
  await expect(findEngine(env)).rejects.toThrow(
    `QS_COMETBFT: ${join(directory, 'none')} cannot be run. Name another one; \`quorumscan cometbft install\` builds`,
  )
})
