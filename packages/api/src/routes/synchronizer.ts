/** The embedded synchronizer: the ordering port over HTTP, for validators and scan nodes. */
import { Type } from 'typebox'
import { defineRoutes, route } from '../route-def.ts'
import { EvidenceAnswer } from '../schemas/certified.ts'
import * as m from '../schemas/members.ts'
import { healthRoutes } from './health.ts'

const ordering = { tag: 'ordering', errors: [], auth: 'none', cost: 1 } as const

/** A method, some numbers, a signature. */
const ENGINE_READ_BYTES_MAX = 4096

/** Also of scan nodes, which pass it on. */
export const engineRead = route('POST /v0/engine-reads', ordering, {
  summary: 'Tells another member what it needs to begin anew: of members that order together.',
  description:
    'Signed by engines whose ids are known, in both directions. It only reads: which ' +
    'blocks the engine keeps, and their signed headers. Where one synchronizer orders alone, it is 404.',
  body: 'bytes',
  bodyBytesMax: ENGINE_READ_BYTES_MAX,
  response: 'bytes',
  // There is no such route where one synchronizer orders alone.
  errors: ['PERMISSION_DENIED', 'NOT_READY', 'DEPENDENCY_UNAVAILABLE', 'ROUTE_NOT_FOUND'],
})

/** Rule 1: the largest log entry. */
const SUBMISSION_BYTES_MAX = 256 * 1024

export const synchronizerRoutes = defineRoutes({
  ...healthRoutes,
  submitEntry: route('POST /v0/submit', ordering, {
    summary: 'Offers an entry to the log; the answer comes when it is durable.',
    body: 'bytes',
    bodyBytesMax: SUBMISSION_BYTES_MAX,
    response: Type.Object({
      accepted: Type.Literal(true, { description: 'It is in the log.' }),
    }),
    errors: [
      'LIMIT_EXCEEDED',
      'DEPENDENCY_UNAVAILABLE',
      'NOT_READY',
      'LOG_FULL',
      'CLOCK_OFF',
      'LOG_REGRESSED',
      'ORDERING_HALTED',
      'SUBMISSION_EXPIRED',
    ],
  }),
  listOrderingEvidence: route('GET /v0/evidence', ordering, {
    summary: 'What proves that a member voted for two blocks in one step.',
    description:
      'Of members that order together: the first and last 16 of each, as they stand in blocks; each can be verified offline.',
    response: EvidenceAnswer,
  }),
  readEngine: engineRead,
  followLog: route('GET /v0/log', ordering, {
    summary:
      'Streams the log from an offset on, and what comes later; for peers, who show a token or a certificate.',
    description:
      'Frames, one behind the other, integers big-endian: u64 offset, u32 length of the group, u8 length of its ' +
      'signature, signature, group. The first frame is of the group that holds `from`. A frame without a group ' +
      'says only how far the log has come: the first of all, and one whenever 2 s passed without another. The ' +
      'stream never ends by itself. Of one peer the fifth stream ends the oldest.',
    query: Type.Object({
      from: m.about(
        Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
        'The first offset that is wanted.',
      ),
    }),
    response: 'bytes',
    errors: ['OFFSET_PRUNED', 'DEPENDENCY_UNAVAILABLE', 'NOT_READY'],
    auth: 'peer',
  }),
})
