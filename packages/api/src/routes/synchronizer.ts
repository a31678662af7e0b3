/** The synchronizer: the ordering port over HTTP, for validators and scan nodes. */
import { Type } from 'typebox'
import { submittedCost } from '../cost.ts'
import { defineRoutes, route } from '../route-def.ts'
import { EvidenceAnswer } from '../schemas/certified.ts'
import * as m from '../schemas/members.ts'
import { healthRoutes } from './health.ts'

const ordering = { tag: 'ordering', errors: [], auth: 'none', cost: 1 } as const

/** A method, some numbers, a signature. */
const ENGINE_READ_BYTES_MAX = 4096

/** The route of engine reads. Scan nodes have it as well, and forward the request. */
export const engineRead = route('POST /v0/engine-reads', ordering, {
  summary: 'Answers another ordering member what its engine needs to start from a sync anchor.',
  description:
    'Request and answer are signed with the keys of the two engines. ' +
    'The route reads the blocks that the engine stores, and their signed headers. ' +
    'With the ordering driver `redis` it returns 404.',
  body: 'bytes',
  bodyBytesMax: ENGINE_READ_BYTES_MAX,
  response: 'bytes',
  errors: ['PERMISSION_DENIED', 'NOT_READY', 'DEPENDENCY_UNAVAILABLE', 'ROUTE_NOT_FOUND'],
})

/** Rule 1: the largest log entry. */
export const SUBMISSION_BYTES_MAX = 256 * 1024

export const synchronizerRoutes = defineRoutes({
  ...healthRoutes,
  submitEntry: route('POST /v0/submit', ordering, {
    summary: 'Submits an entry to the log; answers when it is durable.',
    description: 'A body of no bytes asks for a checkpoint, which advances record time.',
    body: 'bytes',
    bodyBytesMax: SUBMISSION_BYTES_MAX,
    response: Type.Object({ accepted: Type.Literal(true, { description: 'It is in the log.' }) }),
    cost: submittedCost,
    waits: true,
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
    summary: 'Proofs that a member voted for two blocks in one step.',
    description:
      'The first and last 16 of each ordering member, as recorded in blocks; each can be verified offline.',
    response: EvidenceAnswer,
  }),
  readEngine: engineRead,
  followLog: route('GET /v0/log', ordering, {
    summary: 'Streams the log from an offset on; for peers, with a token or a certificate.',
    description:
      'A sequence of frames, integers big-endian: u64 offset, u32 length of the group, u8 length of its signature, ' +
      'signature, group. The first group contains `from`. A frame without a group reports the newest offset: the first ' +
      'frame, and one after 2 s without another. The stream does not end. A fifth stream of a peer ends its oldest.',
    query: Type.Object({
      from: m.about(
        Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
        'The first offset.',
      ),
    }),
    response: 'bytes',
    errors: ['OFFSET_PRUNED', 'DEPENDENCY_UNAVAILABLE', 'NOT_READY'],
    auth: 'peer',
  }),
})
