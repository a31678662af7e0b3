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

export const okStatus = (): RpcStatus => ({ code: 0, message: '', details: [] })

export function statusOf(error: LedgerError, participant: string): RpcStatus {
  const { category, grpcCode } = error.spec
  const correlation = (error.correlationId ?? '0').slice(0, CORRELATION_LENGTH)
  const metadata: Record<string, string> = {
    category: String(category),
    definite_answer: String(error.isDefinite),
    participant,
    ...error.context,
  }
  const details = [
    detail('ErrorInfo', { reason: error.code, domain: '', metadata }, [
      textField(1, error.code),
      ...Object.entries(metadata).map(([key, value]) =>
        field(3, concatBytes([textField(1, key), textField(2, value)])),
      ),
    ]),
  ]
  const { correlationId: requestId } = error
  if (requestId !== null)
    details.push(detail('RequestInfo', { requestId, servingData: '' }, [textField(1, requestId)]))
  if (error.retryInfo !== null)
    details.push(
      detail('RetryInfo', { retryDelay: { seconds: RETRY_SECONDS, nanos: 0 } }, [
        field(1, Uint8Array.of(1 << 3, RETRY_SECONDS)),
      ]),
    )
  for (const [resourceType, resourceName] of error.resources)
    details.push(
      detail('ResourceInfo', { resourceType, resourceName, owner: '', description: '' }, [
        textField(1, resourceType),
        textField(2, resourceName),
      ]),
    )
  return {
    code: grpcCode,
    message: `${error.code}(${category},${correlation}): ${error.message}`,
    details,
  }
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

function textField(number: number, text: string): Uint8Array {
  return field(number, utf8(text))
}

/** Protobuf wire type 2: tag, length, bytes. */
function field(number: number, bytes: Uint8Array): Uint8Array {
  const writer = new ByteWriter()
  writer.byte((number << 3) | 2)
  writer.bytes(bytes)
  return writer.finish()
}
