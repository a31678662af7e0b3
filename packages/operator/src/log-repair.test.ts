import { chmodSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { checkerOf, cutAtDamage, replaceDirectory } from './log-repair.ts'

const it = base
  .extend('root', async ({ directory }) => {
    for (const name of ['log', 'repaired']) {
      await mkdir(join(directory, name))
      writeFileSync(join(directory, name, name), '')
    }
    return directory
  })
  .extend(
    'at',
    ({ root }) =>
      (name: string) =>
        join(root, name),
  )
  .extend(
    'contents',
    ({ root, at }) =>
      () =>
        Object.fromEntries(readdirSync(root).map((name) => [name, readdirSync(at(name))])),
  )

it('replaces the log by the repaired one, and keeps the old one', async ({ at, contents }) => {
  await replaceDirectory(at('log'), { repaired: at('repaired'), backup: at('kept') })
  expect(contents()).toEqual({ log: ['repaired'], kept: ['log'] })
})

it('keeps the old log in its place if the repaired one cannot be moved', async ({
  at,
  contents,
}) => {
  renameSync(at('repaired'), at('gone'))
  const moved = replaceDirectory(at('log'), { repaired: at('repaired'), backup: at('kept') })
  await expect(moved).rejects.toThrow(
    'the log was not changed: the repaired log could not be moved',
  )
  expect(contents()).toEqual({ log: ['log'], gone: ['repaired'] })
})

it.for([
  ['/opt/redis/redis-server', '/opt/redis/redis-check-aof'],
  ['/opt/valkey/valkey-server', '/opt/valkey/valkey-check-aof'],
  ['redis-server', 'redis-check-aof'],
  ['/opt/redis-7/server', '/opt/redis-7/redis-check-aof'],
] as const)('checks files of %s with %s', ([server, checker]) => {
  expect(checkerOf(server)).toBe(checker)
})

it.for([
  ['exit 3', 'failed (exit status 3): why'],
  ['kill -9 $$', 'failed (SIGKILL): why'],
  [null, 'cannot be run (ENOENT). Install it next to redis-server'],
  ['', 'cannot be run (EACCES)'],
] as const)('names a checker that does "%s", and cuts nothing', async ([script, why], { root }) => {
  const checker = join(root, 'redis-check-aof')
  if (script !== null) writeFileSync(checker, `#!/bin/sh\necho why\n${script}\n`)
  if (script) chmodSync(checker, 0o755)
  await expect(cutAtDamage(join(root, 'manifest'), checker)).rejects.toThrow(
    `the log was not repaired: ${checker} ${why}`,
  )
})

it('accepts a checker that does not read its input', async ({ root }) => {
  const checker = join(root, 'redis-check-aof')
  writeFileSync(checker, '#!/bin/sh\nexec <&-\nexit 0\n')
  chmodSync(checker, 0o755)
  await expect(cutAtDamage(join(root, 'manifest'), checker)).resolves.toBeUndefined()
})
