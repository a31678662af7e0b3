/**
 * The differences between versions of the protocol, and the versions that this software knows. A version that was in
 * force in any network never changes, and stays as long as logs have entries of its time.
 */
import { ScanError } from '@quorumscan/errors'
import { ISSUED_AMOUNT_MAX } from './limits.ts'

export type Rules = {
  readonly version: number
  /** Commands of one submission (Rule 1). */
  readonly commandsMax: number
  /**
   * Contracts that the commands of one submission name: each is read, decoded and hashed by every replica,
   * whether it exists or not. A transfer of the most inputs names half as many.
   */
  readonly contractsNamedMax: number
  /** Disclosed contracts of one submission: each is hashed. */
  readonly disclosedMax: number
  /** Parties in actAs and readAs together: bounds the checks of one entry. */
  readonly submittersMax: number
  /** Events of one transaction (Rule 1): bounds the cost of one entry for every replica. */
  readonly eventsMax: number
  /** Coin of one tap, times 10^10. */
  readonly tapMax: bigint
  /** Whether a participant's entries add at most `stateBytesPerDay` of the genesis to the state in a day (D-94). */
  readonly isGrowthBounded: boolean
}

const FIRST: Rules = {
  version: 3,
  commandsMax: 100,
  contractsNamedMax: 200,
  disclosedMax: 100,
  submittersMax: 200,
  eventsMax: 1000,
  tapMax: ISSUED_AMOUNT_MAX,
  isGrowthBounded: false,
}

/** The versions of the rules that this software knows, in ascending order. */
export const KNOWN_RULES: readonly [Rules, ...Rules[]] = [
  FIRST,
  { ...FIRST, version: 4, isGrowthBounded: true },
]

/** The newest rules of this software, with which new networks begin. */
export const NEWEST_RULES: Rules = KNOWN_RULES.at(-1) ?? KNOWN_RULES[0]

/** The rules of a version; undefined if this software does not know it. */
export function rulesOf(version: number): Rules | undefined {
  return KNOWN_RULES.find((rules) => rules.version === version)
}

/** Why this software stops: the version in force, and the newest version that it knows. */
export function unknownVersion(version: number): ScanError {
  return new ScanError(
    'SOFTWARE_OUTDATED',
    `Version ${version} of the protocol is now in force, and this software knows versions up to ${NEWEST_RULES.version}. ` +
      `Install a release that knows version ${version}; it continues at this offset.`,
    { details: { version, newest_known: NEWEST_RULES.version } },
  )
}
