/** The command line as a shell sees it: its output and its exit status. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setHintOption } from '@quorumscan/cli'
import { KNOWN_RULES } from '@quorumscan/ledger'
import { type DataDirectory, dataDirectory } from '@quorumscan/operator'
import { ENGINE_VERSION } from '@quorumscan/operator/engine'
import { createMetrics, writeOwnJson } from '@quorumscan/runtime'
import { identityOf } from '@quorumscan/supervisor'
import { it as base, captureOutput } from '@quorumscan/testkit/fixtures'
import { expect, vi } from 'vitest'
import type { ControlContext } from '../control/calls.ts'
import { startControlServer } from '../control/server.ts'
import { drawBasePort } from '../rig/ports.ts'
import { main } from './cli-main.ts'

const SECRET = 'ab'.repeat(32)

const it = base
  .extend('data', ({ directory, resources }) => {
    resources.onClose(() => setHintOption('--data-dir', null))
    return dataDirectory(directory)
  })
  .extend(
    'typeHere',
    ({ data }) =>
      (...args: readonly string[]) =>
        type(...args, '--data-dir', data.path),
  )
  /** Records a process as the control plane of the data directory. */
  .extend(
    'writeControl',
    ({ data }) =>
      (url: string, process: { pid: number; startedAt: string }): void => {
        write(data.secretFile('control'), SECRET)
        writeOwnJson(data.controlFile, { url, process })
      },
  )

async function type(...args: readonly string[]) {
  const listeners = process.stdout.listeners('error')
  using output = captureOutput()
  try {
    const code = await main(args)
    return { code, stdout: output.stdout, stderr: output.stderr }
  } finally {
    for (const listener of process.stdout.listeners('error'))
      if (!listeners.includes(listener)) process.stdout.off('error', listener as () => void)
  }
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const self = () => identityOf(process.pid) ?? { pid: 0, startedAt: '' }
/** No process has this number. */
const dead = { pid: 2 ** 30, startedAt: '1' }
const NOWHERE = 'http://127.0.0.1:1'

it.each([
  [['nonsense']],
  [['log', 'nonsense']],
  [['help', 'nonsense']],
  [['status', '--nonsense']],
  [['kill']],
  [['lie', 'sv-1', '--kind', 'white']],
  [['token']],
])('%j is invalid: 2, and a sentence', async (args) => {
  const { code, stdout, stderr } = await type(...args)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^(error|quorumscan): /)
})

it.each(['--version', '-V'])('prints the versions of the software by %s', async (flag) => {
  const { version } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  const { code, stdout, stderr } = await type(flag)
  expect([code, stderr]).toEqual([0, ''])
  const [name, commit, ...others] = stdout.split('\n')
  expect(name).toBe(`quorumscan ${version}`)
  // Of this clone; unknown in a copy of the files without git.
  expect(commit).toMatch(/^commit ([0-9a-f]{40}(-dirty)?|unknown)$/)
  const protocols = KNOWN_RULES.map((rules) => rules.version).join(', ')
  expect(others).toEqual([
    `protocol versions ${protocols}`,
    `engine CometBFT ${ENGINE_VERSION}`,
    '',
  ])
})

it('requested help is no error', async () => {
  expect(await type('--help')).toMatchObject({ code: 0, stderr: '' })
})

it('reports what is missing, and repeats the data directory in its hints', async ({
  typeHere,
  data,
}) => {
  const { code, stderr } = await typeHere('status')
  expect(code).toBe(1)
  expect(stderr).toContain(`\`quorumscan up --detach --data-dir ${data.path}\``)
})

it('reports that the control plane has crashed, and how to end its processes: 4', async ({
  writeControl,
  typeHere,
}) => {
  writeControl(NOWHERE, dead)
  const { code, stderr } = await typeHere('status')
  expect(code).toBe(4)
  expect(stderr).toContain(`the control plane (process ${dead.pid}) has crashed`)
})

it('reports that a running control plane does not answer: 4', async ({
  writeControl,
  typeHere,
}) => {
  const port = await drawBasePort(0, { nodeCount: 1, ordering: 'redis' })
  writeControl(`http://127.0.0.1:${port}`, self())
  const { code, stderr } = await typeHere('faults')
  expect(code).toBe(4)
  expect(stderr).toContain('the control plane does not answer (refused)')
})

it.for<[string, (of: DataDirectory) => string, readonly string[], number]>([
  ['secret', (of) => of.secretFile('jwt'), ['token', 'alice'], 1],
  ['token', (of) => of.secretFile('control'), ['faults'], 1],
  ['genesis', (of) => of.genesisFile, ['verify', '-'], 2],
])(
  'a half-written %s is named in a sentence',
  async ([_, fileOf, args, code], { writeControl, data, typeHere }) => {
    writeControl(NOWHERE, self())
    const file = fileOf(data)
    write(file, '{"half":')
    const ended = await typeHere(...args)
    expect(ended.code).toBe(code)
    expect(ended.stderr).toContain(file)
    expect(ended.stderr).not.toMatch(/\n {4}at /)
  },
)

it('exits as a shell expects when its reader has closed the pipe, and as a failure when it cannot write', async () => {
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never)
  const listeners = process.stdout.listeners('error')
  await main(['token'])
  const [added] = process.stdout.listeners('error').filter((one) => !listeners.includes(one))
  for (const code of ['EPIPE', 'ENOSPC']) added?.(Object.assign(new Error(), { code }))
  process.stdout.off('error', added as () => void)
  expect(exit.mock.calls).toEqual([[141], [1]])
  exit.mockRestore()
})

it('kills each of several nodes, with a line for each', async ({ writeControl, typeHere }) => {
  const killed: unknown[] = []
  const context = {
    cluster: {
      status: () => ({ nodes: [{ name: 'sv-1' }, { name: 'sv-2' }], members: [] }),
      faults: { apply: async (fault: unknown) => void killed.push(fault) },
    },
    live: { status: () => context.cluster.status() },
    caller: 'test',
    logCall: () => {},
  }
  const port = await drawBasePort(0, { nodeCount: 1, ordering: 'redis' })
  const server = await startControlServer({
    port,
    token: SECRET,
    metrics: createMetrics(),
    // Only the part that this command uses.
    context: () => context as unknown as ControlContext,
  })
  writeControl(`http://127.0.0.1:${port}`, self())
  const ended = await typeHere('kill', 'sv-1', 'redis', 'sv-2')
  await server.close()
  expect(ended).toEqual({
    code: 0,
    stdout: 'the redis of sv-1 is killed\nsv-2 is killed\n',
    stderr: '',
  })
  expect(killed).toEqual([
    { kind: 'kill', node: 'sv-1', part: 'redis' },
    { kind: 'kill', node: 'sv-2', part: null },
  ])
})
