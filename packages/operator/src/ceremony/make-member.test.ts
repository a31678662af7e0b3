import { appendFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createKeyPair, keyPairFromSeed } from '@quorumscan/base'
import { VOTE_STATE_FILE, voteStateAt } from '@quorumscan/cometbft'
import { createDirectory } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { dataDirectory } from '../data-directory.ts'
import {
  MEMBER_BYTES_MAX,
  makeMember,
  memberKeyFile,
  newestMembers,
  readMember,
  reissueMember,
} from './member.ts'

const input = {
  name: 'sv-1',
  createdAtMicros: 1_700_000_000_000_000,
  url: null,
  engineAddress: null,
}

function temporaryDirectory() {
  const { path, ...temporary } = createDirectory()
  return { ...temporary, directory: dataDirectory(join(path, 'data')) }
}

it('makes keys that only their owner can read, and writes their public halves', async () => {
  using temporary = temporaryDirectory()
  const { directory } = temporary
  const umask = process.umask(0o077) // As strict as the umask of a systemd unit may be.
  const member = makeMember(directory, 'super-validator', input)
  process.umask(umask)
  for (const [kind, publicKey] of Object.entries(member.keys)) {
    const file = memberKeyFile(directory, 'sv-1', kind)
    expect((await stat(file)).mode & 0o777, file).toBe(0o600)
    expect(keyPairFromSeed(await readFile(file, 'utf8')).publicKey).toBe(publicKey)
  }
  expect((await readdir(join(directory.path, 'keys'))).sort()).toEqual(
    ['engine', 'operator', 'scan', 'voting'].map((kind) => `sv-1.${kind}`),
  )
  expect(readMember(directory.memberFile('sv-1'))).toEqual(member)
  expect((await stat(directory.memberFile('sv-1'))).mode & 0o777).toBe(0o644)
})

it('changes no existing key or member file', async () => {
  using temporary = temporaryDirectory()
  const { directory } = temporary
  const first = makeMember(directory, 'super-validator', input)
  const again = makeMember(directory, 'super-validator', { ...input, createdAtMicros: 1 })
  expect(again).toEqual(first)
  const key = memberKeyFile(directory, 'sv-1', 'scan')
  await appendFile(key, '\n') // As an editor, or a tool for secrets, saves it.
  await rm(directory.memberFile('sv-1'))
  expect(makeMember(directory, 'super-validator', input)).toEqual(first)
  expect(() => makeMember(directory, 'validator', input)).toThrow(
    'is the member file of a super-validator: choose another name',
  )
})

it('issues a member file again with another address and a higher sequence', async () => {
  using temporary = temporaryDirectory()
  const { directory } = temporary
  const url = 'https://sv-1.example'
  const first = makeMember(directory, 'super-validator', { ...input, url })
  const second = reissueMember(directory, 'sv-1', { engineAddress: 'sv-1.example:26656' })
  expect(second).toMatchObject({ ...first, engineAddress: 'sv-1.example:26656', proofs: {} })
  expect(second.reissued?.sequence).toBe(1)
  const third = reissueMember(directory, 'sv-1', { url: 'https://other.example' })
  const reissued = { sequence: 2, first: second.reissued?.first }
  expect(third).toMatchObject({ url: 'https://other.example', keys: first.keys, reissued })
  expect(third.engineAddress).toBe('sv-1.example:26656')
  expect(readMember(directory.memberFile('sv-1'))).toEqual(third)
  expect((await stat(directory.memberFile('sv-1'))).mode & 0o777).toBe(0o644)
  expect(newestMembers([second, third, first])).toEqual([third])
})

it('issues no member file with a wrong address, or with other keys', async () => {
  using temporary = temporaryDirectory()
  const { directory } = temporary
  const first = makeMember(directory, 'validator', { ...input, name: 'v' })
  expect(() => reissueMember(directory, 'v', { url: 'http://v.example' })).toThrow(
    'the member file stays as it is: --url "http://v.example" must be an https address',
  )
  const key = memberKeyFile(directory, 'v', 'participant')
  await writeFile(key, createKeyPair().seed)
  expect(() => reissueMember(directory, 'v', { url: 'https://v.example' })).toThrow(
    'is not the participant key in',
  )
  await rm(key)
  expect(() => reissueMember(directory, 'v', { url: 'https://v.example' })).toThrow(key)
  expect(readMember(directory.memberFile('v'))).toEqual(first)
})

it('writes an empty vote state for a new voting key only', async () => {
  using temporary = temporaryDirectory()
  const { directory } = temporary
  const { keys } = makeMember(directory, 'super-validator', input)
  const voteState = join(directory.engineDirectory('sv-1'), VOTE_STATE_FILE)
  expect(await readFile(voteState, 'utf8')).toBe(voteStateAt(0))
  await rm(voteState)
  await rm(directory.memberFile('sv-1'))
  expect(makeMember(directory, 'super-validator', input).keys).toEqual(keys)
  await expect(stat(voteState)).rejects.toThrow('ENOENT')
})

it('names the file that is not a member file', async () => {
  using temporary = temporaryDirectory()
  const { directory } = temporary
  makeMember(directory, 'validator', input)
  const file = directory.memberFile('sv-1')
  for (const content of ['', '{}', Buffer.from([0xff]), ' '.repeat(MEMBER_BYTES_MAX + 1)]) {
    await writeFile(file, content)
    expect(() => readMember(file)).toThrow(file)
  }
  expect(() => readMember(join(directory.path, 'missing'))).toThrow('missing does not exist')
})
