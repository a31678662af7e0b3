import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { readOwnJson, writeOwnJson } from '@quorumscan/runtime'
import { createDirectory, untilTrue } from '@quorumscan/testkit'
import { expect, it, vi } from 'vitest'
import { identityOf, type ProcessIdentity, stateOf } from './process-identity.ts'
import { endLeftovers, type ProcessSpec, Supervisor } from './supervisor.ts'

// Real processes take their time on a machine that does other things, too.
const clock = createSystemClock()
const IGNORES_TERM =
  "process.on('SIGTERM', () => {}); console.log('ready'); setInterval(() => {}, 1e6)"
const ENDS_ON_TERM =
  "process.on('SIGTERM', () => { console.log('bye'); process.exit() }); console.log('ready'); setInterval(() => {}, 1e6)"

type World = Awaited<ReturnType<typeof createWorld>>

async function createWorld() {
  const { path: directory, ...temporary } = createDirectory()
  const options = { recordFile: join(directory, 'processes.json'), marker: directory, clock }
  const ids = new Set<string>()
  const spec = (id: string, script: string): ProcessSpec => {
    ids.add(id)
    const logFile = join(directory, `${id}.log`)
    return { id, command: process.execPath, args: ['-e', script], env: process.env, logFile }
  }
  const supervisor = new Supervisor(options)
  const log = (id: string) => readFile(join(directory, `${id}.log`), 'utf8')
  const untilReady = (id: string) =>
    untilTrue(`${id} to be ready`, async () => (await log(id)).includes('ready'))
  return {
    options,
    spec,
    log,
    untilReady,
    supervisor,
    [Symbol.asyncDispose]: async () => {
      await endLeftovers(options)
      // The supervisor records the end of a process in the directory.
      await untilTrue('the ends to be noticed', () =>
        [...ids].every((id) => supervisor.pid(id) === null),
      )
      temporary[Symbol.dispose]()
    },
  }
}

it('stops a process with SIGTERM, and waits until it has ended', async () => {
  await using world = await createWorld()
  await world.supervisor.start(world.spec('a', ENDS_ON_TERM))
  await world.untilReady('a')
  await world.supervisor.stop('a', 60_000)
  expect(await world.log('a')).toBe('ready\nbye\n')
  expect(world.supervisor.pid('a')).toBe(null)
})

it('kills a process that still runs after its grace period', async () => {
  await using world = await createWorld()
  await world.supervisor.start(world.spec('a', IGNORES_TERM))
  await world.untilReady('a')
  await world.supervisor.stop('a', 50)
  expect(world.supervisor.state('a')).toBe('gone')
})

it('pauses and resumes a process, and stops a paused one with SIGTERM', async () => {
  await using world = await createWorld()
  await world.supervisor.start(world.spec('a', ENDS_ON_TERM))
  await world.untilReady('a')
  await world.supervisor.pause('a')
  expect(world.supervisor.state('a')).toBe('stopped')
  await world.supervisor.resume('a')
  expect(world.supervisor.state('a')).toBe('running')
  await world.supervisor.pause('a')
  await world.supervisor.stop('a', 60_000)
  expect(await world.log('a')).toContain('bye')
})

const HAS_CHILD = `
  const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'])
  console.log('child=' + child.pid + ' ready')
  setInterval(() => {}, 1e6)`

async function startWithChild({ supervisor, spec, untilReady, log }: World): Promise<number> {
  await supervisor.start(spec('a', HAS_CHILD))
  await untilReady('a')
  return Number(/child=(\d+)/.exec(await log('a'))?.[1])
}

it('does not kill the children of a process that it took over', async () => {
  await using world = await createWorld()
  const child = await startWithChild(world)
  expect(await world.supervisor.endOthers()).toBe(0)
  expect(identityOf(child)).not.toBe(null)
})

it('kills a process with the children that it has started', async () => {
  await using world = await createWorld()
  const child = await startWithChild(world)
  expect(identityOf(child)).not.toBe(null)
  await world.supervisor.kill('a')
  await untilTrue('the child to end', () => identityOf(child) === null)
})

it('reports a process that exits by itself, and does not restart it', async () => {
  await using world = await createWorld()
  await world.supervisor.start(world.spec('a', ''))
  await untilTrue('the process to end', () => world.supervisor.pid('a') === null)
  expect(readOwnJson(world.options.recordFile)).toEqual([])
})

it('ends the processes of its predecessor, even paused ones, but no other process with the same pid', async () => {
  await using world = await createWorld()
  await world.supervisor.start(world.spec('a', IGNORES_TERM))
  await world.supervisor.start(world.spec('b', IGNORES_TERM))
  await world.supervisor.pause('b')
  const recorded = readOwnJson(world.options.recordFile) as ProcessIdentity[]
  expect(recorded).toHaveLength(2)

  // Another process that later got the pid of one of ours.
  const stranger: ProcessIdentity = { pid: process.pid, startedAt: 'long ago' }
  writeOwnJson(world.options.recordFile, [...recorded, stranger])
  expect(await endLeftovers(world.options)).toBe(2)
  expect(recorded.map(stateOf)).toEqual(['gone', 'gone'])
})

