/** @module-tag thorough */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandError } from '@quorumscan/runtime'
import { directoryOfFile } from '@quorumscan/testkit/fixtures'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { expect, it } from 'vitest'
import { type Item, openArchive, writeArchive } from './archive.ts'
import { readIdentities } from './encryption.ts'

const root = directoryOfFile()

const OF = {
  role: 'validator' as const,
  name: 'v',
  genesisHash: 'ab'.repeat(32),
  takenAt: '2030-01-31T12:00:00.000000Z',
  variables: { QS_PORT: '4611' },
}
const ITEMS: readonly Item[] = [
  { kind: 'file', path: 'keys/v.participant', text: 'secret\r\nsecret' },
  { kind: 'kept', key: '{users}:records', items: [['YQ==', 'Yg==']] },
  { kind: 'kept', key: '{users}:ids', items: [['YQ==']] },
  { kind: 'group', bytes: 'AAAA', signature: 'BBBB' },
]

async function* each<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}

async function write(name: string, items: Iterable<Item> = ITEMS): Promise<string> {
  const file = join(root, name)
  await writeArchive(file, OF, each(items))
  return file
}

it('returns the items that were written, and is readable by its owner only', async () => {
  const file = await write('whole')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const archive = await openArchive(file)
  expect(archive.header).toMatchObject(OF)
  for (const _ of [1, 2]) {
    const items: Item[] = []
    for await (const item of archive.items()) items.push(item)
    expect(items).toEqual(ITEMS)
  }
  // The same content is the same file.
  expect(readFileSync(await write('again'))).toEqual(readFileSync(file))
})

it('refuses a file with a changed byte or a missing end, and names it', async () => {
  const bytes = readFileSync(await write('good'))
  const altered = join(root, 'altered')
  for (let at = 0; at < bytes.length; at++) {
    const copy = Buffer.from(bytes)
    copy[at] = (copy[at] ?? 0) ^ 1
    writeFileSync(altered, copy)
    await expect(openArchive(altered), `byte ${at}`).rejects.toThrow(CommandError)
    writeFileSync(altered, bytes.subarray(0, at))
    await expect(openArchive(altered), `${at} bytes`).rejects.toThrow(altered)
  }
  writeFileSync(altered, Buffer.concat([bytes, Buffer.from('\n')]))
  await expect(openArchive(altered)).rejects.toThrow(`${altered} is damaged`)
  await expect(openArchive(join(root, 'nowhere'))).rejects.toThrow('nowhere does not exist')
})

it('encrypts a file by age, which only the identity of its recipient decrypts', async () => {
  const [own, other] = [await generateX25519Identity(), await generateX25519Identity()]
  const file = join(root, 'encrypted')
  await writeArchive(file, OF, each(ITEMS), await identityToRecipient(own))
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const bytes = readFileSync(file)
  expect(bytes.toString('latin1')).toMatch(/^age-encryption\.org\/v1\n/)
  expect(bytes.includes('secret')).toBe(false)
  const items: Item[] = []
  for await (const item of (await openArchive(file, [other, own])).items()) items.push(item)
  expect(items).toEqual(ITEMS)
  await expect(openArchive(file)).rejects.toThrow('is encrypted: name the file of its identity')
  await expect(openArchive(file, [other])).rejects.toThrow('or encrypted to another recipient')
  const altered = join(root, 'altered.age')
  for (const at of [0, 30, 100, bytes.length >> 1, bytes.length - 1]) {
    const copy = Buffer.from(bytes)
    copy[at] = (copy[at] ?? 0) ^ 1
    writeFileSync(altered, copy)
    await expect(openArchive(altered, [own]), `byte ${at}`).rejects.toThrow(CommandError)
    writeFileSync(altered, bytes.subarray(0, at))
    await expect(openArchive(altered, [own]), `${at} bytes`).rejects.toThrow(altered)
  }
  await expect(writeArchive(join(root, 'to'), OF, each(ITEMS), 'age1x')).rejects.toThrow(
    '"age1x" is not a recipient of age',
  )
  expect(readdirSync(root).filter((name) => name.startsWith('to'))).toEqual([])
})

it('reads the identities in a file as `age-keygen` writes it', () => {
  const file = join(root, 'key.txt')
  writeFileSync(file, '# created: today\n# public key: age1…\nAGE-SECRET-KEY-1X\n')
  expect(readIdentities(file)).toEqual(['AGE-SECRET-KEY-1X'])
  writeFileSync(file, 'age1x\n')
  expect(() => readIdentities(file)).toThrow(`${file}: it has no line AGE-SECRET-KEY-…`)
})

it('leaves no file after a failure, and does not replace an existing one', async () => {
  const file = await write('first')
  await expect(write('first')).rejects.toThrow('exists already')
  async function* failing(): AsyncGenerator<Item> {
    yield* ITEMS
    throw new CommandError('no more')
  }
  await expect(writeArchive(join(root, 'second'), OF, failing())).rejects.toThrow('no more')
  expect(readdirSync(root)).not.toContain('second')
  expect(readdirSync(root).filter((name) => name.endsWith('.partial'))).toEqual([])
  expect((await openArchive(file)).header.name).toBe('v')
})

it.each(['../keys/v', '/etc/passwd', 'keys/../../x', 'keys/.x', 'run.env', 'redis/v/redis.conf'])(
  'refuses the path %s',
  async (path) => {
    const file = await write(`to-${path.replaceAll('/', '_')}`, [{ kind: 'file', path, text: '' }])
    const { items } = await openArchive(file)
    await expect(items().next()).rejects.toThrow(/line 2: .*path/)
  },
)
