import type { Attack } from './attack.ts'
import { postRoutes } from './post-routes.ts'
import { inMib, MIB, spentOn } from './process.ts'
import { chunked, exchange, post } from './wire.ts'

const BYTES = 950_000
/** It costs 2 to 34 ms more than one in one piece; where pieces are collected, 560 to 1800 ms. */
const CPU_MS_MAX = 350
const MEMORY_BYTES_MAX = 100 * MIB
const AT_ONCE = 4

/** A megabyte that costs its sender six bytes a byte, and cost its reader 5 s and 375 MB. */
export const oneByteChunks: Attack = {
  name: 'one-byte-chunks',
  claim:
    'Any client may send a body in HTTP chunks of one byte, four at once. Each costs any process at most 350 ms ' +
    'more than the same body in one piece, all of them no memory, and each gets an answer that can be read.',
  async run(target) {
    const rounds = target.isLong ? 10 : 2
    const figures: Record<string, number | string> = {}
    let holds = true
    for (const { name, url, path } of postRoutes(target)) {
      const body = ' '.repeat(BYTES)
      const whole = [post(path, `content-length: ${BYTES}`), body]
      const pieces = [post(path, 'transfer-encoding: chunked'), chunked(body, 1)]
      let unreadable = 0
      const send = async (request: readonly string[]) => {
        for (let round = 0; round < rounds; round++) {
          const replies = await Promise.all(
            Array.from({ length: AT_ONCE }, () => exchange(url, ...request)),
          )
          for (const { status, error } of replies) {
            if (status !== null && status < 500 && error === null) continue
            unreadable++
            figures[`${name}: instead of an answer`] = `${status} ${error}`
          }
        }
      }
      // Code is compiled, and memory taken, once.
      await send(whole)
      await send(pieces)
      const usual = await spentOn(url, () => send(whole))
      const spent = await spentOn(url, () => send(pieces))
      const each = (cpuMs: number) => Math.round((10 * cpuMs) / (rounds * AT_ONCE)) / 10
      figures[`${name}: CPU of each, ms`] =
        `${each(spent.cpuMs)} (in one piece ${each(usual.cpuMs)})`
      figures[`${name}: memory, MiB`] = inMib(spent.residentBytes)
      figures[`${name}: answers that could not be read`] = unreadable
      holds &&=
        each(spent.cpuMs) <= each(usual.cpuMs) + CPU_MS_MAX &&
        spent.residentBytes <= MEMORY_BYTES_MAX &&
        unreadable === 0
    }
    return { holds, figures }
  },
}
