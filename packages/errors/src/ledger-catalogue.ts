/**
 * Errors of the ledger interface (`/v2`): codes with their category, and what follows from a category.
 * Source: docs/upstream.md §L7. The codes are upstream's, because clients match on them.
 */

/** Status, gRPC code, retries and secrecy of a category (§L7.2). */
type CategorySpec = {
  readonly httpStatus: number
  readonly grpcCode: number
  /** The retry text of upstream; null if a retry does not help. */
  readonly retryInfo: string | null
  /** The caller learns the status only; the process logs the reason. */
  readonly isRedacted: boolean
}

export const ledgerCategories = {
  1: { httpStatus: 503, grpcCode: 14, retryInfo: '1 second', isRedacted: false },
  2: { httpStatus: 409, grpcCode: 10, retryInfo: '1 second', isRedacted: false },
  3: { httpStatus: 504, grpcCode: 4, retryInfo: '1 second', isRedacted: false },
  4: { httpStatus: 500, grpcCode: 13, retryInfo: null, isRedacted: true },
  5: { httpStatus: 400, grpcCode: 3, retryInfo: null, isRedacted: true },
  6: { httpStatus: 401, grpcCode: 16, retryInfo: null, isRedacted: true },
  7: { httpStatus: 403, grpcCode: 7, retryInfo: null, isRedacted: true },
  8: { httpStatus: 400, grpcCode: 3, retryInfo: null, isRedacted: false },
  9: { httpStatus: 400, grpcCode: 9, retryInfo: null, isRedacted: false },
  10: { httpStatus: 409, grpcCode: 6, retryInfo: null, isRedacted: false },
  11: { httpStatus: 404, grpcCode: 5, retryInfo: null, isRedacted: false },
  12: { httpStatus: 400, grpcCode: 11, retryInfo: '1 second', isRedacted: false },
  14: { httpStatus: 501, grpcCode: 12, retryInfo: null, isRedacted: true },
} as const satisfies Record<number, CategorySpec>

type LedgerErrorSpec = {
  readonly category: keyof typeof ledgerCategories
  /**
   * The origin of the error: the ledger, or the interface itself, whose errors have an empty context and
   * `definiteAnswer: false` (§L7.1).
   */
  readonly producer: 'ledger' | 'http'
  /** If it differs from the category's. */
  readonly httpStatus?: number
  readonly grpcCode?: number
}

const of = (category: LedgerErrorSpec['category']): LedgerErrorSpec => ({
  category,
  producer: 'ledger',
})

export const ledgerCatalogue = {
  INVALID_ARGUMENT: of(8),
  MISSING_FIELD: of(8),
  INVALID_FIELD: of(8),
  NEGATIVE_OFFSET: of(8),
  NON_POSITIVE_OFFSET: of(8),
  DESCENDING_ORDER_MISSING_END: of(8),
  OFFSET_AFTER_LEDGER_END: of(12),
  OFFSET_OUT_OF_RANGE: of(9),
  PARTICIPANT_PRUNED_DATA_ACCESSED: of(9),
  PACKAGE_NAMES_NOT_FOUND: of(11),
  NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME: of(11),
  NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME: of(11),
  UPDATE_NOT_FOUND: of(11),
  JSON_API_PACKAGE_SELECTION_FAILED: of(9),
  TEMPLATES_OR_INTERFACES_NOT_FOUND: of(11),
  COMMAND_PREPROCESSING_FAILED: of(8),
  CONTRACT_NOT_FOUND: of(11),
  CONTRACT_EVENTS_NOT_FOUND: of(11),
  CONTRACT_PAYLOAD_NOT_FOUND: of(11),
  PACKAGE_NOT_FOUND: of(11),
  IDP_CONFIG_NOT_FOUND: of(11),
  NO_PREFERRED_PACKAGES_FOUND: of(9),
  CONTRACT_NOT_ACTIVE: of(11),
  DAML_AUTHORIZATION_ERROR: of(8),
  TEMPLATE_PRECONDITION_VIOLATED: of(8),
  WRONGLY_TYPED_CONTRACT: of(9),
  DAML_FAILURE: of(9),
  PRESCRIBED_SYNCHRONIZER_ID_MISMATCH: of(8),
  DISCLOSED_CONTRACTS_SYNCHRONIZER_ID_MISMATCH: of(8),
  INVALID_PRESCRIBED_SYNCHRONIZER_ID: of(9),
  UNKNOWN_SUBMITTERS: of(11),
  NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT: of(11),
  SUBMISSION_ALREADY_IN_FLIGHT: of(2),
  DUPLICATE_COMMAND: of(10),
  INVALID_DEDUPLICATION_PERIOD: of(9),
  LOCAL_VERDICT_INACTIVE_CONTRACTS: of(11),
  NOT_SEQUENCED_TIMEOUT: of(2),
  USER_NOT_FOUND: of(11),
  USER_ALREADY_EXISTS: of(10),
  TOO_MANY_USER_RIGHTS: of(9),
  CONCURRENT_USER_UPDATE_DETECTED: of(2),
  CONCURRENT_PARTY_DETAILS_UPDATE_DETECTED: of(2),
  PARTY_NOT_KNOWN_ON_LEDGER: of(11),
  STALE_STREAM_AUTHORIZATION: of(2),
  ACCESS_TOKEN_EXPIRED: of(2),
  PARTICIPANT_BACKPRESSURE: of(2),
  SERVICE_NOT_RUNNING: of(1),
  UNAUTHENTICATED: of(6),
  PERMISSION_DENIED: of(7),
  LEDGER_API_INTERNAL_ERROR: of(4),
  UNSUPPORTED_OPERATION: of(14),
  JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED: { category: 2, producer: 'http', httpStatus: 413 },
  // Not in the specification: upstream's interface limits no clients (D-33). RESOURCE_EXHAUSTED is 429 (§L7.2).
  RATE_LIMITED: { category: 2, producer: 'http', httpStatus: 429, grpcCode: 8 },
} as const satisfies Record<string, LedgerErrorSpec>

export type LedgerErrorCode = keyof typeof ledgerCatalogue

export function ledgerErrorSpec(code: LedgerErrorCode): LedgerErrorSpec & CategorySpec {
  const spec: LedgerErrorSpec = ledgerCatalogue[code]
  return { ...ledgerCategories[spec.category], ...spec }
}
