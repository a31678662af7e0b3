/**
 * Checks that the log still is what was signed: reads it whole at the start, and slowly again and again. Otherwise
 * its old part is not read until a replica is rebuilt from it, and then it is too late.
 */
import type { Clock } from '@quorumscan/base'
import { type Logger, type Metrics, repeat } from '@quorumscan/runtime'
import { LogUnavailableError } from './log-errors.ts'
import {
  DAMAGE_ADVICE,
  describeDamage,
  type LogDamage,
  type VerifyLogOptions,
  verifyLog,
} from './verify.ts'

/** Of one core, at the start: entries are ordered meanwhile. */
const SHARE_FIRST = 0.25
/** Of one core, afterwards. */
const SHARE_LATER = 0.02
/** From the end of one round to the next: a short log is read within milliseconds. */
const REST_MS = 60_000
/** A log of which more is damaged is not described any better by a longer list. */
const DAMAGES_KEPT_MAX = 100

/** Begins at once, and continues until it is disposed of. Each damage is one line of the log file. */
export function watchChain(options: {
  readonly log: Pick<VerifyLogOptions, 'redis' | 'genesis'>
  readonly clock: Clock
  readonly logger: Pick<Logger, 'error'>
  readonly metrics: Pick<Metrics, 'sampled'>
}) {
  const { clock, logger } = options
  /** By where each begins, in the order in which they were found. */
  let known = new Map<number, LogDamage>()

  options.metrics.sampled('gauge', {
    name: 'log_damaged_parts',
    help: `Parts of the log that were found damaged, at most ${DAMAGES_KEPT_MAX}.`,
    read: () => [[[], known.size]],
  })

  const onDamage = (damage: LogDamage) => {
    if (known.has(damage.from) || known.size >= DAMAGES_KEPT_MAX) return
    known.set(damage.from, damage)
    logger.error(damage, describeDamage(damage))
  }
  let share = SHARE_FIRST
  const round = async (signal: AbortSignal) => {
    const pace = { clock, share }
    const { damages } = await verifyLog({ ...options.log, pace, onDamage, signal })
    // What was damaged and is whole again, such as after a restart on files that were mended, is forgotten.
    known = new Map(damages.slice(0, DAMAGES_KEPT_MAX).map((damage) => [damage.from, damage]))
    share = SHARE_LATER
  }
  const checking = repeat(round, {
    clock,
    everyMs: REST_MS,
    onError(error) {
      // A Redis that is away is the writer's to report.
      if (!(error instanceof LogUnavailableError))
        logger.error({ err: error }, 'the log could not be checked')
    },
  })

  return {
    /** What is damaged and what to do about it, for an operator; null while nothing is known to be. */
    detail(): string | null {
      const [first] = known.values()
      if (first === undefined) return null
      const others = known.size - 1
      const more =
        others === 0 ? '' : ` So ${others === 1 ? 'is one other part' : `are ${others} others`}.`
      return `${describeDamage(first)}${more} ${DAMAGE_ADVICE}`
    },
    [Symbol.asyncDispose]: checking[Symbol.asyncDispose],
  }
}
