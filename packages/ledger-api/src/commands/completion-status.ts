/**
 * The status of a completion: `google.rpc.Status` as upstream's JSON shows it, whose details are both encoded
 * (protobuf, Base64) and decoded (docs/upstream.md §L5.1).
 */
import type { JsCompletion } from '@quorumscan/api'
import { ByteWriter, concatBytes, utf8 } from '@quorumscan/base'
import { LedgerError, type LedgerErrorCode } from '@quorumscan/errors'
import type { CompletionRecord } from '@quorumscan/model'

type RpcStatus = JsCompletion['status']

/** What upstream puts into `reason` and `message` of a correlation id. */
const CORRELATION_LENGTH = 8
const RETRY_SECONDS = 1

export const OK: RpcStatus = { code: 0, message: '', details: [] }

export function statusOf(error: LedgerError, participant: string): RpcStatus {
  const { category, grpcCode } = error.spec
  const { code, correlationId: requestId, resources } = error
  const correlation = (requestId ?? '0').slice(0, CORRELATION_LENGTH)
  const metadata: Record<string, string> = {
    category: String(category),
    definite_answer: String(error.isDefinite),
    participant,
    ...error.context,
  }
  const encoded = Object.entries(metadata).map(([key, value]) =>
    concatBytes([field(1, key), field(2, value)]),
  )
  const retryDelay = { seconds: RETRY_SECONDS, nanos: 0 }
  const details = [
    detail('ErrorInfo', { reason: code, domain: '', metadata }, [
      field(1, code),
      ...encoded.map((entry) => field(3, entry)),
    ]),
    ...(requestId === null
      ? []
      : [detail('RequestInfo', { requestId, servingData: '' }, [field(1, requestId)])]),
    ...(error.retryInfo === null
      ? []
      : [detail('RetryInfo', { retryDelay }, [field(1, Uint8Array.of(1 << 3, RETRY_SECONDS))])]),
    ...resources.map(([resourceType, resourceName]) =>
      detail('ResourceInfo', { resourceType, resourceName, owner: '', description: '' }, [
        field(1, resourceType),
        field(2, resourceName),
      ]),
    ),
  ]
  const message = `${code}(${category},${correlation}): ${error.message}`
  return { code: grpcCode, message, details }
}

function detail(
  message: string,
  valueDecoded: Record<string, unknown>,
  fields: readonly Uint8Array[],
): RpcStatus['details'][number] {
  return {
    typeUrl: `type.googleapis.com/google.rpc.${message}`,
    value: Buffer.from(concatBytes(fields)).toString('base64'),
    valueDecoded,
    unknownFields: { fields: {} },
  }
}

/** Protobuf wire type 2: tag, length, bytes. */
function field(number: number, value: string | Uint8Array): Uint8Array {
  const writer = new ByteWriter()
  writer.byte((number << 3) | 2)
  writer.bytes(typeof value === 'string' ? utf8(value) : value)
  return writer.finish()
}

/** Codes of interpretation that have one of their own here; every other one is the choice's own refusal. */
const CODES: Readonly<Record<string, LedgerErrorCode>> = {
  CONTRACT_NOT_FOUND: 'CONTRACT_NOT_FOUND',
  CONTRACT_CONSUMED: 'CONTRACT_NOT_ACTIVE',
  PERMISSION_DENIED: 'DAML_AUTHORIZATION_ERROR',
  TEMPLATE_PRECONDITION_VIOLATED: 'TEMPLATE_PRECONDITION_VIOLATED',
  WRONGLY_TYPED_CONTRACT: 'WRONGLY_TYPED_CONTRACT',
  DUPLICATE_COMMAND: 'DUPLICATE_COMMAND',
  INVALID_DEDUPLICATION_PERIOD: 'INVALID_DEDUPLICATION_PERIOD',
  NOT_SEQUENCED_TIMEOUT: 'NOT_SEQUENCED_TIMEOUT',
}

/** The error codes of category 11: their resource is the contract. */
const NAMES_A_CONTRACT: ReadonlySet<LedgerErrorCode> = new Set([
  'CONTRACT_NOT_FOUND',
  'CONTRACT_NOT_ACTIVE',
  'LOCAL_VERDICT_INACTIVE_CONTRACTS',
])
const CONTRACT_ID = /\b0[01][0-9a-f]{24,252}\b/

/** A refusal by the log, as the completion reports it. `deduplicationMicrosMax` is shown where a period exceeds it. */
export function completionError(
  { completion }: CompletionRecord,
  refused: Extract<CompletionRecord['outcome'], { kind: 'rejected' }>,
  options: { readonly deduplicationMicrosMax: number },
): LedgerError {
  const { prior } = refused
  const context: Record<string, string> = {}
  if (prior !== undefined) {
    context['accepted'] = 'true'
    context['completion_offset'] = String(prior.offset)
    context['existingSubmissionId'] = prior.submissionId
  }
  if (refused.code === 'INVALID_DEDUPLICATION_PERIOD')
    context['longest_duration'] = `${options.deduplicationMicrosMax / 1_000_000}s`
  return refusalOf(refused, completion.submissionId, context)
}

/** @param ofLog - What a refusal by the log adds. Null: by interpretation before the submission. */
export function refusalOf(
  refused: { readonly code: string; readonly message: string },
  correlationId: string,
  ofLog: Readonly<Record<string, string>> | null = null,
): LedgerError {
  const { message } = refused
  // The contract was active when the command was tried: another submission consumed it first.
  const isInactive = ofLog !== null && refused.code === 'CONTRACT_NOT_FOUND'
  const known = isInactive ? 'LOCAL_VERDICT_INACTIVE_CONTRACTS' : CODES[refused.code]
  const code = known ?? 'DAML_FAILURE'
  const contractId = CONTRACT_ID.exec(message)?.[0]
  return new LedgerError(code, message, {
    // Upstream's templates have the name of an exception here.
    context: code === 'DAML_FAILURE' ? { error_id: refused.code } : (ofLog ?? {}),
    resources:
      NAMES_A_CONTRACT.has(code) && contractId !== undefined ? [['CONTRACT_ID', contractId]] : [],
    correlationId,
    // Once the log has decided, the same bytes never take effect.
    isDefinite: ofLog !== null,
  })
}
