/** The fixture of all cases: a running network, one user with coin and a name, and functions that create more. */
import { randomHex, systemRandom } from '@quorumscan/base'
import { allocatePartyCommand } from '@quorumscan/ledger'
import { send, until } from '@quorumscan/testkit'
import type { RunningCluster } from 'quorumscan/testing'
import { createUser, lookup, unwrap } from '../client.ts'
import { createSigner, ownKey, ownSecret, ruleIds } from '../network.ts'

export type World = Awaited<ReturnType<typeof createWorld>>

export async function createWorld(cluster: RunningCluster) {
  const { validator, synchronizer, nodes } = cluster.urls
  const scan = nodes['sv-1'] ?? ''
  const admin = await cluster.token()
  const signer = await createSigner(cluster)
  const peerToken = await ownSecret(cluster, 'secrets/log-token-sv-1')
  const signerKey = await ownKey(cluster, 'sv-1.operator')
  const fresh = (prefix = 'case') => `${prefix}-${randomHex(systemRandom, 6)}`
  const newUser = async (coin: string | null = '1000.0') => {
    const id = fresh('user')
    return { id, ...(await createUser(cluster, id, coin)) }
  }
  const asAdmin = { authorization: `Bearer ${admin}` }
  const user = await newUser()
  const name = `${fresh('known')}.unverified.ns`
  await user.pay(name)

  const untilKnown = (wanted: string) =>
    until(`${wanted} to be found on the node and by the proxy`, async () => {
      const onNode = await send(`${scan}/v0/ans-entries/by-name/${wanted}`)
      const byProxy = await lookup(cluster, wanted)
      return onNode.status === 200 && byProxy.status === 200 ? true : undefined
    })
  await untilKnown(name)

  const deactivated = await newUser(null)
  await send(`${validator}/v2/users/${deactivated.id}`, {
    method: 'PATCH',
    headers: asAdmin,
    body: { user: { isDeactivated: true }, updateMask: { paths: ['is_deactivated'] } },
  })

  /** Allocates a party: an entry without an effect would be refused (D-91). */
  const allocation = () => ({
    actAs: [],
    commands: [allocatePartyCommand({ hint: fresh('party') })],
  })
  const entry = () => signer.sign(signerKey, allocation())

  const { coinRules } = await ruleIds(cluster)
  let pruned: Promise<string> | null = null
  return {
    cluster,
    urls: { scan, validator, synchronizer, ledger: validator },
    admin,
    peerToken,
    user,
    name,
    fresh,
    newUser,
    untilKnown,
    entry,
    expiredEntry: () => signer.sign(signerKey, { ...allocation(), notAfter: 1 }),
    coinRules,
    /** Limit of open requests of a party. */
    openRequestsMax: signer.genesis.names.openRequestsMax,
    synchronizerId: signer.genesis.synchronizerId,
    newName: () => `${fresh('name')}.unverified.ns`,
    /** Token of a deactivated user. */
    deactivatedToken: deactivated.token,
    /** Token of a user who has not registered. */
    strangerToken: () => cluster.token(fresh('stranger')),
    /** The newest offset of the node. */
    head: async () => Number((await send(`${scan}/v0/dso`)).headers.get('x-ledger-offset')),
    /** The newest offset of the ledger interface. */
    ledgerEnd: async (): Promise<number> => {
      const url = `${validator}/v2/state/ledger-end`
      return (await send(url, { headers: asAdmin })).body.offset
    },
    /** A coin of the user. */
    coin: async (): Promise<string> =>
      unwrap(await user.client.POST('/v0/wallet/tap', { body: { amount: '1.0' } })).contract_id,
    /** URL of a node that has pruned offset 1. */
    prunedNode: () => {
      const [node, url] = Object.entries(nodes).at(-1) ?? ['sv-1', scan]
      pruned ??= cluster.prune(node, 2).then(() => url)
      return pruned
    },
  }
}
