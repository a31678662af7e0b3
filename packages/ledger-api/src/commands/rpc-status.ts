/**
 * The status of a completion: `google.rpc.Status` as upstream's JSON shows it, whose details are both encoded
 * (protobuf, Base64) and decoded (docs/upstream.md §L5.1).
 */
import { concatBytes, utf8 } from '@quorumscan/base'
import type { LedgerError } from '@quorumscan/errors'

type Detail = {
  typeUrl: string
  value: string
  valueDecoded: Record<string, unknown>
  unknownFields: { fields: Record<string, never> }
}
export type RpcStatus = { code: number; message: string; details: Detail[] }

/** What upstream puts into `reason` and `message` of a correlation id. */
const CORRELATION_LENGTH = 8
const RETRY_SECONDS = 1

export const okStatus = (): RpcStatus => ({ code: 0, message: '', details: [] })

export function statusOf(error: LedgerError, options: { readonly participant: string }): RpcStatus {
  const { category, grpcCode } = error.spec
  const correlation = (error.correlationId ?? '0').slice(0, CORRELATION_LENGTH)
  const metadata: Record<string, string> = {
    category: String(category),
    definite_answer: String(error.isDefinite),
    participant: options.participant,
    ...error.context,
  }
  return {
    code: grpcCode,
    message: `${error.code}(${category},${correlation}): ${error.message}`,
    details: [
      detail('ErrorInfo', { reason: error.code, domain: '', metadata }, [
        textField(1, error.code),
        ...Object.entries(metadata).map(([key, value]) =>
          field(3, concatBytes([textField(1, key), textField(2, value)])),
        ),
      ]),
      ...(error.correlationId === null
        ? []
        : [
            detail('RequestInfo', { requestId: error.correlationId, servingData: '' }, [
              textField(1, error.correlationId),
            ]),
          ]),
      ...(error.retryInfo === null
        ? []
        : [
            detail('RetryInfo', { retryDelay: { seconds: RETRY_SECONDS, nanos: 0 } }, [
              field(1, Uint8Array.of(1 << 3, RETRY_SECONDS)),
            ]),
          ]),
      ...error.resources.map(([resourceType, resourceName]) =>
        detail('ResourceInfo', { resourceType, resourceName, owner: '', description: '' }, [
          textField(1, resourceType),
          textField(2, resourceName),
        ]),
      ),
    ],
  }
}

function detail(
  message: string,
  valueDecoded: Record<string, unknown>,
  fields: readonly Uint8Array[],
): Detail {
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
  const length: number[] = []
  let rest = bytes.byteLength
  while (rest >= 128) {
    length.push((rest % 128) + 128)
    rest = Math.floor(rest / 128)
  }
  return concatBytes([Uint8Array.of((number << 3) | 2, ...length, rest), bytes])
}
