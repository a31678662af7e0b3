/** The store in a file, on a real file system. */
import {
  chmod,
  copyFile,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { it as base } from '@quorumscan/testkit/fixtures'
import { describe, expect, vi } from 'vitest'
import { seenNamesFull } from './names/name-changes.ts'
import { createSeenNames } from './names/seen-names.ts'
import { createFileStore } from './node.ts'
import { systemClock } from './platform/clock.ts'
import { announceAccepted } from './platform/page-events.ts'
import { parseParty } from './platform/parse-party.ts'
import { createSharedStore } from './platform/shared-store.ts'
import { sharedValue } from './platform/shared-values.ts'
import type { Store } from './platform/store.ts'

/** A file that the SDK of November 2026 wrote. */
/** Above the highest one that a system gives. */
const NO_PID = 2 ** 22 + 1
const RECORDED_KEY = 'quorumscan:d24e28ca169bbf07'
const RECORDED = join(import.meta.dirname, '../testing/store-2026-11.json')

const it = base
  .extend('folder', ({ directory }) => join(directory, 'wallet'))
  .extend('path', ({ folder }) => join(folder, 'store.json'))
  .extend(
    'inFile',
    ({ path }) =>
      async () =>
        JSON.parse(await readFile(path, 'utf8')) as object,
  )
  /** Nothing can be written below a file. */
  .extend('breakFolder', ({ folder }) => async () => {
    await rename(folder, `${folder}.away`)
    await writeFile(folder, '')
  })
  .extend('repairFolder', ({ folder }) => async () => {
    await rm(folder)
    await rename(`${folder}.away`, folder)
  })

describe('a store in a file', () => {
  it('stores values for the next process, and creates the folder', async ({ path, folder }) => {
    await createFileStore(path).set('a', '1')
    const next = createFileStore(path)
    expect(await next.get('a')).toBe('1')
    expect(await next.get('b')).toBeNull()
    expect(await readdir(folder)).toEqual(['store.json'])
  })

  it('rejects a value each time that it cannot be written, and returns what the file has', async ({
    path,
    breakFolder,
    repairFolder,
    inFile,
  }) => {
    const store = createFileStore(path)
    await store.set('a', 'old')
    await breakFolder()
    await expect(store.set('a', 'new')).rejects.toThrow(/EEXIST|ENOTDIR/)
    await expect(store.set('a', 'new')).rejects.toThrow(/EEXIST|ENOTDIR/)
    expect(await store.get('a')).toBe('old')
    await repairFolder()
    expect(await inFile()).toEqual({ a: 'old' })
    await store.set('a', 'new')
    expect(await store.get('a')).toBe('new')
    expect(await inFile()).toEqual({ a: 'new' })
  })

  it('writes no value of a failed write later', async ({
    path,
    breakFolder,
    repairFolder,
    inFile,
  }) => {
    const store = createFileStore(path)
    await store.set('a', '1')
    await breakFolder()
    const failed = await Promise.allSettled([store.set('b', '2'), store.set('c', '3')])
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await repairFolder()
    await store.set('d', '4')
    expect(await inFile()).toEqual({ a: '1', d: '4' })
  })

  it('writes all values that are set at once, and the last one of each key', async ({
    path,
    inFile,
  }) => {
    const store = createFileStore(path)
    await store.set('a', '0')
    await Promise.all([store.set('a', '1'), store.set('b', '2'), store.set('a', '0')])
    expect(await inFile()).toEqual({ a: '0', b: '2' })
    const first = store.set('a', '3')
    await Promise.resolve()
    await Promise.all([first, store.set('a', '0')])
    expect(await inFile()).toEqual({ a: '0', b: '2' })
  })

  it('leaves no draft if the file cannot be replaced', async ({ path, folder }) => {
    const store = createFileStore(path)
    expect(await store.get('a')).toBeNull()
    await mkdir(path, { recursive: true })
    await expect(store.set('a', '1')).rejects.toThrow('EISDIR')
    expect(await readdir(folder)).toEqual(['store.json'])
  })

  it.for([
    ['no JSON', 'no JSON'],
    ['a list', '["a"]'],
    ['a number in it', '{"a":1}'],
  ] as const)('does not change a file with %s', async ([_, text], { path }) => {
    await createFileStore(path).set('a', '1')
    await writeFile(path, text)
    const store = createFileStore(path)
    await expect(store.get('a')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await expect(store.set('a', '2')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(await readFile(path, 'utf8')).toBe(text)
  })

  it.for(['', '\n'])(
    'takes an empty file (%j) for a new store',
    async (text, { path, folder, inFile }) => {
      await mkdir(folder)
      await writeFile(path, text)
      const store = createFileStore(path)
      expect(await store.get('a')).toBeNull()
      await store.set('a', '1')
      expect(await inFile()).toEqual({ a: '1' })
    },
  )

  it('writes the target of symbolic links, also if it does not exist yet', async ({
    path,
    folder,
    inFile,
  }) => {
    const elsewhere = join(folder, 'elsewhere')
    await mkdir(elsewhere, { recursive: true })
    await symlink('elsewhere/link.json', path)
    await symlink('target.json', join(elsewhere, 'link.json'))
    await createFileStore(path).set('a', '1')
    await createFileStore(path).set('b', '2')
    expect((await lstat(path)).isSymbolicLink()).toBe(true)
    expect((await lstat(join(elsewhere, 'link.json'))).isSymbolicLink()).toBe(true)
    expect(JSON.parse(await readFile(join(elsewhere, 'target.json'), 'utf8'))).toEqual({
      a: '1',
      b: '2',
    })
    expect(await inFile()).toEqual({ a: '1', b: '2' })
    expect(await readdir(elsewhere)).toEqual(['link.json', 'target.json'])
  })

  it('refuses links that lead to each other', async ({ path, folder }) => {
    await mkdir(folder)
    await symlink('other.json', path)
    await symlink('store.json', join(folder, 'other.json'))
    await expect(createFileStore(path).set('a', '1')).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  })

  it('makes a private file, and keeps the mode of an existing one', async ({ path }) => {
    const modeOf = async () => (await stat(path)).mode & 0o777
    const store = createFileStore(path)
    await store.set('a', '1')
    expect(await modeOf()).toBe(0o600)
    await chmod(path, 0o664)
    await store.set('a', '2')
    expect(await modeOf()).toBe(0o664)
  })

  it('syncs the file before it replaces it, and the folder afterwards', async ({
    path,
    folder,
  }) => {
    await mkdir(folder)
    await writeFile(path, '{}')
    const handle = await open(folder)
    const prototype = Object.getPrototypeOf(handle) as FileHandle
    await handle.close()
    const { sync } = prototype
    const synced: string[] = []
    const spy = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
      const what = (await this.stat()).isDirectory() ? 'folder' : 'file'
      synced.push(`${what}, while the file has ${await readFile(path, 'utf8')}`)
      return sync.call(this)
    })
    await createFileStore(path).set('a', '1')
    spy.mockRestore()
    expect(synced).toEqual([
      'file, while the file has {}',
      `folder, while the file has ${await readFile(path, 'utf8')}`,
    ])
  })

  it('has the values of all processes and stores of one file', async ({ path, inFile }) => {
    const [one, other] = [createFileStore(path), createFileStore(path)]
    await one.set('a', '1')
    expect(await other.get('a')).toBe('1')
    await Promise.all([
      one.set('b', '1'),
      other.set('c', '1'),
      one.set('d', '1'),
      other.set('a', '2'),
    ])
    expect(await inFile()).toEqual({ a: '2', b: '1', c: '1', d: '1' })
    expect(await one.get('a')).toBe('2')
  })

  it('changes a value in one process at a time', async ({ path, inFile }) => {
    const add = (store: Store, item: string) =>
      store.exclusively?.(async () => {
        const before = await store.get('list')
        await Promise.resolve(store.set('list', `${before ?? ''}${item}`))
      })
    const stores = ['a', 'b', 'c', 'd'].map((item) => ({ item, store: createFileStore(path) }))
    await Promise.all(stores.map(({ item, store }) => add(store, item)))
    const { list } = (await inFile()) as { readonly list: string }
    expect([...list].sort().join('')).toBe('abcd')
  })

  it('keeps values of a file that disappears or becomes empty while it is used', async ({
    path,
    inFile,
  }) => {
    const store = createFileStore(path)
    await store.set('a', '1')
    await rm(path)
    expect(await store.get('a')).toBe('1')
    await store.set('b', '2')
    expect(await inFile()).toEqual({ a: '1', b: '2' })
    await writeFile(path, '')
    expect(await store.get('a')).toBe('1')
  })

  it('takes the lock of a process that has ended', async ({ path, folder, inFile }) => {
    await mkdir(folder)
    await writeFile(`${path}.lock`, `${hostname()} ${NO_PID} x`)
    await createFileStore(path).set('a', '1')
    expect(await inFile()).toEqual({ a: '1' })
    expect(await readdir(folder)).toEqual(['store.json'])
  })

  it('waits for the lock of another process', async ({ path, folder, inFile }) => {
    await mkdir(folder)
    await writeFile(`${path}.lock`, `${hostname()} ${process.pid} x`)
    let isDone = false
    const setting = createFileStore(path).set('a', '1')
    void Promise.resolve(setting).then(() => {
      isDone = true
    })
    await createFileStore(join(folder, 'other.json')).set('a', '1')
    expect(isDone).toBe(false)
    await rm(`${path}.lock`)
    await setting
    expect(await inFile()).toEqual({ a: '1' })
  })

  it('reads the file of an older version of the SDK, as it was recorded', async ({
    path,
    folder,
  }) => {
    await mkdir(folder)
    await copyFile(RECORDED, path)
    const store = createFileStore(path)
    const shared = createSharedStore(store, systemClock)
    const seen = createSeenNames(shared, async () => `${RECORDED_KEY}:names`, {
      extras: async () => ({ seenNamesFull, announceAccepted }),
    })
    const read = {
      name: 'alice.unverified.ns',
      party: parseParty(`mallory::1220${'a'.repeat(64)}`),
      atMicros: 9,
    }
    expect(await seen.compare([read], true)).toMatchObject([
      { name: 'alice.unverified.ns', party: expect.stringMatching(/^alice::1220/) },
    ])
    const floor = sharedValue(shared, `${RECORDED_KEY}:floor`, {
      first: 0,
      isValid: Number.isSafeInteger,
    })
    expect(await floor.load()).toBeGreaterThan(0)
    expect(shared.failure()).toBeNull()
  })
})
