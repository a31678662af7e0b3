/**
 * Errors of the ledger interface, in place of the form of D-6: a body of ten members, or one line of text for a request
 * that does not decode. Source: docs/upstream.md §L7.
 */
import { type LedgerErrorCode, ledgerErrorSpec } from './ledger-catalogue.ts'

type ErrorContext = Readonly<Record<string, string>>
type Resource = readonly [type: string, name: string]

/** Longer texts are cut (§L7.1). */
const CAUSE_LENGTH_MAX = 512
/** `code`, `errorCategory` and sentence of an error whose reason the process only logs (§L6.3). */
const REDACTED_CODE = 'NA'
const REDACTED_CATEGORY = -1
const REDACTED_CAUSE = 'A security-sensitive error has been received'

/**
 * A refusal of the ledger interface. `message` goes to the caller as `cause`, unless the category is
 * redacted: then it is only logged, as `options.cause` always is.
 */
export class LedgerError extends Error {
  override readonly name = 'LedgerError'
  readonly code: LedgerErrorCode
  /** The members of this error, in addition to those of every error of its producer. */
  readonly context: ErrorContext
  readonly resources: readonly Resource[]
  /** The submission id of a refused submission. */
  readonly correlationId: string | null
  readonly retryInfo: string | null
  readonly isDefinite: boolean

  constructor(
    code: LedgerErrorCode,
    message: string,
    options: {
      readonly cause?: unknown
      /** Sent also if the error is redacted. */
      readonly context?: ErrorContext
      readonly resources?: readonly Resource[]
      readonly correlationId?: string
      readonly retryInfo?: string
      /** Without effect, now and later; `definite_answer` of the context. */
      readonly isDefinite?: boolean
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.context = options.context ?? {}
    this.resources = options.resources ?? []
    this.correlationId = options.correlationId ?? null
    this.retryInfo = options.retryInfo ?? ledgerErrorSpec(code).retryInfo
    this.isDefinite = options.isDefinite ?? false
  }

  get spec() {
    return ledgerErrorSpec(this.code)
  }
}

/** A request that does not decode: 400 and one line of text that names the member (§L7.3). */
export class LedgerDecodeError extends Error {
  override readonly name = 'LedgerDecodeError'
}

/** The wire form; all ten members are always present. */
export function toLedgerErrorBody(
  error: LedgerError,
  request: { readonly traceId: string; readonly participant: string },
) {
  const { spec } = error
  const { traceId } = request
  if (spec.isRedacted)
    return {
      code: REDACTED_CODE,
      cause: REDACTED_CAUSE,
      correlationId: null,
      traceId,
      context: error.context,
      resources: [],
      errorCategory: REDACTED_CATEGORY,
      grpcCodeValue: spec.grpcCode,
      retryInfo: null,
      definiteAnswer: null,
    }
  const isOfLedger = spec.producer === 'ledger'
  const shared = {
    category: String(spec.category),
    definite_answer: String(error.isDefinite),
    participant: request.participant,
    tid: traceId,
  }
  return {
    code: error.code,
    cause: error.message.slice(0, CAUSE_LENGTH_MAX),
    correlationId: error.correlationId,
    traceId,
    context: isOfLedger ? { ...shared, ...error.context } : {},
    resources: error.resources,
    errorCategory: spec.category,
    grpcCodeValue: spec.grpcCode,
    retryInfo: error.retryInfo,
    definiteAnswer: isOfLedger ? null : false,
  }
}
