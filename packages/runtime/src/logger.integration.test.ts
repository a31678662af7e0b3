import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { required } from '@quorumscan/testkit'
import { bundleProgram } from '@quorumscan/testkit/bundle-program'
import { expect, it } from 'vitest'

/** Logs, writes to both outputs, and exits with 7 if it survives that. */
const PROGRAM = `
import { surviveLostOutput } from '../../base/src/index.ts'
import { createLogger } from './index.ts'
surviveLostOutput()
const logger = createLogger({ name: 'test', level: 'info' })
await new Promise((resolve) => process.stdin.once('data', resolve))
for (let count = 0; count < 100; count++) {
  logger.info('a line')
  process.stderr.write('a line\\n')
  process.stdout.write('a line\\n')
  await new Promise((resolve) => setImmediate(resolve))
}
process.exit(7)
`

it('survives a full disk', async () => {
  required('fullDevice')
  using program = await bundleProgram(PROGRAM, import.meta.dirname)
  const full = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, [program.file], {
    stdio: ['pipe', full, full],
  })
  child.stdin?.write('go\n')
  expect(await once(child, 'exit')).toEqual([7, null])
})

it('survives a closed output pipe', async () => {
  using program = await bundleProgram(PROGRAM, import.meta.dirname)
  const child = spawn(process.execPath, [program.file])
  child.stdout.destroy()
  child.stderr.destroy()
  child.stdin.write('go\n')
  expect(await once(child, 'exit')).toEqual([7, null])
})
