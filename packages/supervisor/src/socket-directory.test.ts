import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import {
  existingSocketDirectory,
  makeSocketDirectory,
  redisSocketOf,
  removeSocketDirectory,
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
