import { createSystemClock } from '@quorumscan/base'
import { refuseSecondMachine } from '@quorumscan/operator/run'
import { startNetwork } from '@quorumscan/scan/testing'
import { send, until } from '@quorumscan/testkit'
import { it as base, type FixturesOf } from '@quorumscan/testkit/fixtures'
import { expect } from 'vitest'

const clock = createSystemClock()
/** A port of the system, on which no process listens. */
const NOWHERE = 'http://127.0.0.1:1'

const it = base
  .extend('network', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startNetwork(2)),
  )
  .extend('node', { scope: 'file' }, async ({ network, fileResources }) => {
    const node = fileResources.opened(await network.startNode(0))
    await until('a statement and the address of the node', async () => {
      const { body: signed } = await send(`${node.url}/v0/state-statements?after=0`)
      const { body: known } = await send(`${node.url}/v0/scans`)
      const isKnown = JSON.stringify(known).includes(node.url)
      return signed.statements?.length > 0 && isKnown ? true : undefined
    })
    return node
  })
  /** As `run sv` calls it, with nodes at these addresses. */
  .extend(
    'ask',
    ({ network }) =>
      (name: string, urls: Record<string, string>, variables: Record<string, string> = {}) => {
        const members = Object.entries(urls).map(([member, url]) => ({ name: member, url }))
        const { genesis } = network
        return refuseSecondMachine({ runs: 'sv', name, genesis, members, variables }, clock)
      },
  )
type Given = Pick<FixturesOf<typeof it>, 'node'>

it.for([
  ['the address in its member file', ({ node }: Given) => ({ 'sv-1': node.url }), () => ({})],
  [
    'the address in its configuration',
    () => ({ 'sv-1': NOWHERE }),
    ({ node }: Given) => ({ QS_PUBLIC_URL: node.url }),
  ],
  ['its ledger address', ({ node }: Given) => ({ 'sv-1': NOWHERE, 'sv-2': node.url }), () => ({})],
] as const)(
  'reports another machine with the same keys at %s',
  async ([_, urls, variables], { ask, node }) => {
    await expect(ask('sv-1', urls({ node }), variables({ node }))).rejects.toThrow(
      `another machine runs with the keys of sv-1: ${node.url} answers`,
    )
  },
)

it('another member, or no process, at an address is not a second machine', async ({
  ask,
  node,
}) => {
  await ask('sv-1', { 'sv-1': NOWHERE })
  await ask('sv-2', { 'sv-2': node.url })
  await ask('sv-2', { 'sv-1': node.url, 'sv-2': NOWHERE })
})
