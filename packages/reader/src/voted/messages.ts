/** What goes into the reader's state machine, and what comes out of it: values, for `step.ts`. */

import type { NodeReply } from '../reader-options.ts'
import type { TransportReply } from '../source/transport.ts'
import type { Fork } from '../votes/histories.ts'
import type { Decided, Disputed, Insufficient, Lagging, VoteGroup } from '../votes/outcome.ts'
import type { Vote } from '../votes/tally.ts'
import type { Channel, NodeRequest } from './ask.ts'
import type { Read } from './item.ts'

export type Event =
  /** Questions of one moment, with the reads of each; `floor` as it was stored. */
  | {
      readonly kind: 'asked'
      readonly questions: readonly (readonly Read[])[]
      readonly floor: number
    }
  /** Nobody waits for these reads any more. */
  | { readonly kind: 'cancelled'; readonly reads: readonly number[] }
  /** A node answered what was sent. */
  | { readonly kind: 'reply'; readonly flight: number; readonly reply: TransportReply }
  /** Its connection failed; `reason` where more is known than that. */
  | { readonly kind: 'failed'; readonly flight: number; readonly reason?: string }
  /** The own replica's history at an offset; null where it has none. */
  | { readonly kind: 'compared'; readonly offset: number; readonly historyHash: string | null }
  /** A node is somewhere else than it was. */
  | {
      readonly kind: 'located'
      readonly name: string
      readonly url: string
      readonly sequence: number
    }
  /** All that could tell addresses at first have done so. */
  | { readonly kind: 'learned' }
  /** Time passed: it is, or is past, `State.tickAtMs`. */
  | { readonly kind: 'tick' }

export type Effect =
  /** To be answered by `reply` or `failed`. */
  | {
      readonly kind: 'send'
      readonly flight: number
      readonly url: string
      readonly channel: Channel
      readonly request: NodeRequest
    }
  /** The answer is not waited for any more. */
  | { readonly kind: 'drop'; readonly flight: number }
  /** What it asks was decided: an answer of more bytes has lost, and is not worth megabytes. */
  | { readonly kind: 'shorten'; readonly flight: number; readonly bytesWanted: number }
  /** To be answered by `compared`. */
  | { readonly kind: 'compare'; readonly offset: number }
  | { readonly kind: 'decide'; readonly read: number; readonly outcome: Decided | Undecided }
  /** Too much waits: neither this read nor the others of its question are decided. */
  | { readonly kind: 'refuse'; readonly read: number }
  /** The floor is now there; it is to be kept over restarts. */
  | { readonly kind: 'keep'; readonly floor: number }
  /** Addresses may be asked for; uneasy, as some do not answer. */
  | { readonly kind: 'learn'; readonly isUneasy: boolean }
  | { readonly kind: 'fork'; readonly fork: Fork }
  /** How a request ended, for measurements. */
  | { readonly kind: 'heard'; readonly reply: NodeReply }

/** As the outcome that the caller gets, with the answers themselves in the place of their digests. */
export type Undecided =
  | Insufficient
  | Lagging
  | (Omit<Disputed, 'groups'> & { readonly groups: readonly Undigested[] })
export type Undigested = Omit<VoteGroup, 'answerDigest'> & Pick<Vote, 'answer'>
