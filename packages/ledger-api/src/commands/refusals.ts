/** What the ledger says no with, as the ledger interface words it: at once (4.5, g) and in completions (4.6). */
import { LedgerError, type LedgerErrorCode } from '@quorumscan/errors'
import type { CompletionRecord, EntryResult } from '@quorumscan/model'

type Refused = Extract<CompletionRecord['outcome'], { kind: 'rejected' }>
type RejectedResult = Extract<EntryResult, { kind: 'rejected' }>

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

/** Where the log says it, the contract was active when the command was tried: somebody was faster. */
const CODES_IN_LOG: Readonly<Record<string, LedgerErrorCode>> = {
  CONTRACT_NOT_FOUND: 'LOCAL_VERDICT_INACTIVE_CONTRACTS',
}

/** Those of category 11: their resource is the contract. */
const NAME_A_CONTRACT: ReadonlySet<LedgerErrorCode> = new Set([
  'CONTRACT_NOT_FOUND',
  'CONTRACT_NOT_ACTIVE',
  'LOCAL_VERDICT_INACTIVE_CONTRACTS',
])
const CONTRACT_ID = /\b0[01][0-9a-f]{24,252}\b/

/** Of interpretation ahead of the log. */
export function refusalOf(result: RejectedResult, submissionId: string): LedgerError {
  return toError(result, { submissionId, codes: CODES, context: {} })
}

/** Of the log. `deduplicationMicrosMax` is told to whom it concerns. */
export function completionError(
  record: CompletionRecord,
  refused: Refused,
  options: { readonly deduplicationMicrosMax: number },
): LedgerError {
  const { submissionId } = record.completion
  const { prior } = refused
  const context: Record<string, string> = {}
  if (prior !== undefined) {
    context['accepted'] = 'true'
    context['completion_offset'] = String(prior.offset)
    context['existingSubmissionId'] = prior.submissionId
  }
  if (refused.code === 'INVALID_DEDUPLICATION_PERIOD')
    context['longest_duration'] = `${options.deduplicationMicrosMax / 1_000_000}s`
  const codes = { ...CODES, ...CODES_IN_LOG }
  // The log has decided: the same bytes never take effect.
  return toError(refused, { submissionId, codes, context, isDefinite: true })
}

function toError(
  refused: { readonly code: string; readonly message: string },
  options: {
    readonly submissionId: string
    readonly codes: Readonly<Record<string, LedgerErrorCode>>
    readonly context: Readonly<Record<string, string>>
    readonly isDefinite?: boolean
  },
): LedgerError {
  const code = options.codes[refused.code] ?? 'DAML_FAILURE'
  const contractId = CONTRACT_ID.exec(refused.message)?.[0]
  const names = NAME_A_CONTRACT.has(code)
  return new LedgerError(code, refused.message, {
    // What upstream's templates say with the name of an exception.
    context: code === 'DAML_FAILURE' ? { error_id: refused.code } : options.context,
    resources: names && contractId !== undefined ? [['CONTRACT_ID', contractId]] : [],
    correlationId: options.submissionId,
    isDefinite: options.isDefinite ?? false,
  })
}
