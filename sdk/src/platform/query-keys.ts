/** Keys in the cache of TanStack Query. */
import { systemClock } from './clock.ts'

/** The first part of all keys in the cache. */
export const KEY = 'quorumscan'

/** A number for each source, so that two networks in one page do not share answers. */
const numbers = new WeakMap<object, number>()
/** Differs from the numbers of earlier loads of the page, whose cache may have been stored. */
let count = systemClock.nowMicros()

/** The part of a key that stands for a source of answers, unless the application names it by a `scope`. */
export function numberOf(source: object): number {
  const number = numbers.get(source) ?? ++count
  numbers.set(source, number)
  return number
}
