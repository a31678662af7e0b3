/** What the rules of coin mean for those who pay for names. The genesis fixes these rules for ever. */

import { ceilDivide, formatAmount, formatDuration, parseAmount } from '@quorumscan/model'
import type { Genesis } from '@quorumscan/verifier'
import { memberSetOf } from '@quorumscan/verifier'

const MINUTE = 60_000_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A super-validator that waits longer for its first name cannot show its users that the network works. */
const FIRST_NAME_MICROS_MAX = HOUR
/** Fewer new names a day are used up by a handful of users. */
const NAMES_PER_DAY_MIN = 100
/** A person must read, decide and pay, and the payment must be confirmed. */
const REQUEST_LIFETIME_MICROS_MIN = 5 * MINUTE

type Rules = Pick<Genesis, 'coin' | 'devnet' | 'names' | 'nodes'>

/** What a network's rewards can pay for, by the rules that it starts with. */
export type CoinMeaning = {
  /** The price of a name in coin. */
  readonly namePrice: string
  /** The coin of all super-validators together in a day. */
  readonly coinPerDay: string
  /** The names that it pays for, rounded down. */
  readonly namesPerDay: number
  /** The names that can be kept, if all coin pays for renewals, rounded down. */
  readonly namesKept: number
  /** Until one super-validator can pay for its first name; null: never. */
  readonly firstNameMicros: number | null
}

/** Computes it; a stalled log closes fewer rounds, and creates less coin. */
export function meaningOfCoin(rules: Rules): CoinMeaning {
  const { coin, names } = rules
  const reward = parseAmount(coin.rewardPerRound) ?? 0n
  const price = ceilDivide(parseAmount(names.entryFeeUsd) ?? 0n, parseAmount(coin.priceUsd) ?? 1n)
  const perPeriod = (micros: number) =>
    (reward * BigInt(memberSetOf(rules).n) * BigInt(micros)) / BigInt(coin.tickMicros)
  const affordable = (micros: number) => Number(perPeriod(micros) / price)
  const rounds = reward === 0n ? null : (price + reward - 1n) / reward
  return {
    namePrice: formatAmount(price),
    coinPerDay: formatAmount(perPeriod(DAY)),
    namesPerDay: affordable(DAY),
    namesKept: affordable(names.entryLifetimeMicros),
    firstNameMicros: rounds === null ? null : Number(rounds) * coin.tickMicros,
  }
}

/** Sentences on what the rules mean, and warnings about those with which a network cannot be used. */
export function describeCoin(rules: Rules): {
  readonly meaning: readonly string[]
  readonly warnings: readonly string[]
} {
  const { coin, devnet, names, nodes } = rules
  const short =
    names.requestLifetimeMicros < REQUEST_LIFETIME_MICROS_MIN
      ? [
          `a request for a name ends after ${formatDuration(names.requestLifetimeMicros)}: a person can hardly pay in that time. ` +
            'Set names.requestLifetimeMicros, such as 1d',
        ]
      : []
  const { namePrice, coinPerDay, namesPerDay, namesKept, firstNameMicros } = meaningOfCoin(rules)
  if (devnet)
    return {
      meaning: [`A name costs ${plain(namePrice)} coin, which every user can create for free.`],
      warnings: short,
    }
  if (firstNameMicros === null)
    return {
      meaning: [`A name costs ${plain(namePrice)} coin, and no coin is ever created.`],
      warnings: [
        'with coin.rewardPerRound=0 no coin ever exists, so no name can be paid for. This cannot be changed later',
        ...short,
      ],
    }
  const isSlow = firstNameMicros > FIRST_NAME_MICROS_MAX || namesPerDay < NAMES_PER_DAY_MIN
  const first = formatDuration(firstNameMicros)
  return {
    meaning: [
      `A name costs ${plain(namePrice)} coin. A super-validator can pay for its first name ${first} after the start.`,
      `${nodes.length === 1 ? 'The super-validator earns' : `All ${nodes.length} super-validators together earn`} at most ${plain(coinPerDay)} coin a day, which pays for ${namesPerDay} names a day, or keeps ${namesKept} names renewed.`,
      'The rules of coin cannot be changed later; the price of a name in USD can.',
    ],
    warnings: [
      ...(isSlow
        ? [
            `the first name can be bought after ${first}, and all coin pays for ${namesPerDay} names a day: few users can have one. ` +
              `Set a higher coin.rewardPerRound (now ${plain(coin.rewardPerRound)}), a shorter coin.tickMicros (now ${formatDuration(coin.tickMicros)}) or a lower names.entryFeeUsd (now ${plain(names.entryFeeUsd)}), such as \`--set coin.rewardPerRound=1000\``,
          ]
        : []),
      ...short,
    ],
  }
}

/** Without the zeros at the end. */
function plain(amount: string): string {
  return amount.replace(/\.?0+$/, '')
}
