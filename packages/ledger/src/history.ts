/** The history hash: a chain over every entry and its result (Rule 1). */
import { concatBytes, fromHex, sha256, sha256Hex, utf8 } from '@quorumscan/base'
import type {
  Completion,
  EntryResult,
  LedgerEvent,
  Micros,
  Offset,
  Update,
} from '@quorumscan/model'
import { canonicalJson } from '@quorumscan/verifier'
import { payloadText, u64 } from './contract-id.ts'

/**
 * The canonical JSON of a result of interpretation, as it is hashed. The code writes members in canonical order, which
 * is several times faster than sorting them. A test compares with `canonicalJson`.
 */
export function encodeResult(result: EntryResult): Uint8Array {
  switch (result.kind) {
    case 'checkpoint':
      return utf8('{"kind":"checkpoint"}')
    case 'ignored':
      return utf8(`{"kind":"ignored","reason":${canonicalJson(result.reason)}}`)
    case 'rejected': {
      const { code, message, prior } = result
      const blocked = prior === undefined ? '' : `,"prior":${canonicalJson(prior)}`
      const members = `"code":${canonicalJson(code)},"completion":${completionText(result.completion)}`
      return utf8(`{${members},"kind":"rejected","message":${canonicalJson(message)}${blocked}}`)
    }
    case 'accepted': {
      const completion = completionText(result.completion)
      return utf8(
        `{"completion":${completion},"kind":"accepted","update":${updateText(result.update)}}`,
      )
    }
  }
}

function completionText(completion: Completion): string {
  return canonicalJson(completion)
}

function updateText({ allocated, events, updateId, workflowId }: Update): string {
  const hosted = canonicalJson(allocated)
  const members = events.map(eventText).join(',')
  return `{"allocated":${hosted},"events":[${members}],"updateId":"${updateId}","workflowId":${canonicalJson(workflowId)}}`
}

// Ids, parties and template ids are ASCII without anything to escape; values are as `Lf.encode` gave them.
function eventText(event: LedgerEvent): string {
  const { contractId, nodeId, packageName, templateId } = event
  const observers = textsOf(event.observers)
  const signatories = textsOf(event.signatories)
  if (event.kind === 'created')
    return `{"contractId":"${contractId}","kind":"created","nodeId":${nodeId},"observers":${observers},"packageName":"${packageName}","payload":${payloadText(event.payload)},"signatories":${signatories},"templateId":"${templateId}"}`
  const { choice, consuming, lastDescendantNodeId } = event
  return `{"actingParties":${textsOf(event.actingParties)},"argument":${JSON.stringify(event.argument)},"choice":"${choice}","consuming":${consuming},"contractId":"${contractId}","kind":"exercised","lastDescendantNodeId":${lastDescendantNodeId},"nodeId":${nodeId},"observers":${observers},"packageName":"${packageName}","result":${JSON.stringify(event.result)},"signatories":${signatories},"templateId":"${templateId}"}`
}

function textsOf(texts: readonly string[]): string {
  return texts.length === 0 ? '[]' : `["${texts.join('","')}"]`
}

/** h(N) from h(N−1). All hashes are hex; `entryHash` is SHA-256 of the entry's bytes. */
export function nextHistoryHash(input: {
  readonly previous: string
  readonly offset: Offset
  readonly recordTime: Micros
  readonly entryHash: string
  readonly result: EntryResult
}): string {
  const parts = [
    fromHex(input.previous),
    u64(input.offset),
    u64(input.recordTime),
    fromHex(input.entryHash),
    sha256(encodeResult(input.result)),
  ]
  return sha256Hex(concatBytes(parts))
}
