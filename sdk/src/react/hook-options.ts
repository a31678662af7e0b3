/** Checks of the options of hooks. */
import {
  anything,
  isBoolean,
  isFunction,
  isMs,
  isObject,
  isText,
  onlyWith,
} from '../platform/options.ts'

/** Of `ReadOptions`. */
export const READ_CHECKS = {
  names: isObject,
  threshold: anything, // The reader judges it, which knows the members.
  maxAgeMs: isMs,
} as const

const NAMED = { enabled: isBoolean, staleTime: isMs, scope: isText } as const
const { staleTime: _, ...LIVE } = NAMED
/** Of `QueryOptions` without `select`. */
export const NAMED_QUERY = onlyWith(NAMED)
/** Of `QueryOptions`. */
export const READ_QUERY = onlyWith({ ...NAMED, select: isFunction })
/** Of `ShownQuery`. */
export const WATCHED_QUERY = onlyWith({ ...LIVE, select: isFunction })
