/** Builds the published vectors of certified reads from fixed keys: `certified.json` and `toy-state.json`. */
import type { KeyPair } from '@quorumscan/base'
import { createPlatformCrypto, type Json } from '@quorumscan/verifier'
import { createCertifiedVerifier, queryOf } from '@quorumscan/verifier/certified'
import { componentsOf } from '@quorumscan/verifier/state-tree'
import type { Refused, Vector } from '../support/vector.ts'
import { genesis, genesisText, keyPairs } from './build.ts'
import { refusedActivities } from './certified-activities.ts'
import { refusedProofs } from './certified-proofs.ts'
import { provenDocuments } from './certified-proven.ts'
import { refusedCertificates, refusedRequests, refusedTexts } from './certified-refused.ts'
import { byName, HISTORY, LEAVES, network, state } from './state.ts'

/** The text of `certified.json`, with one vector per line. */
export async function buildCertified(): Promise<string> {
  const verifier = createCertifiedVerifier({ ...network, crypto: createPlatformCrypto() })
  const vectors: Vector[] = []
  for (const one of provenDocuments()) {
    const stateQuery = queryOf(one.request, network)
    const { answer, signers } = await verifier.verify(one.document, stateQuery, one.signers)
    vectors.push({ ...one, answer: answer as Json, signed_by: signers })
  }
  for (const refused of [
    ...refusedRequests(),
    ...refusedCertificates(),
    ...refusedTexts(),
    ...refusedProofs(),
    ...refusedActivities(),
  ])
    vectors.push(vectorOf(refused))
  return [
    `{"genesis":${JSON.stringify(genesisText)},"vectors":[`,
    vectors.map((vector) => JSON.stringify(vector)).join(',\n'),
    ']}\n',
  ].join('\n')
}

function vectorOf(refused: Refused): Vector {
  const { name, rule, request = byName('alice.unverified.ns'), signers = 2, offset_min } = refused
  const document =
    'bytes' in refused
      ? { document_base64: Buffer.from(refused.bytes).toString('base64') }
      : { document: refused.document }
  const walk = offset_min === undefined ? {} : { offset_min }
  return { name, request, signers, ...walk, ...document, refuse: rule }
}

/** The text of `toy-state.json`: the data of most vectors, with private keys. */
export function buildToyState(): string {
  const { offset, recordTime, historyHash, stateRoot } = state.point
  const toy = {
    genesis: genesisText,
    scan_keys: genesis.nodes.map(({ name }, index) => {
      const { seed, publicKey } = keyPairs[index] as KeyPair
      return { name, private_key: seed, public_key: publicKey }
    }),
    offset,
    record_time: recordTime,
    history_hash: historyHash,
    state_root: stateRoot,
    leaves: LEAVES.map(({ key, expiresAt, value }) => ({
      key: componentsOf(key),
      expires_at: expiresAt,
      value,
    })),
    activities: HISTORY.rows.map(({ eventId, recordTime, row }) => ({
      event_id: eventId,
      record_time: recordTime,
      row,
    })),
  }
  return `${JSON.stringify(toy, null, 1)}\n`
}
