/** The network as the ledger knows it: operator, rules, addresses, history, genesis (D-15, D-16, D-34, D-41). */

import type { scanRoutes } from '@quorumscan/api'
import { utf8 } from '@quorumscan/base'
import { type CertifiedAnswers, type Certifier, isCertified } from '@quorumscan/certifier'
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
import { createLongPolls, type Handlers, type WaitingRequest, withWaitOf } from '@quorumscan/server'
import {
  canonicalJson,
  formatInstant as formatTime,
  type Genesis,
  type Json,
  quorumOf,
} from '@quorumscan/verifier'
import { askNetwork, type Certificate, encodeCertificate } from '@quorumscan/verifier/certified'
import { pinAt, pinnedHeaders, type ReadHeaders, type Reads } from '../pinned.ts'

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
/** What is decided by confirming the same, but for payments, which are no choice of anybody. */
const PROPOSALS = ['SetAnsConfig', 'SetProtocolVersion']

export function createNetworkHandlers(context: {
  readonly reads: Reads
  readonly genesis: Genesis
  readonly nodeName: string
  readonly party: PartyId
  readonly genesisHash: string
  readonly certified: CertifiedAnswers
  readonly certifier: Certifier
}): NetworkHandlers {
  const { reads, genesis, certified, certifier } = context
  const polls = createLongPolls()
  const domainId = genesis.synchronizerId
  // A Genesis is JSON by construction; its type only lacks the index signature.
  const genesisBytes = utf8(canonicalJson(genesis as unknown as Json))

  /** With the one synchronizer, which every contract is assigned to. */
  const withState = (contract: Contract): ContractWithState => ({
    contract: toWireContract(contract),
    domain_id: domainId,
  })
  const stateOf = async (entity: DocumentEntity, at: Pinned) =>
    withState(await reads.lookups.documentAsOf(entity, at.offset))

  /** Reads at the offset asked for. */
  const answer = async <Body extends object>(
    asked: WaitingRequest & { readonly headers: ReadHeaders },
    read: (at: Pinned) => Promise<Body>,
  ): Promise<{ headers: Readonly<Record<string, string>>; body: Body }> => {
    const at = await pinAt(reads, asked.headers['x-read-at-offset'] ?? null, asked)
    return { headers: pinnedHeaders(at), body: await read(at) }
  }

  return {
    getAnsRules: (asked) => {
      const { body } = asked
      if (isCertified(asked))
        return certified.document(askNetwork('ans-rules'), withWaitOf(asked, { query: body }))
      return answer(asked, async (at) => {
        const rules = await stateOf('AnsRules', at)
        return { ans_rules_update: unlessCached(rules, [body.cached_ans_rules_contract_id]) }
      })
    },
    getAmuletRules: (asked) => {
      const { body } = asked
      return answer(asked, async (at) => {
        const rules = upstreamRules(await stateOf('CoinRules', at))
        return { amulet_rules_update: unlessCached(rules, [body.cached_amulet_rules_contract_id]) }
      })
    },
    getOpenAndIssuingMiningRounds: (asked) => {
      const { body } = asked
      return answer(asked, async (at) => {
        const rounds = await reads.lookups.documentsAsOf('OpenMiningRound', at.offset)
        const closing = rounds.map((round) => payloadOf(openMiningRound, round).targetClosesAt)
        const known = body.cached_open_mining_round_contract_ids
        return {
          // By record time, as all that depends on time: nodes are to say the same.
          time_to_live_in_microseconds: Math.max(0, Math.min(...closing) - at.recordTime),
          open_mining_rounds: Object.fromEntries(
            rounds.map((round) => [round.contractId, unlessCached(withState(round), known)]),
          ),
          issuing_mining_rounds: {},
        }
      })
    },
    getDsoPartyId: (asked) =>
      answer(asked, async () => ({
        dso_party_id: genesis.dso,
      })),
    getDso: (asked) => {
      if (isCertified(asked)) return certified.document(askNetwork('dso'), asked)
      const shared = asked.query.shared === true
      return answer(asked, async (at) => {
        const [round, coinRules, dsoRules] = await Promise.all([
          stateOf('OpenMiningRound', at),
          stateOf('CoinRules', at),
          stateOf('DsoRules', at),
        ])
        return {
          // D-10: these two differ from node to node, so the shared form lacks them.
          ...(shared ? {} : { sv_user: context.nodeName, sv_party_id: context.party }),
          dso_party_id: genesis.dso,
          voting_threshold: quorumOf(genesis.nodes.length),
          latest_mining_round: round,
          coin_rules: coinRules,
          amulet_rules: upstreamRules(coinRules),
          dso_rules: dsoRules,
          // Spec silent: of what upstream keeps in a contract per node we have the address, at /v0/scans.
          sv_node_states: [],
          initial_round: INITIAL_ROUND,
        }
      })
    },
    listScans: (asked) => {
      if (isCertified(asked)) return certified.document(askNetwork('scans'), asked)
      return answer(asked, async (at) => {
        const documents = await reads.lookups.documentsAsOf('ScanAddress', at.offset)
        const addresses = documents.map((contract) => payloadOf(scanAddress, contract))
        // In the order of the genesis, on every node.
        const scans = genesis.nodes.flatMap((node) =>
          addresses
            .filter(({ name }) => name === node.name)
            .map(({ url, name, sequence, signature }) => ({
              publicUrl: url,
              svName: name,
              sequence,
              signature,
            })),
        )
        return { scans: [{ domainId, scans }] }
      })
    },
    async listProposals() {
      const [{ version, next }, ...confirmations] = await Promise.all([
        readProtocol(reads),
        ...PROPOSALS.map((subject) => reads.contractsByKey(`confirmations:${subject}`)),
      ])
      return {
        body: {
          voting_threshold: quorumOf(genesis.nodes.length),
          confirmations: confirmations.flat().map(withState),
          protocol: {
            version,
            newest_known: NEWEST_RULES.version,
            next:
              next === null
                ? null
                : { version: next.version, not_before: formatTime(next.notBefore) },
          },
        },
      }
    },
    async getCertificate(asked) {
      return { body: certificateBody(await certified.certificate(asked)) }
    },
    async listStateStatements(request) {
      const statements = await polls.hold(request, (waiting) =>
        certifier.ownAfter(request.query.after, waiting),
      )
      const told = (statements ?? []).map(encodeCertificate)
      return { body: utf8(`{"statements":[${told.join(',')}]}`) }
    },
    getGenesis: async () => ({ body: genesisBytes }),
  }
}

function certificateBody(certificate: Certificate): Uint8Array {
  return utf8(`{"certificate":${encodeCertificate(certificate)}}`)
}

function unlessCached(
  { contract, domain_id }: ContractWithState,
  cached: readonly (string | null | undefined)[],
) {
  return { contract: cached.includes(contract.contract_id) ? null : contract, domain_id }
}

/**
 * The rules of the coin under the name and with the schedule that clients of the upstream network read; what
 * hashes to the contract's id is in its blob.
 */
function upstreamRules({ contract, domain_id }: ContractWithState): ContractWithState {
  const activeSynchronizer = domain_id
  const synchronizers = { requiredSynchronizers: { map: [[domain_id, {}]] }, activeSynchronizer }
  const initialValue = {
    tickDuration: { microseconds: contract.payload['tickDuration'] ?? null },
    decentralizedSynchronizer: synchronizers,
  }
  const configSchedule = { initialValue, futureValues: [] }
  return { contract: { ...contract, payload: { ...contract.payload, configSchedule } }, domain_id }
}
