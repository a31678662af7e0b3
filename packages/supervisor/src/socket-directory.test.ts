import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  existingSocketDirectory,
  makeSocketDirectory,
  redisSocketOf,
  removeSocketDirectory,
} from './socket-directory.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(realpathSync(tmpdir()), 'qs-data-'))
})
afterEach(() => rmSync(root, { recursive: true }))

const cluster = (name: string) => {
  mkdirSync(join(root, name), { recursive: true })
  return { socketsFile: join(root, name, 'sockets.json') }
}

it('clusters of one machine share no socket, even if one is a copy of the other, and each removes its own', () => {
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
