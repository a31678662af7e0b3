/** The store in a file, on a real file system. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it as base } from '@quorumscan/testkit/fixtures'
import { describe, expect } from 'vitest'
import { createFileStore } from './node.ts'

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
})
