/**
 * Checks periodically that the log is as the synchronizer signed it. The first pass reads the whole log at the start, later
 * passes read it slowly. Without the check, damage to old groups is found only when a replica is rebuilt from them.
 */
import { type Clock, held } from '@quorumscan/base'
import { type Logger, type Metrics, repeat } from '@quorumscan/runtime'
import { LogUnavailableError } from './log-errors.ts'
import {
  DAMAGE_ADVICE,
  describeDamage,
  type LogDamage,
  type VerifyLogOptions,
  verifyLog,
} from './verify.ts'

/** Share of one core in the first pass, in which the synchronizer orders entries, too. */
const SHARE_FIRST = 0.25
/** Share of one core in later passes. */
const SHARE_LATER = 0.02
/** The pause between two rounds: a short log is read within milliseconds. */
const PASS_PAUSE_MS = 60_000
/** A longer list does not help an operator. */
const DAMAGES_MAX = 100

/** Begins at once, and continues until it is disposed of. Each damage is one line of the log file. */
export function watchChain(options: {
  readonly log: Pick<VerifyLogOptions, 'redis' | 'genesis'>
  readonly clock: Clock
  readonly logger: Pick<Logger, 'error'>
  readonly metrics: Pick<Metrics, 'sampled'>
}) {
  const { clock, logger } = options
  /** Damages by their first offset, in the order in which they were found. */
  const known = held(
    { owner: 'log', name: 'damaged parts of the log', kind: 'state', bound: DAMAGES_MAX },
    new Map<number, LogDamage>(),
  )

  options.metrics.sampled('gauge', {
    name: 'log_damaged_parts',
    help: `Parts of the log that were found damaged, at most ${DAMAGES_MAX}.`,
    read: () => [[[], known.size]],
  })

  const onDamage = (damage: LogDamage) => {
    if (known.has(damage.from) || known.size >= DAMAGES_MAX) return
    known.set(damage.from, damage)
    logger.error(damage, describeDamage(damage))
  }
  let share = SHARE_FIRST
  const round = async (signal: AbortSignal) => {
    const pace = { clock, share }
    const { damages } = await verifyLog({ ...options.log, pace, onDamage, signal })
    // A part that is whole again, such as after a restart with repaired files, is removed.
    known.clear()
    for (const damage of damages.slice(0, DAMAGES_MAX)) known.set(damage.from, damage)
    share = SHARE_LATER
  }
  const checking = repeat(round, {
    clock,
    everyMs: PASS_PAUSE_MS,
    onError(error) {
      // The writer reports that Redis is down.
      if (!(error instanceof LogUnavailableError))
        logger.error({ err: error }, 'the log could not be checked')
    },
  })

  return {
    /** The damage and what the operator can do; null while no damage is known. */
    detail(): string | null {
      const [first] = known.values()
      if (first === undefined) return null
      const others = known.size - 1
      const parts = others === 1 ? 'part is' : 'parts are'
      const more = others === 0 ? '' : ` ${others} other ${parts} damaged as well.`
      return `${describeDamage(first)}${more} ${DAMAGE_ADVICE}`
    },
    [Symbol.asyncDispose]: checking[Symbol.asyncDispose],
  }
}
