import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, vi } from 'vitest'
import { createAuthority } from './certificates.ts'
import { it as base } from './fixtures/it.ts'
import { startRedis } from './redis.ts'
import { provided } from './requirements.ts'

const it = base
  /** Programs are looked for in its directory alone. */
  .extend('emptyPath', { auto: true }, ({ directory, resources }) => {
    vi.stubEnv('PATH', directory)
    vi.stubEnv('XDG_CACHE_HOME', directory)
    for (const name of ['CI', 'CHROMIUM', 'REDIS_SERVER']) vi.stubEnv(name, '')
    resources.onClose(() => vi.unstubAllEnvs())
  })
  .extend('putProgram', ({ directory }) => (name: string): string => {
    const path = join(directory, name)
    writeFileSync(path, '#!/bin/sh\n')
    chmodSync(path, 0o755)
    return path
  })

describe('a requirement that is missing', () => {
  it('skips tests on a contributor’s machine, with its name and advice', ({ output }) => {
    expect(provided('promtool')).toBeNull()
    expect(output.stderr).toBe(
      "SKIPPED  tests for which promtool is missing (not on the PATH): install Debian's package prometheus\n",
    )
  })

  it('is an error with CI set', ({ output }) => {
    vi.stubEnv('CI', '1')
    for (const key of ['promtool', 'python3', 'openssl', 'chromium', 'cometbft'] as const)
      expect(() => provided(key)).toThrow(/^CI is set, and .* is missing \(not on the PATH\): /)
    for (const key of ['mount', 'namespaces'] as const)
      expect(() => provided(key)).toThrow(/^CI is set, and the right to .* is missing \(/)
    expect(() => provided('chromium', { why: 'it does not run' })).toThrow('(it does not run)')
    expect(output.stderr).toBe('')
  })

  // test/tidy/requirements.test.ts checks that the fixture skips its test without CI.
  it('makes the fixture that needs it fail with CI set', async () => {
    vi.stubEnv('CI', '1')
    const missing = (name: string) => new RegExp(`^CI is set, and ${name} is missing \\(not on the`)
    await expect(createAuthority()).rejects.toThrow(missing('openssl'))
    await expect(startRedis()).rejects.toThrow(missing('redis-server'))
    vi.stubEnv('REDIS_SERVER', '/nowhere/redis-server')
    await expect(startRedis()).rejects.toThrow('REDIS_SERVER is /nowhere/redis-server, which')
  })
})

describe('a requirement that is present', () => {
  it('is found by its variable, else as the first program on the PATH', ({
    putProgram,
    output,
  }) => {
    const [first, mine] = [putProgram('google-chrome'), putProgram('mine')]
    expect(provided('chromium')).toBe(first)
    const better = putProgram('chromium')
    expect(provided('chromium')).toBe(better)
    vi.stubEnv('CHROMIUM', mine)
    vi.stubEnv('CI', '1')
    expect(provided('chromium')).toBe(mine)
    expect(output.stderr).toBe('')
  })
})
