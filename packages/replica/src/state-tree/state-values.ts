/**
 * The values of the state tree that belong to no entry. Their bytes are part of the format of certified reads, and
 * change only with the version of the protocol. So they are made here and nowhere else, and share
 * nothing with what the API answers, which may get more members at any time.
 *
 * The value of an entry is its JSON as in `entry-body.ts`.
 */

import { assert, sha256, toHex } from '@quorumscan/base'
import { contractBlob, payloadOf, scanAddress } from '@quorumscan/ledger'
import type { Contract } from '@quorumscan/model'
import {
  canonicalJson,
  formatInstant,
  type Genesis,
  type Json,
  memberSetOf,
} from '@quorumscan/verifier'
import { type Frontier, joinSubtrees } from '@quorumscan/verifier/state-tree'

/** Active contracts of the templates that values are made of, by entity, the newest first. */
export type Documents = ReadonlyMap<string, readonly Contract[]>

/** Components of a key, with the value: RFC 8785 JSON. */
export type ConstantLeaf = { readonly key: readonly string[]; readonly value: string }

/** The genesis opens rounds 0 to 2 (D-22). */
const INITIAL_ROUND = '0'

/** The leaf that describes the activity tree. */
export function activitiesLeaf({ size, peaks }: Frontier): ConstantLeaf {
  const root = toHex(joinSubtrees(peaks, sha256))
  return { key: ['a'], value: canonicalJson({ root, size }) }
}

/** All that depends on documents. */
export function documentLeaves(documents: Documents, genesis: Genesis): readonly ConstantLeaf[] {
  return [
    { key: ['c', 'dso'], value: canonicalJson(dsoOf(documents, genesis)) },
    { key: ['c', 'ans-rules'], value: canonicalJson(ansRulesOf(documents, genesis)) },
    { key: ['c', 'scans'], value: canonicalJson(scansOf(documents, genesis)) },
  ]
}

/** Who signs roots, and how many of them may lie. */
export function membersLeaf(genesis: Genesis): ConstantLeaf {
  const { members: nodes, n, f } = memberSetOf(genesis)
  const members = nodes.map(({ name, scanKey, operatorKey }) => ({
    name,
    scan_key: scanKey,
    operator_key: operatorKey,
  }))
  return { key: ['m'], value: canonicalJson({ members, n, f }) }
}

function dsoOf(documents: Documents, genesis: Genesis): Json {
  const stateOf = (entity: string) => contractState(newestOf(documents, entity), genesis)
  const coinRules = stateOf('CoinRules')
  return {
    dso_party_id: genesis.dso,
    voting_threshold: memberSetOf(genesis).quorum,
    latest_mining_round: stateOf('OpenMiningRound'),
    coin_rules: coinRules,
    amulet_rules: withSchedule(coinRules),
    dso_rules: stateOf('DsoRules'),
    sv_node_states: [],
    initial_round: INITIAL_ROUND,
  }
}

function ansRulesOf(documents: Documents, genesis: Genesis): Json {
  return { ans_rules_update: contractState(newestOf(documents, 'AnsRules'), genesis) }
}

/** The addresses of the scan nodes, in the order of the genesis. */
function scansOf(documents: Documents, genesis: Genesis): Json {
  const addresses = (documents.get('ScanAddress') ?? []).map((each) => payloadOf(scanAddress, each))
  const scans = memberSetOf(genesis).members.flatMap((node) =>
    addresses
      .filter(({ name }) => name === node.name)
      .map(({ url, name, sequence, signature }) => ({
        publicUrl: url,
        svName: name,
        sequence,
        signature,
      })),
  )
  return { scans: [{ domainId: genesis.synchronizerId, scans }] }
}

function newestOf(documents: Documents, entity: string): Contract {
  const [newest] = documents.get(entity) ?? []
  assert(newest !== undefined, `a ${entity} is in force from genesis on`)
  return newest
}

type ContractState = { readonly contract: Record<string, Json>; readonly domain_id: string }

function contractState(contract: Contract, { synchronizerId }: Genesis): ContractState {
  return {
    contract: {
      template_id: contract.templateId,
      contract_id: contract.contractId,
      payload: contract.payload as Json,
      created_event_blob: Buffer.from(contractBlob(contract)).toString('base64'),
      created_at: formatInstant(contract.createdAt),
    },
    domain_id: synchronizerId,
  }
}

/** The rules of the coin with the schedule that clients of the upstream network read. */
function withSchedule({ contract, domain_id }: ContractState): ContractState {
  const payload = contract['payload'] as Record<string, Json>
  const initialValue = {
    tickDuration: { microseconds: payload['tickDuration'] ?? null },
    decentralizedSynchronizer: {
      requiredSynchronizers: { map: [[domain_id, {}]] },
      activeSynchronizer: domain_id,
    },
  }
  const configSchedule = { initialValue, futureValues: [] }
  return { contract: { ...contract, payload: { ...payload, configSchedule } }, domain_id }
}
