import type { Attack } from './attack.ts'
import { postRoutes } from './post-routes.ts'
import { chunked, exchange, post } from './wire.ts'

const MIB = 1024 * 1024

/** A client that sends too large a body by mistake must receive the refusal. */
export const tooLargeBodies: Attack = {
  name: 'too-large-bodies',
  claim:
    'A client that sends a body above the limit, with content-length or in chunks, by one byte or many times too large, ' +
    'and reads only after it has sent all, reads a 413. No connection is reset while sending.',
  async run(target) {
    const rounds = 20
    const figures: Record<string, number | string> = {}
    let failures = 0
    // Without a token, the ledger interface does not read a body of this size.
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
          // `chunked` drops an incomplete last chunk, so that this body would not exceed the limit.
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
