import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ENGINE_VERSION, engineCache, findEngine } from './find-engine.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'qs-find-'))
})
afterEach(() => rm(directory, { recursive: true }))

async function program(path: string, version: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `#!/bin/sh\necho ${version}\n`)
  await chmod(path, 0o700)
  return path
}

it('is where QS_COMETBFT says, else on the PATH, else in the cache', async () => {
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

it.each([
  ['one whose block time f members can move', '0.38.20', '0.38.21 or a newer patch'],
  ['one of another line', '1.0.1', 'is version "1.0.1"'],
  ['another program', 'hello', 'is version "hello"'],
])('is not %s', async (_, version, message) => {
  const named = await program(join(directory, 'cometbft'), version)
  await expect(findEngine({ QS_COMETBFT: named })).rejects.toThrow(message)
})

it('is not looked for elsewhere where one is named', async () => {
  const env = { QS_COMETBFT: join(directory, 'none'), PATH: directory }
  await program(join(directory, 'cometbft'), ENGINE_VERSION)
  await expect(findEngine(env)).rejects.toThrow('cannot be run')
})
