/** The network as the ledger knows it: operator, rules, addresses, history, genesis (D-15, D-16, D-34, D-41). */

import type { scanRoutes } from '@quorumscan/api'
import { utf8 } from '@quorumscan/base'
import type { CertifiedAnswers, Certifier } from '@quorumscan/certifier'
import {
  NEWEST_RULES,
  openMiningRound,
  payloadOf,
  readProtocol,
  scanAddress,
  toWireContract,
  type WireContract,
} from '@quorumscan/ledger'
import type { Contract, PartyId } from '@quorumscan/model'
import type { DocumentEntity, Pinned } from '@quorumscan/replica'
import type { Handlers, LongPolls } from '@quorumscan/server'
import { canonicalJson, formatInstant, type Genesis, memberSetOf } from '@quorumscan/verifier'
import { encodeCertificate, networkQuery } from '@quorumscan/verifier/certified'
import { inEitherForm, pinFor, pinnedHeaders, type ReadRequest, type Reads } from '../pinned.ts'

type NetworkHandlers = Pick<
  Handlers<typeof scanRoutes>,
  | 'getAnsRules'
  | 'getAmuletRules'
  | 'getOpenAndIssuingMiningRounds'
  | 'getDsoPartyId'
  | 'getDso'
  | 'listScans'
  | 'listProposals'
  | 'getGenesis'
  | 'getCertificate'
  | 'listStateStatements'
>

type ContractWithState = { readonly contract: WireContract; readonly domain_id: string }

/** The genesis opens rounds 0 to 2 (D-22). */
const INITIAL_ROUND = '0'
/** Actions that operators decide by confirming the same. Payments are not listed: no operator chooses them. */
const PROPOSALS = ['SetAnsConfig', 'SetProtocolVersion']

