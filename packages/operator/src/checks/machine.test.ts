/** Addresses that are in use, and disks that are full. */
import { mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createManualClock, freePort, listen } from '@quorumscan/testkit'
import { it } from '@quorumscan/testkit/fixtures'
import type { Genesis } from '@quorumscan/verifier'
import { expect } from 'vitest'
import { dataDirectory } from '../data-directory.ts'
import { checkAddresses } from './addresses.ts'
import { checkBackup } from './backup.ts'
import { checkDirectory } from './directory.ts'
import { checkDisk } from './machine.ts'

const MIB = 2 ** 20
const genesis = { ordering: { driver: 'cometbft' } } as unknown as Genesis

it('names each address that is in use or not of this machine', async () => {
  await using used = await listen(() => {})
  const ports = await Promise.all([freePort(), freePort(), freePort()])
  const [port, operator, engine] = ports
  const free = {
    QS_PORT: String(port),
    QS_OPERATOR_ADDRESS: `127.0.0.1:${operator}`,
    QS_ENGINE_ADDRESS: `0.0.0.0:${engine}`,
  }
  const check = (variables: object, synchronizerPort: number) =>
    checkAddresses({ variables: { ...free, ...variables }, genesis, synchronizerPort })
  const synchronizer = await freePort()
  expect(await check({}, synchronizer)).toMatchObject({
    state: 'ok',
    detail: `${port}, ${operator}, ${synchronizer}, ${engine} are free`,
  })
  const wrong = { QS_ENGINE_ADDRESS: `127.0.0.1:${used.port}`, QS_HOST: '192.0.2.1' }
  expect(await check(wrong, used.port)).toMatchObject({
    state: 'failed',
    detail: [
      `192.0.2.1:${port} (QS_HOST, QS_PORT) is not an address of this machine`,
      `127.0.0.1:${used.port} (QS_SYNCHRONIZER_PORT) is used by another process`,
      `127.0.0.1:${used.port} (QS_ENGINE_ADDRESS) is used by another process`,
    ].join('; '),
  })
})

it.each([
  [0.5, 'failed', '0 MiB are free'],
  [200, 'warning', 'below 256 it accepts no entries (LOG_FULL)'],
  [1000, 'warning', 'below 1024 it takes no snapshots'],
  [2000, 'ok', '2000 MiB are free in /data'],
] as const)('a disk with %d MiB: %s', async (mib, state, detail) => {
  const check = await checkDisk(dataDirectory('/data'), 256, async () => mib * MIB)
  expect(check).toMatchObject({ state, detail: expect.stringContaining(detail) })
})

it('names a file of another user, and what root leaves behind', ({ directory }) => {
  const config = { directory: dataDirectory(directory), variables: {} }
  const own = statSync(directory).uid
  expect(checkDirectory(config, own === 0 ? 1 : own)).toMatchObject({ state: 'ok' })
  mkdirSync(join(directory, 'redis/sv-1'), { recursive: true })
  mkdirSync(join(directory, 'lost+found'))
  if (own !== 0) expect(checkDirectory(config, own)).toMatchObject({ state: 'ok' })
  // As if this user had made them, and another one started the processes.
  const other = own + 1
  expect(checkDirectory(config, other)).toEqual({
    name: 'directory',
    state: 'failed',
    detail: `${directory}/redis belongs to the user with the id ${own}, and this is the user with the id ${other}${own === 0 ? ': a command was once typed as root' : ''}`,
    advice: `As root, \`chown -R ${other}:${statSync(directory).gid} ${directory}\``,
    isMisconfigured: true,
  })
  const shared = { ...config, variables: { QS_ALLOW_READABLE_KEYS: '1' } }
  expect(checkDirectory(shared, other)).toMatchObject({ state: 'ok' })
  expect(checkDirectory(config, 0)).toMatchObject({
    state: 'warning',
    detail: expect.stringContaining(
      own === 0
        ? 'whoever breaks into a process then owns this machine'
        : `belongs to the user with the id ${own}, who cannot read what is made there now`,
    ),
  })
})

it('reports the age of the newest backup', ({ directory }) => {
  const clock = createManualClock()
  const nowSeconds = clock.nowMicros() / 1_000_000
  const path = join(directory, 'backups')
  expect(checkBackup(path, clock)).toMatchObject({ state: 'warning' })
  mkdirSync(path)
  const backUp = (name: string, hours: number) => {
    const file = join(path, name)
    writeFileSync(file, '')
    utimesSync(file, nowSeconds - hours * 3600, nowSeconds - hours * 3600)
  }
  backUp('notes.txt', 0)
  expect(checkBackup(path, clock)).toMatchObject({ state: 'warning' })
  backUp('v-1.backup', 100)
  expect(checkBackup(path, clock)).toMatchObject({
    state: 'warning',
    detail: 'v-1.backup is 100 h old',
  })
  backUp('v-2.backup.age', 5)
  expect(checkBackup(path, clock)).toMatchObject({
    state: 'ok',
    detail: 'v-2.backup.age is 5 h old',
  })
})
