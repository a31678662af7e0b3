/** The end of a cluster: all its processes stop by themselves, and its data directory is deleted. */
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestCluster } from '@quorumscan/sdk/testing'
import { expect } from 'vitest'

/** @throws If a process was killed or still runs. */
export async function stopGracefully({ dataDir, down }: TestCluster): Promise<void> {
  const { content } = JSON.parse(await readFile(join(dataDir, 'processes.json'), 'utf8'))
  const pids = (content as { readonly pid: number }[]).map(({ pid }) => pid)
  const logs = join(dataDir, 'logs')
  const names = readdirSync(logs).filter((name) => name !== 'control.log')
  // Open file descriptors stay readable after `down` deletes the files.
  const files = names.map((name) => ({ name, fd: openSync(join(logs, name), 'r') }))
  await down()
  expect(pids).toHaveLength(12)
  for (const { name, fd } of files) {
    const last = readFileSync(fd, 'utf8').trimEnd().split('\n').at(-1)
    closeSync(fd)
    // A process that was killed has no such line.
    expect(last, name).toContain(name.endsWith('.redis.log') ? 'bye bye' : '"msg":"stopped"')
  }
  for (const pid of pids) expect(existsSync(`/proc/${pid}`), `process ${pid}`).toBe(false)
  expect(existsSync(dataDir)).toBe(false)
}