it.runIf(process.platform === 'linux')(
  'finds leftovers that were never recorded, by their environment',
  async () => {
    await using world = await createWorld()
    await world.supervisor.start(world.spec('a', IGNORES_TERM))
    await rm(world.options.recordFile)
    expect(await endLeftovers(world.options)).toBe(1)
  },
)

it.runIf(process.platform === 'linux')(
  'finds no process of a container in which another directory has the path',
  async (context) => {
    await using world = await createWorld()
    const script = `mount -t tmpfs none '${world.options.marker}' && echo ready && exec sleep 1000`
    const args = ['-rm', 'sh', '-c', script]
    await world.supervisor.start({ ...world.spec('a', ''), command: 'unshare', args })
    const isReady = async () => (await world.log('a')).includes('ready')
    await untilTrue(
      'it to be ready or to end',
      async () => (await isReady()) || world.supervisor.pid('a') === null,
    )
    if (!(await isReady())) return context.skip('this user may not mount here')
    await rm(world.options.recordFile)
    expect(await endLeftovers(world.options)).toBe(0)
    expect(world.supervisor.pid('a')).not.toBeNull()
    await world.supervisor.kill('a')
  },
)

it('names the command that could not be started', async () => {
  await using world = await createWorld()
  const spec = { ...world.spec('a', ''), command: '/nowhere/redis-server' }
  await expect(world.supervisor.start(spec)).rejects.toThrow(/^a could not be started: .*ENOENT/)
})

it('reports the exit of each process, however early', async () => {
  await using world = await createWorld()
  const ended: string[] = []
  const supervisor = new Supervisor({
    ...world.options,
    onExit: (id, how) => void ended.push(`${id}: ${how}`),
  })
  const ids = Array.from({ length: 20 }, (_, index) => `a-${index}`)
  for (const id of ids)
    await supervisor.start({ ...world.spec(id, ''), command: 'false', args: [] })
  await untilTrue('all exits to be reported', () => ended.length === ids.length)
  expect(ended.sort()).toEqual(ids.map((id) => `${id}: exit status 1`).sort())
  expect(ids.map((id) => supervisor.pid(id)).filter((pid) => pid !== null)).toEqual([])
})

/** A supervisor that ends silent processes, with the seconds of its silences in the hands of the test. */
async function createWatchingWorld(world: World) {
  let nowMs = 0
  const ends: string[] = []
  const supervisor = new Supervisor({
    ...world.options,
    clock: { ...clock, monotonicMs: () => nowMs },
    endsSilent: true,
    onExit: (id, how) => ends.push(`${id}: ${how}`),
  })
  const second = (others: readonly string[] = []) => {
    nowMs += 1000
    supervisor.endSilent(new Set(others))
  }
  return { supervisor, ends, second }
}

it('ends a process that shows no life for a minute, and reports why', async () => {
  await using world = await createWorld()
  const { supervisor, ends, second } = await createWatchingWorld(world)
  const silent = (id: string) => world.spec(id, "console.log('ready'); setInterval(() => {}, 1e6)")
  await supervisor.start({ ...silent('a'), hasHeartbeat: true })
  await supervisor.start(silent('a.redis'))
  await supervisor.start(silent('unwatched'))
  for (let count = 1; count < 60; count++) second(['a.redis'])
  supervisor.noteLife('a.redis')
  expect(ends).toEqual([])
  second(['a.redis'])
  await untilTrue('its end', () => ends.length > 0)
  expect(ends).toEqual(['a: it hung: it showed no life for 60 s, and was ended'])
  expect(supervisor.state('a.redis')).toBe('running')
  expect(supervisor.state('unwatched')).toBe('running')
  for (const id of ['a.redis', 'unwatched']) await supervisor.kill(id)
})

it('hears the heartbeat of a process, and ends none that has one', async () => {
  await using world = await createWorld()
  const { supervisor, ends, second } = await createWatchingWorld(world)
  const noteLife = vi.spyOn(supervisor, 'noteLife')
  const beating =
    "setInterval(() => require('node:fs').writeSync(Number(process.env.QUORUMSCAN_HEARTBEAT), '.'), 5)"
  await supervisor.start({ ...world.spec('a', beating), hasHeartbeat: true })
  for (let count = 0; count < 100; count++) {
    const heard = noteLife.mock.calls.length
    await untilTrue('a beat', () => noteLife.mock.calls.length > heard)
    second()
  }
  expect(ends).toEqual([])
  expect(supervisor.state('a')).toBe('running')
  await supervisor.kill('a')
})
