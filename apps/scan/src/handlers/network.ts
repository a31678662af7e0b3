/** The network as the ledger knows it: operator, rules, addresses, genesis (D-15, D-16, D-34). */
import type { scanRoutes } from '@quorumscan/api'
import { utf8 } from '@quorumscan/base'
import { canonicalJson, type Genesis, type Json, quorumOf } from '@quorumscan/consensus'
import type { Handlers } from '@quorumscan/http'
import type { PartyId } from '@quorumscan/model'
import type { DocumentEntity, Pinned } from '@quorumscan/replica'
import { type ContractWithState, contractWithState } from '../contract-json.ts'
import { superValidators } from '../dso-rules.ts'
import { pinnedHeaders, type Reads } from '../pinned.ts'

type NetworkHandlers = Pick<
  Handlers<typeof scanRoutes>,
  'getAnsRules' | 'getDsoPartyId' | 'getDso' | 'listScans' | 'getGenesis'
>

/** The genesis opens rounds 0 to 2 (D-22). */
const INITIAL_ROUND = '0'

export function createNetworkHandlers(context: {
  readonly reads: Reads
  readonly genesis: Genesis
  readonly nodeName: string
  readonly party: PartyId
}): NetworkHandlers {
  const { reads, genesis } = context
  const domainId = genesis.synchronizerId
  // A Genesis is JSON by construction; its type only lacks the index signature.
  const genesisBytes = utf8(canonicalJson(genesis as unknown as Json))

  const stateOf = async (entity: DocumentEntity, at: Pinned): Promise<ContractWithState> =>
    contractWithState(await reads.documentAsOf(entity, at.offset), domainId)

  return {
    async getAnsRules({ body, headers, signal }) {
      const at = await reads.pin(headers['x-read-at-offset'] ?? null, signal)
      const { contract } = await stateOf('AnsRules', at)
      const isCached = body.cached_ans_rules_contract_id === contract.contract_id
      return {
        headers: pinnedHeaders(at),
        body: { ans_rules_update: { contract: isCached ? null : contract, domain_id: domainId } },
      }
    },
    async getDsoPartyId({ headers, signal }) {
      const at = await reads.pin(headers['x-read-at-offset'] ?? null, signal)
      return { headers: pinnedHeaders(at), body: { dso_party_id: genesis.dso } }
    },
    async getDso({ query, headers, signal }) {
      const at = await reads.pin(headers['x-read-at-offset'] ?? null, signal)
      const [round, coinRules, dsoRules] = await Promise.all([
        stateOf('OpenMiningRound', at),
        stateOf('CoinRules', at),
        stateOf('DsoRules', at),
      ])
      return {
        headers: pinnedHeaders(at),
        body: {
          // D-10: these two differ from node to node, so the shared form lacks them.
          ...(query.shared === true
            ? {}
            : { sv_user: context.nodeName, sv_party_id: context.party }),
          dso_party_id: genesis.dso,
          voting_threshold: quorumOf(genesis.nodes.length),
          latest_mining_round: round,
          coin_rules: coinRules,
          dso_rules: dsoRules,
          // Spec silent: what upstream keeps in a contract per node is in DsoRules here.
          sv_node_states: [],
          initial_round: INITIAL_ROUND,
        },
      }
    },
    async listScans({ headers, signal }) {
      const at = await reads.pin(headers['x-read-at-offset'] ?? null, signal)
      const scans = superValidators(await reads.documentAsOf('DsoRules', at.offset)).flatMap(
        ({ name, scan }) =>
          scan === null
            ? []
            : [
                {
                  publicUrl: scan.url,
                  svName: name,
                  sequence: scan.sequence,
                  signature: scan.signature,
                },
              ],
      )
      return { headers: pinnedHeaders(at), body: { scans: [{ domainId, scans }] } }
    },
    getGenesis: async () => ({ body: genesisBytes }),
  }
}
