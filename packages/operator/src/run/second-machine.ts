/**
 * Whether another machine runs with the keys of a super-validator. It asks before anything is started here: a process that
 * then answers at the addresses of its scan node, and signs with its key, runs on another machine.
 */
import { type Clock, fromUtf8, openClientTls, withTimeout } from '@quorumscan/base'
import { createCertifiedReader } from '@quorumscan/reader/certified'
import { CommandError, createPeerClient, createUndiciTransport } from '@quorumscan/runtime'
import { createPlatformCrypto, type Genesis } from '@quorumscan/verifier'
import type { MemberFile } from '../ceremony/member.ts'
import { hashGenesis } from '../genesis.ts'
import { readStatements } from '../signed-states.ts'
import type { OperatorConfig } from './operator-config.ts'

/** A running node answers at once with what it has signed. A start must not wait long for one that does not run. */
const ANSWER_MS_MAX = 3_000
const ANSWER_BYTES_MAX = 1024 * 1024

/**
 * Asks at the addresses in its member file, in its configuration and on the ledger.
 *
 * @throws {CommandError} If it runs there.
 */
export async function refuseSecondMachine(
  config: Pick<OperatorConfig, 'runs' | 'name' | 'genesis' | 'variables'> & {
    readonly members: readonly Pick<MemberFile, 'name' | 'url'>[]
  },
  clock: Clock,
): Promise<void> {
  const { runs, name, genesis, members, variables } = config
  if (runs !== 'sv') return
  const file = variables['QS_PEER_CA']
  const ca = file ? { variable: 'QS_PEER_CA', file } : null
  const trust = openClientTls({ ca, own: null })
  await using transport = createUndiciTransport({ trust })
  await using client = createPeerClient({ trust, clock })
  const urls = members.flatMap(({ url }) => url ?? [])
  const learned = (await learnAddresses(genesis, { seeds: urls, transport, clock })).get(name)
  const own = members.filter((member) => member.name === name).map(({ url }) => url)
  const addresses = new Set([variables['QS_PUBLIC_URL'], ...own, learned].map((url) => url ?? ''))
  addresses.delete('')
  const network = { genesis, genesisHash: hashGenesis(genesis), crypto: createPlatformCrypto() }
  const answers = async (url: string): Promise<string[]> => {
    try {
      const bounds = { bytesMax: ANSWER_BYTES_MAX, timeoutMs: ANSWER_MS_MAX }
      const body = await client.read(url, { path: '/v0/state-statements?after=0', ...bounds })
      const statements = JSON.parse(fromUtf8(body))
      return (await readStatements(statements, name, network)).length > 0 ? [url] : []
    } catch {
      return [] // No process answers, or it does not sign with this key.
    }
  }
  const [where] = (await Promise.all(Array.from(addresses, answers))).flat()
  if (where === undefined) return
  throw new CommandError(
    `another machine runs with the keys of ${name}: ${where} answers with what they have signed. Nothing was ` +
      'started here. Two machines with the same keys equivocate. Stop the other one permanently, then ' +
      'run this one again',
  )
}

/** The addresses on the ledger, signed by their nodes, by name, as far as a node reports them in time. */
export async function learnAddresses(
  genesis: Genesis,
  options: Pick<Parameters<typeof createCertifiedReader>[0], 'seeds' | 'transport' | 'clock'>,
): Promise<ReadonlyMap<string, string>> {
  if (options.seeds.length === 0) return new Map()
  const network = { genesis, genesisHash: hashGenesis(genesis), crypto: createPlatformCrypto() }
  await using reader = createCertifiedReader({
    ...options,
    ...network,
    allowPrivateAddresses: true,
  })
  const bound = { clock: options.clock, timeoutMs: ANSWER_MS_MAX }
  await withTimeout(
    bound,
    () => reader.refreshAddresses(),
    () => {},
  )
  const known = reader.status().nodes
  return new Map(known.flatMap(({ name, url }) => (name === null ? [] : [[name, url] as const])))
}
