/** Two clusters that start at the same time draw their ports before either listens. */
import { join } from 'node:path'
import { createSystemClock } from '@quorumscan/base'
import { dataDirectory } from '@quorumscan/operator'
import { createDirectory, listen } from '@quorumscan/testkit'
import { it } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'
import { drawBasePort } from '../rig/ports.ts'
import { PortTakenError, takePorts } from './take-ports.ts'

const clock = createSystemClock()
const UNCHOSEN = { nodeCount: 1, ordering: null, overrides: null } as const

it.for([
  ['any', 0],
  ['the default of a new cluster', null],
] as const)(
  'draws other ports if those drawn are taken: %s',
  async ([, basePort], { resources }) => {
    const { path } = resources.opened(createDirectory())
    const directory = dataDirectory(join(path, 'data'))
    const drawn: number[] = []
    const { prepared, server } = await takePorts(
      { ...UNCHOSEN, directory, clock, basePort },
      async ({ ports: { control } }) => {
        drawn.push(control)
        // The other cluster is quicker twice.
        if (drawn.length < 3) resources.opened(await listen(() => {}, { at: control }))
        return await listenAt(control)
      },
    )
    resources.opened(server)
    expect(new Set(drawn).size).toBe(3)
    expect(prepared.ports.control).toBe(drawn[2])
    // The next start finds them there.
    const stored = await takePorts(
      { ...UNCHOSEN, directory, clock, basePort: null },
      async ({ ports }) => ports.control,
    )
    expect(stored.server).toBe(drawn[2])
  },
)

it('ports that an operator chose are taken or refused, also at a later start', async ({
  resources,
}) => {
  const { path } = resources.opened(createDirectory())
  const directory = dataDirectory(join(path, 'data'))
  const basePort = await drawBasePort(0, { nodeCount: 1, ordering: 'redis' })
  const input = { ...UNCHOSEN, directory, clock }
  let rounds = 0
  const take = (wanted: number | null) =>
    takePorts({ ...input, basePort: wanted }, async ({ ports }) => {
      rounds++
      return await listenAt(ports.control)
    })
  await takePorts({ ...input, basePort }, async () => null)
  resources.opened(await listen(() => {}, { at: basePort }))
  await expect(take(null)).rejects.toThrow(PortTakenError)
  expect(rounds).toBe(1)
})

it('of two starts in one new directory one takes the ports, and the other is refused', async ({
  resources,
}) => {
  const { path } = resources.opened(createDirectory())
  const directory = dataDirectory(join(path, 'data'))
  const start = () =>
    takePorts({ ...UNCHOSEN, directory, clock, basePort: null }, ({ ports }) =>
      listenAt(ports.control),
    )
  const results = await Promise.allSettled([start(), start()])
  const refused = results.flatMap((result) => (result.status === 'rejected' ? result.reason : []))
  for (const result of results)
    if (result.status === 'fulfilled') resources.opened(result.value.server)
  expect(refused).toEqual([expect.any(PortTakenError)])
})

async function listenAt(port: number) {
  try {
    return await listen(() => {}, { at: port })
  } catch (cause) {
    throw new PortTakenError(`port ${port} is in use`, { cause })
  }
}
