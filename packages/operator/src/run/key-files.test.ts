import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKeyPair } from '@quorumscan/base'
import { it as base } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { readKeyFile } from './key-files.ts'

const NOBODY = 65_534
const { seed, publicKey } = createKeyPair()
const options = { role: 'validator', areReadableAllowed: false, publicIn: null }

const it = base.extend('file', ({ directory }) => {
  const file = join(directory, 'keys', 'v.participant')
  mkdirSync(join(directory, 'keys'))
  writeFileSync(file, `${seed}\n`, { mode: 0o600 })
  return file
})

/** Root may read every file. */
function asOrdinaryUser<T>(work: () => T): T {
  if (process.geteuid?.() !== 0) return work()
  process.seteuid?.(NOBODY)
  try {
    return work()
  } finally {
    process.seteuid?.(0)
  }
}

it('reads a private key that only its owner can read, also by a link', ({ directory, file }) => {
  expect(readKeyFile(file, options)).toEqual({ publicKey })
  symlinkSync(file, join(directory, 'link'))
  expect(readKeyFile(join(directory, 'link'), options)).toEqual({ publicKey })
})

it('advises to make a key only if none exists, and no other member knows its public key', ({
  file,
}) => {
  expect(readKeyFile(`${file}.missing`, options)).toEqual({
    problem: `${file}.missing does not exist; \`quorumscan keys new --role validator\` makes it, unless this is the configuration of another role`,
  })
  expect(readKeyFile(`${file}.missing`, { ...options, publicIn: 'the genesis' })).toEqual({
    problem: `${file}.missing does not exist, and the genesis has its public key, so that it cannot be made again. Put it back from your copy or a backup, or correct QS_DATA_DIR or the role`,
  })
})

it.for([
  ['the file', (file: string) => chmodSync(file, 0o000)],
  ['its directory', (file: string) => chmodSync(join(file, '..'), 0o000)],
] as const)(
  'says that a key is not readable, and who owns it, if %s is closed',
  ([, close], { file }) => {
    close(file)
    const found = asOrdinaryUser(() => readKeyFile(file, options))
    chmodSync(join(file, '..'), 0o700)
    expect(found).toEqual({
      problem: expect.stringMatching(
        /cannot be read by the user with the id [0-9]+: permission denied \(.*belongs to the user with the id [0-9]+, mode 0[0-7]{3}\)\. (?:It|They) may exist: do not make (?:it|them) again/,
      ),
    })
  },
)

it.for([0o640, 0o604, 0o620, 0o666, 0o644])(
  'refuses mode %o unless that is allowed',
  (mode, { file }) => {
    chmodSync(file, mode)
    expect(readKeyFile(file, options)).toEqual({
      problem: expect.stringContaining(`: \`chmod 600 ${file}\`. On a file system`),
    })
    expect(readKeyFile(file, { ...options, areReadableAllowed: true })).toEqual({ publicKey })
  },
)

it.for(['', 'no seed', `${seed}00`])('names the file that holds %j', (text, { file }) => {
  writeFileSync(file, text)
  expect(readKeyFile(file, options)).toEqual({
    problem: `${file}: the file must hold a seed of 64 hexadecimal digits`,
  })
})
