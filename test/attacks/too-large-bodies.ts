import type { Attack } from './attack.ts'
import { postRoutes } from './post-routes.ts'
import { chunked, exchange, post } from './wire.ts'

const MIB = 1024 * 1024

/** A client with a mistake rather than an attack: the refusal must reach it. */
export const tooLargeBodies: Attack = {
  name: 'too-large-bodies',
  claim:
    'A client that sends a body above the limit, announced or in chunks, from one byte too much to many times as ' +
    'much, and reads only when all is sent, reads a 413. No connection is reset while sending.',
  async run(target) {
    const rounds = target.isLong ? 20 : 3
    const figures: Record<string, number | string> = {}
    let failures = 0
    // Without one, the ledger interface reads nothing of this size.
    const authorization = `authorization: Bearer ${await target.cluster.token()}`
    for (const { name, url, path, bodyBytesMax } of postRoutes(target)) {
      for (const bytes of [bodyBytesMax + 1, bodyBytesMax + MIB, 20 * MIB]) {
        const body = ' '.repeat(bytes)
        const requests = {
          announced: [post(path, authorization, `content-length: ${bytes}`), body],
          'in chunks': [
            post(path, authorization, 'transfer-encoding: chunked'),
            chunked(body, 8 * 1024),
          ],
        }
        for (const [how, request] of Object.entries(requests)) {
          // The last piece of a body in chunks is cut to a whole number of them.
          if (how === 'in chunks' && bytes === bodyBytesMax + 1) continue
          for (let round = 0; round < rounds; round++) {
            const { status, error } = await exchange(url, ...request)
            if (status === 413 && error === null) continue
            failures++
            figures[`${name}, ${bytes} bytes ${how}`] = `${status ?? 'no answer'} ${error ?? ''}`
          }
        }
      }
    }
    return { holds: failures === 0, figures: { ...figures, 'not a readable 413': failures } }
  },
}
