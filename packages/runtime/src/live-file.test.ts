import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { requestReload } from '@quorumscan/base'
import { createDirectory, createManualClock } from '@quorumscan/testkit'
import { expect, it } from 'vitest'
import { openLiveFile } from './live-file.ts'

it('reads the file again after 2 s, and keeps the last valid content of an invalid file', async () => {
  using directory = createDirectory()
  const file = join(directory.path, 'numbers')
  const warnings: string[] = []
  const logger = { warn: ({ err }: { err: Error }) => warnings.push(err.message) } as never
  const clock = createManualClock()
  const parse = (text: string) => {
    if (!/^\d+$/.test(text)) throw new Error('it is not a number')
    return { value: Number(text) }
  }
  const open = () => openLiveFile({ variable: 'QS_NUMBER_FILE', file }, parse, { clock, logger })
  expect(open).toThrow(`QS_NUMBER_FILE: ${file} does not exist`)
  writeFileSync(file, '1')
  const read = open()
  const first = read()
  writeFileSync(file, '2')
  expect(read()).toBe(first)
  await clock.advance(2_000)
  expect(read()).toEqual({ value: 2 })
  writeFileSync(file, 'three')
  for (let count = 0; count < 3; count++) {
    await clock.advance(2_000)
    expect(read()).toEqual({ value: 2 })
  }
  expect(warnings).toEqual([`QS_NUMBER_FILE: ${file}: it is not a number`])
  rmSync(file)
  requestReload()
  expect(read()).toEqual({ value: 2 })
  writeFileSync(file, '3')
  expect(read()).toEqual({ value: 2 })
  requestReload()
  expect(read()).toEqual({ value: 3 })
  writeFileSync(file, '4')
  expect(read()).toEqual({ value: 3 })
  await clock.advance(2_000)
  expect(read()).toEqual({ value: 4 })
})
