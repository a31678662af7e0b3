/**
 * The status of a completion: `google.rpc.Status` as upstream's JSON shows it, whose details are both encoded
 * (protobuf, Base64) and decoded (docs/upstream.md §L5.1).
 */
import type { JsCompletion } from '@quorumscan/api'
import { ByteWriter, concatBytes, utf8 } from '@quorumscan/base'
import type { LedgerError } from '@quorumscan/errors'

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
