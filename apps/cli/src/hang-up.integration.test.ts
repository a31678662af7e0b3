/**
 * SIGHUP to a command: the end of its terminal, or the wish of an operator that a service reads its files again.
 *
 * @module-tag rest
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { bundleProgram } from '@quorumscan/testkit/bundle-program'
import { describe, expect, it } from 'vitest'

const program = await bundleProgram(
  `
import { runProcess } from '../../../packages/base/src/index.ts'
import { onReload } from '../../../packages/base/src/reload.ts'
import { untilInterrupted } from './options.ts'
const [kind] = process.argv.slice(2)
const alive = setInterval(() => {}, 1000)
const say = (word) => console.log([word, process.pid].join(' '))
if (kind === 'process') {
  onReload(() => say('reloaded'), new AbortController().signal)
  await runProcess(async () => {
    await new Promise(setImmediate) // Until it handles signals.
    say('started')
    return { async [Symbol.asyncDispose]() { say('ended'); clearInterval(alive) } }
  })
} else {
  const interrupted = untilInterrupted(kind === 'run' ? () => say('reloaded') : undefined)
  say('started')
  await interrupted
  say('ended')
  clearInterval(alive)
}`,
  import.meta.dirname,
)

/** The next word that the program says, and its process. */
function listen(child: ChildProcess) {
  const lines = createInterface(child.stdout as NodeJS.ReadableStream)[Symbol.asyncIterator]()
  return async () => {
    const { value = '' } = await lines.next()
    const [word = '', pid = ''] = String(value).trim().split(' ')
    return { word, pid: Number(pid) }
  }
}

describe('SIGHUP', () => {
  it.each(['run', 'process'])('of a service (%s) reloads, and SIGTERM ends it', async (kind) => {
    const child = spawn(process.execPath, [program.file, kind], { detached: true })
    const next = listen(child)
    const { pid } = await next()
    for (let count = 0; count < 2; count++) {
      process.kill(pid, 'SIGHUP')
      expect((await next()).word).toBe('reloaded')
    }
    process.kill(pid, 'SIGTERM')
    expect((await next()).word).toBe('ended')
  })

  it('of another command ends it, also without a terminal', async () => {
    const child = spawn(process.execPath, [program.file, 'mirror'], { detached: true })
    const next = listen(child)
    process.kill((await next()).pid, 'SIGHUP')
    expect((await next()).word).toBe('ended')
  })

  it.runIf(process.platform === 'linux').each(['run', 'process', 'mirror'])(
    'of a terminal ends what runs in it (%s)',
    async (kind) => {
      const command = `${process.execPath} ${program.file} ${kind}`
      const child = spawn('script', ['-qec', command, '/dev/null'])
      const exited = once(child, 'exit')
      const next = listen(child)
      process.kill((await next()).pid, 'SIGHUP')
      expect((await next()).word).toBe('ended')
      await exited
    },
  )
})
