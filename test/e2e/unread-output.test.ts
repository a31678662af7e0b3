/**
 * `quorumscan run` works while its output is not read, and stops gracefully with all its processes.
 * @module-tag rest
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, send, untilTrue } from '@quorumscan/testkit'
import { directoryOfFile } from '@quorumscan/testkit/fixtures'
import { beforeAll, expect, it } from 'vitest'

const BIN = join(import.meta.dirname, '../../cluster/bin/quorumscan.mjs')
/** Capacity of a pipe. */
const PIPE_BYTES = 65_536

const root = directoryOfFile()
let port: number
beforeAll(async () => {
  port = await freePort()
  const runCli = (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, [BIN, ...args], { cwd: root })
  await runCli('keys', 'new', '--role', 'synchronizer', '--name', 'orderer', '--out', 'var')
  const url = 'https://sv-1.example'
  await runCli('keys', 'new', '--name', 'sv-1', '--out', 'var', '--url', url)
  const members = ['var/orderer.member.json', 'var/sv-1.member.json']
  await runCli('genesis', 'create', ...members, '--set', 'devnet=true', '--out', 'genesis.json')
  writeFileSync(join(root, 'tokens'), `${'ab'.repeat(16)}\n`)
  const variables = {
    QS_NAME: 'orderer',
    QS_DATA_DIR: join(root, 'var'),
    QS_MEMBERS: join(root, 'var'),
    QS_GENESIS: join(root, 'genesis.json'),
    QS_PEER_TOKENS_FILE: join(root, 'tokens'),
    QS_PORT: port,
  }
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(join(root, 'run.env'), lines.join(''))
})

const contentOf = (file: string) =>
  JSON.parse(readFileSync(join(root, 'var', file), 'utf8')).content
/** Sends a signal, and returns whether the process exists. */
const signal = (pid: number, name: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

it.each([
  ['full', 'exec sleep 600'],
  ['closed', 'exec true'],
])('`run` serves and stops gracefully while its output pipe is %s', async (_, reader) => {
  const begun = `echo $$ > ${join(root, 'pid')}; head -c ${PIPE_BYTES} /dev/zero; exec "$0" "$@"`
  const command = `sh -c '${begun}' "$0" "$@" | ${reader}`
  const args = [BIN, 'run', 'synchronizer', '--config', join(root, 'run.env')]
  const shell = spawn('sh', ['-c', command, process.execPath, ...args], {
    detached: true,
    stdio: 'ignore',
  })
  const ended = once(shell, 'exit')
  try {
    await untilTrue('the synchronizer to answer', async () => {
      const answer = await send(`http://127.0.0.1:${port}/livez`).catch(() => null)
      return answer?.status === 200
    })
    const run = Number(readFileSync(join(root, 'pid'), 'utf8'))
    const started: { id: string; pid: number }[] = contentOf('processes.json')
    expect(started.map(({ id }) => id)).toEqual(['orderer.redis', 'orderer'])
    process.kill(run, 'SIGTERM')
    const pids = [run, ...started.map(({ pid }) => pid)]
    await untilTrue('all processes to end', () => pids.every((pid) => !signal(pid, 0)))
    expect(contentOf('processes.json')).toEqual([])
  } finally {
    signal(-(shell.pid ?? 0), 'SIGKILL')
    await ended
    for (const { pid } of contentOf('processes.json')) signal(pid, 'SIGKILL')
  }
})