export function createNetworkHandlers(context: {
  readonly reads: Reads
  readonly genesis: Genesis
  /** The name of the node. */
  readonly name: string
  readonly party: PartyId
  readonly certified: CertifiedAnswers
  readonly certifier: Certifier
  readonly polls: LongPolls
}): NetworkHandlers {
  const { reads, genesis, certified, certifier, polls } = context
  const either = inEitherForm(certified)
  const genesisBytes = utf8(canonicalJson(genesis))

  /** Adds the one synchronizer, to which every contract is assigned. */
  const withState = (contract: Contract): ContractWithState => ({
    contract: toWireContract(contract),
    domain_id: genesis.synchronizerId,
  })
  const stateOf = async (entity: DocumentEntity, at: Pinned) =>
    withState(await reads.lookups.documentAsOf(entity, at.offset))

  /** A handler that reads at the offset that the request names. */
  const pinned =
    <Request extends ReadRequest, Body extends object>(
      read: (at: Pinned, request: Request) => Promise<Body>,
    ) =>
    async (request: Request) => {
      const at = await pinFor(reads, request)
      return { headers: pinnedHeaders(at), body: await read(at, request) }
    }

  return {
    getAnsRules: either(
      () => networkQuery('ans-rules'),
      pinned(async (at, { body }) => {
        const rules = await stateOf('AnsRules', at)
        return { ans_rules_update: unlessCached(rules, [body.cached_ans_rules_contract_id]) }
      }),
    ),
    getAmuletRules: pinned(async (at, { body }) => {
      const rules = upstreamRules(await stateOf('CoinRules', at))
      return { amulet_rules_update: unlessCached(rules, [body.cached_amulet_rules_contract_id]) }
    }),
    getOpenAndIssuingMiningRounds: pinned(async (at, { body }) => {
      const rounds = await reads.lookups.documentsAsOf('OpenMiningRound', at.offset)
      const closing = rounds.map((round) => payloadOf(openMiningRound, round).targetClosesAt)
      const known = body.cached_open_mining_round_contract_ids
      const open = rounds.map((one) => [one.contractId, unlessCached(withState(one), known)])
      return {
        // By record time, so that all nodes answer the same.
        time_to_live_in_microseconds: Math.max(0, Math.min(...closing) - at.recordTime),
        open_mining_rounds: Object.fromEntries(open),
        issuing_mining_rounds: {},
      }
    }),
    getDsoPartyId: pinned(async () => ({ dso_party_id: genesis.dso })),
    getDso: either(
      () => networkQuery('dso'),
      pinned(async (at, { query }) => {
        const [round, coinRules, dsoRules] = await Promise.all([
          stateOf('OpenMiningRound', at),
          stateOf('CoinRules', at),
          stateOf('DsoRules', at),
        ])
        return {
          // D-10: these two differ from node to node, so the shared form lacks them.
          ...(query.shared === true ? {} : { sv_user: context.name, sv_party_id: context.party }),
          dso_party_id: genesis.dso,
          voting_threshold: memberSetOf(genesis).quorum,
          latest_mining_round: round,
          coin_rules: coinRules,
          amulet_rules: upstreamRules(coinRules),
          dso_rules: dsoRules,
          // Not in the specification: upstream lists a contract per node; this network has only addresses (/v0/scans).
          sv_node_states: [],
          initial_round: INITIAL_ROUND,
        }
      }),
    ),
    listScans: either(
      () => networkQuery('scans'),
      pinned(async (at) => {
        const documents = await reads.lookups.documentsAsOf('ScanAddress', at.offset)
        const addresses = documents.map((contract) => payloadOf(scanAddress, contract))
        // In the order of the genesis, on every node.
        const scans = memberSetOf(genesis).members.flatMap((node) =>
          addresses
            .filter(({ name }) => name === node.name)
            .map(({ url: publicUrl, name: svName, sequence, signature }) => {
              return { publicUrl, svName, sequence, signature }
            }),
        )
        return { scans: [{ domainId: genesis.synchronizerId, scans }] }
      }),
    ),
    async listProposals() {
      const [{ version, next }, ...confirmations] = await Promise.all([
        readProtocol(reads),
        ...PROPOSALS.map((subject) => reads.contractsByKey(`confirmations:${subject}`)),
      ])
      return {
        body: {
          voting_threshold: memberSetOf(genesis).quorum,
          confirmations: confirmations.flat().map(withState),
          protocol: {
            version,
            newest_known: NEWEST_RULES.version,
            next: next && { version: next.version, not_before: formatInstant(next.notBefore) },
          },
        },
      }
    },
    async getCertificate(asked) {
      const certificate = encodeCertificate(await certified.certificate(asked))
      return { body: utf8(`{"certificate":${certificate}}`) }
    },
    async listStateStatements(request) {
      const statements = await polls.hold(request, (waiting) =>
        certifier.ownAfter(request.query.after, waiting),
      )
      const encoded = (statements ?? []).map(encodeCertificate)
      return { body: utf8(`{"statements":[${encoded.join(',')}]}`) }
    },
    getGenesis: async () => ({ body: genesisBytes }),
  }
}

function unlessCached(
  { contract, domain_id }: ContractWithState,
  cached: readonly (string | null | undefined)[],
) {
  return { contract: cached.includes(contract.contract_id) ? null : contract, domain_id }
}

/**
 * The rules of the coin under the name and with the schedule that clients of the upstream network read. The blob has the
 * fields that the contract id hashes.
 */
function upstreamRules({ contract, domain_id }: ContractWithState): ContractWithState {
  const initialValue = {
    tickDuration: { microseconds: contract.payload['tickDuration'] ?? null },
    decentralizedSynchronizer: {
      requiredSynchronizers: { map: [[domain_id, {}]] },
      activeSynchronizer: domain_id,
    },
  }
  const configSchedule = { initialValue, futureValues: [] }
  return { contract: { ...contract, payload: { ...contract.payload, configSchedule } }, domain_id }
}
