import type { Attack } from './attack.ts'
import { postRoutes } from './post-routes.ts'
import { inMib, MIB, spentOn } from './process.ts'
import { chunked, exchange, post } from './wire.ts'

const BYTES = 950_000
/** Chunks cost 2 to 34 ms more than one piece. A server that stores each chunk needs 560 to 1800 ms more. */
const CPU_MS_MAX = 350
const MEMORY_BYTES_MAX = 100 * MIB
const AT_ONCE = 4

/** A body in one-byte chunks is six times as long. A reader that stores each chunk needs 5 s and 375 MB. */
export const oneByteChunks: Attack = {
  name: 'one-byte-chunks',
  claim:
    'Any client may send a body in HTTP chunks of one byte, four at once. Each costs any process at most 350 ms ' +
    'more than the same body in one piece, memory does not grow, and each gets a readable answer.',
  async run(target) {
    const rounds = 10
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
      // Warm-up: code is compiled, and memory allocated.
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
