import { cpSync, mkdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect, vi } from 'vitest'
import {
  existingSocketDirectory,
  makeSocketDirectory,
  redisSocketOf,
  removeSocketDirectory,
  SOCKET_PATH_BYTES_MAX,
} from './socket-directory.ts'

const it = base
  .extend('root', ({ directory }) => directory)
  .extend('cluster', ({ root }) => (name: string) => {
    mkdirSync(join(root, name), { recursive: true })
    return { socketsFile: join(root, name, 'sockets.json') }
  })

it('clusters share no socket, even with a copied directory, and remove their own', ({
  cluster,
  root,
}) => {
  const [a, b] = [cluster('a'), cluster('b')]
  const ofA = makeSocketDirectory(a)
  const ofB = makeSocketDirectory(b)
  cpSync(join(root, 'a'), join(root, 'copy'), { recursive: true })
  const copy = cluster('copy')
  expect(existingSocketDirectory(copy)).toBe(null)
  const ofCopy = makeSocketDirectory(copy)
  const sockets = [ofA, ofB, ofCopy].flatMap((one) =>
    ['synchronizer', 'validator', 'sv-1'].map((service) => redisSocketOf(one, service)),
  )
  expect(new Set(sockets).size).toBe(sockets.length)

  removeSocketDirectory(copy)
  expect([a, b, copy].map(existingSocketDirectory)).toEqual([ofA, ofB, null])
  removeSocketDirectory(a)
  removeSocketDirectory(b)
  expect([a, b].map(existingSocketDirectory)).toEqual([null, null])
})

it.for(['x'.repeat(119), 'ü'.repeat(40)])(
  'a temporary directory named %s leaves room for the sockets of the longest name',
  (name, { cluster, root }) => {
    const temporary = join(root, name)
    mkdirSync(temporary)
    vi.stubEnv('TMPDIR', temporary)
    const record = cluster('a')
    const path = makeSocketDirectory(record)
    vi.unstubAllEnvs()
    const longest = redisSocketOf(path, `f-${'s'.repeat(32)}.synchronizer.faults`)
    expect(Buffer.byteLength(longest)).toBeLessThanOrEqual(SOCKET_PATH_BYTES_MAX)
    expect(dirname(path)).toBe(realpathSync('/tmp'))
    removeSocketDirectory(record)
  },
)
