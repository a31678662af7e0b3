/** Refusals of the ledger as errors of the ledger interface: at once (§L4.5, g) and in completions (§L4.6). */
import { LedgerError, type LedgerErrorCode } from '@quorumscan/errors'
import type { CompletionRecord } from '@quorumscan/model'

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

/** Those of category 11: their resource is the contract. */
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
    // Where upstream's templates have the name of an exception.
    context: code === 'DAML_FAILURE' ? { error_id: refused.code } : (ofLog ?? {}),
    resources:
      NAMES_A_CONTRACT.has(code) && contractId !== undefined ? [['CONTRACT_ID', contractId]] : [],
    correlationId,
    // Once the log has decided, the same bytes never take effect.
    isDefinite: ofLog !== null,
  })
}
