import { createSystemClock } from '@quorumscan/base'
import { refuseSecondMachine } from '@quorumscan/operator/run'
import { startNetwork } from '@quorumscan/scan/testing'
import { send, until } from '@quorumscan/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'

const clock = createSystemClock()
/** A port of the system, on which no process listens. */
const NOWHERE = 'http://127.0.0.1:1'

let network: Awaited<ReturnType<typeof startNetwork>>
let node: Awaited<ReturnType<typeof network.startNode>>
beforeAll(async () => {
  network = await startNetwork(2)
  node = await network.startNode(0)
  await until('a statement and the address of the node', async () => {
    const { body: signed } = await send(`${node.url}/v0/state-statements?after=0`)
    const { body: known } = await send(`${node.url}/v0/scans`)
    const isKnown = JSON.stringify(known).includes(node.url)
    return signed.statements?.length > 0 && isKnown ? true : undefined
  })
})
afterAll(async () => {
  await node?.[Symbol.asyncDispose]()
  await network?.[Symbol.asyncDispose]()
})

/** As `run sv` calls it, with nodes at these addresses. */
function ask(name: string, urls: Record<string, string>, variables: Record<string, string> = {}) {
  const members = Object.entries(urls).map(([member, url]) => ({ name: member, url }))
  const { genesis } = network
  return refuseSecondMachine({ runs: 'sv', name, genesis, members, variables }, clock)
}

it.each([
  ['its member file says', () => ({ 'sv-1': node.url }), () => ({})],
  ['its configuration says', () => ({ 'sv-1': NOWHERE }), () => ({ QS_PUBLIC_URL: node.url })],
  ['the ledger says', () => ({ 'sv-1': NOWHERE, 'sv-2': node.url }), () => ({})],
])('a machine that runs where %s is named', async (_, urls, variables) => {
  await expect(ask('sv-1', urls(), variables())).rejects.toThrow(
    `another machine runs with the keys of sv-1: ${node.url} answers`,
  )
})

it('another member, or no process, at an address is not a second machine', async () => {
  await ask('sv-1', { 'sv-1': NOWHERE })
  await ask('sv-2', { 'sv-2': node.url })
  await ask('sv-2', { 'sv-1': node.url, 'sv-2': NOWHERE })
})
