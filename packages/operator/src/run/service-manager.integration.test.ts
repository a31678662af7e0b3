/** What a datagram socket in place of systemd receives. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createManualClock, required, untilTrue } from '@quorumscan/testkit'
import { it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { reportToServiceManager, withoutServiceManager } from './service-manager.ts'

const LISTENER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('bound', flush=True)
while True:
    for line in s.recv(4096).decode().splitlines():
        print(line, flush=True)
`

it('tells systemd that it is ready, that it works, and that it stops', async ({
  directory,
  resources,
}) => {
  const socket = `${directory}/notify`
  const listener = spawn(required('python3'), ['-c', LISTENER, socket], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  resources.onClose(async () => {
    listener.kill()
    await once(listener, 'exit')
  })
  const received: string[] = []
  createInterface(listener.stdout).on('line', (line) => {
    // The barrier by which systemd-notify waits.
    if (line !== 'BARRIER=1') received.push(line)
  })
  await untilTrue('the socket', () => received[0] === 'bound')
  required('systemdNotify')
  const clock = createManualClock()
  const sentences: string[] = []
  const env = { PATH: process.env['PATH'], NOTIFY_SOCKET: socket, WATCHDOG_USEC: '120000000' }
  const manager = await reportToServiceManager({
    env,
    clock,
    report: (sentence) => sentences.push(sentence),
  })
  await untilTrue('the first report', () => received.includes('WATCHDOG=1'))
  expect(received).toEqual(['bound', 'READY=1', 'WATCHDOG=1'])
  await untilTrue('the next report, after a third of the time', async () => {
    await clock.advance(40_000)
    return received.length > 3
  })
  await manager[Symbol.asyncDispose]()
  await untilTrue('the end', () => received.includes('STOPPING=1'))
  expect(new Set(received)).toEqual(new Set(['bound', 'READY=1', 'WATCHDOG=1', 'STOPPING=1']))
  expect(sentences).toEqual([])
})

it('says once that systemd cannot be told, and continues', async ({ directory }) => {
  const clock = createManualClock()
  const sentences: string[] = []
  await using _manager = await reportToServiceManager({
    env: { PATH: directory, NOTIFY_SOCKET: `${directory}/none`, WATCHDOG_USEC: '3000' },
    clock,
    report: (sentence) => sentences.push(sentence),
  })
  await clock.advance(5000)
  expect(sentences).toEqual([expect.stringContaining('systemd could not be told')])
})

it('reports nothing without a service manager, and passes no socket on', async () => {
  const sentences: string[] = []
  const clock = createManualClock()
  const report = (sentence: string) => sentences.push(sentence)
  await using _manager = await reportToServiceManager({ env: {}, clock, report })
  expect(sentences).toEqual([])
  const env = { PATH: '/bin', NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '1', WATCHDOG_PID: '2' }
  expect(withoutServiceManager(env)).toEqual({ PATH: '/bin' })
})

it('the units are accepted by systemd, and let `run` report', ({ directory }) => {
  const units = join(import.meta.dirname, '../../../../deploy/systemd')
  const names = readdirSync(units)
  // Templates with an instance; the command is not installed here.
  const files = names.map((name) => join(directory, name.replace('@.', '@sv.')))
  for (const [index, file] of files.entries()) {
    const text = readFileSync(join(units, names[index] ?? ''), 'utf8')
    writeFileSync(file, text.replaceAll('/usr/local/bin/quorumscan', '/bin/true'))
  }
  const verified = spawnSync(required('systemdAnalyze'), ['verify', ...files], { encoding: 'utf8' })
  expect(verified).toMatchObject({ status: 0, stderr: '' })
  const unit = readFileSync(join(units, 'quorumscan@.service'), 'utf8')
  for (const line of ['Type=notify', 'NotifyAccess=all', 'WatchdogSec=120', 'KillMode=mixed'])
    expect(unit.split('\n')).toContain(line)
})
