import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  assertWritable,
  CommandError,
  readJson,
  readOwnJson,
  readSecret,
  writeOwnJson,
} from '@quorumscan/runtime'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'

const it = base
  .extend('root', ({ directory }) => {
    mkdirSync(join(directory, 'a'))
    return directory
  })
  .extend(
    'fileIn',
    ({ root }) =>
      (directory: string) =>
        join(root, directory, 'control.json'),
  )

it('ignores the state file in a copied directory, and reads it after the directory was moved', ({
  fileIn,
  root,
}) => {
  writeOwnJson(fileIn('a'), { pid: 7 })
  expect(readOwnJson(fileIn('a'))).toEqual({ pid: 7 })
  cpSync(join(root, 'a'), join(root, 'b'), { recursive: true })
  expect(readOwnJson(fileIn('b'))).toBe(null)
  renameSync(join(root, 'a'), join(root, 'c'))
  expect(readOwnJson(fileIn('c'))).toEqual({ pid: 7 })
})

it.for(['', '{"owner":"1:2","con', '[]', 'null', '{"content":{"pid":7}}'])(
  'ignores a state file with the content %j',
  (text, { fileIn }) => {
    writeFileSync(fileIn('a'), text)
    expect(readOwnJson(fileIn('a'))).toBe(null)
  },
)

it('names a half-written control file, and returns null without one', ({ fileIn }) => {
  expect(readJson(fileIn('a'))).toBe(null)
  writeFileSync(fileIn('a'), '{"nodes":4,')
  expect(() => readJson(fileIn('a'))).toThrow(CommandError)
  expect(() => readJson(fileIn('a'))).toThrow(
    /a\/control\.json is damaged .*restore a complete copy/,
  )
})

it('does not create a deleted directory again to write a state file', ({ root, fileIn }) => {
  rmSync(join(root, 'a'), { recursive: true })
  writeOwnJson(fileIn('a'), {})
  expect(readOwnJson(fileIn('a'))).toBe(null)
  expect(() => renameSync(join(root, 'a'), join(root, 'b'))).toThrow('ENOENT')
})

it('reports a directory in which no file can be written', ({ root }) => {
  assertWritable(join(root, 'a', 'new'))
  writeFileSync(join(root, 'file'), '')
  expect(() => assertWritable(join(root, 'file'))).toThrow(CommandError)
  // No user, not even root, can make a directory there.
  expect(() => assertWritable('/sys/quorumscan')).toThrow(
    /nothing can be written in \/sys\/quorumscan: .*Name another directory/,
  )
})

it('accepts a line feed after a secret, and no other text', ({ fileIn }) => {
  const secret = 'ab'.repeat(32)
  for (const end of ['', '\n', '\r\n']) {
    writeFileSync(fileIn('a'), `${secret}${end}`)
    expect(readSecret(fileIn('a'))).toBe(secret)
  }
  writeFileSync(fileIn('a'), `${secret} ${secret}`)
  expect(() => readSecret(fileIn('a'))).toThrow('is damaged')
})
