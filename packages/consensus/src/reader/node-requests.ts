/** Requests to nodes for items of the reader, and their answers cut into votes. */
import { batchRequest, cutBatchAnswer, encodeBatch } from '../answers/batch.ts'
import { decodeText, type Reply } from '../answers/reply.ts'
import { cutSignedBatch } from '../answers/signed-batch.ts'
import { bodiesEqual } from '../encoding/bodies-equal.ts'
import type { Link, Work } from '../nodes/link.ts'
import type { Lookup } from '../statements/requests.ts'
import type { HistoryPoint } from '../statements/statements.ts'
import type { Vote } from '../votes/tally.ts'
import { type Item, STANDING } from './item.ts'

/** Votes for the items of a work, in order, with a signature each where they were asked for. */
export type Votes = {
  readonly votes: readonly Vote[]
  readonly signatures: readonly string[] | null
}

export type Receiver = (input: {
  readonly work: ItemsWork
  readonly link: Link
  readonly reply: Reply
}) => void

export type ItemsWork = Work & {
  readonly items: readonly Item[]
  readonly pin: number | null
  /** Whether this node was asked to sign, when it was asked last. */
  isSigned(link: Link): boolean
  /**
   * The votes in an answer, as bytes; undefined if it is not of the form of one. Equal answers of several
   * nodes are cut once, and give the same Vote objects.
   */
  votesOf(reply: Reply & { readonly kind: 'answer' }, isSigned: boolean): Votes | undefined
}

export type WorkOptions = {
  readonly items: readonly Item[]
  /** The round of the items that this belongs to. */
  readonly pin: number | null
  /** What the nodes are asked for: the pin. */
  readonly atOffset: number | null
  readonly sign: boolean
  /** Whether a node has to sign although nobody asked (D-42). */
  readonly mustSign: (link: Link) => boolean
  readonly receive: Receiver
}

/** A batch of lookups at one offset; the same bytes go to every node. */
export function createBatchWork(options: WorkOptions): ItemsWork {
  const lookups = options.items.map(
    (item) => (item.asked as { readonly lookup: Lookup }).lookup, // The caller puts lookups here only.
  )
  const bodies = new Map<boolean, Uint8Array<ArrayBuffer>>()
  const bodyFor = (sign: boolean): Uint8Array<ArrayBuffer> => {
    let body = bodies.get(sign)
    if (body === undefined) {
      body = encodeBatch(lookups, { atOffset: options.atOffset, sign })
      bodies.set(sign, body)
    }
    return body
  }
  return createWork(options, {
    channel: 'lookup',
    request: (sign) => batchRequest(bodyFor(sign), lookups.length),
    cut(reply, isSigned) {
      const text = decodeText(reply.body)
      const signed = isSigned ? cutSignedBatch(text, lookups.length) : null
      const answers = signed === null ? cutBatchAnswer(text, lookups.length) : signed?.answers
      const votes = answers?.map((answer) => ({ ...reply.point, answer }))
      return votes && { votes, signatures: signed?.signatures ?? null }
    },
  })
}

/** An empty batch at no offset: it only asks for heads (D-37). */
export function createProbe(): Work {
  const body = encodeBatch([], { atOffset: null, sign: false })
  return {
    channel: 'lookup',
    atOffset: null,
    itemCount: 0,
    request: () => batchRequest(body, 0),
    isWanted: () => true,
    receive: () => {}, // Whoever answers has told its head; that is all.
  }
}

/** A request for items; how it is written and its answer read is the operation's. */
export function createWork(
  options: WorkOptions,
  operation: {
    readonly channel: Work['channel']
    request(sign: boolean): ReturnType<Work['request']>
    cut(reply: Reply & { readonly kind: 'answer' }, isSigned: boolean): Votes | undefined
  },
): ItemsWork {
  const { items, pin, atOffset } = options
  // Remembered, as the node's URL, and with it the need, may change while the request travels.
  const signedByLink: boolean[] = []
  const isSigned = (link: Link): boolean => signedByLink[link.index] ?? true
  const forwarded = items.find((item) => item.headers !== undefined)?.headers
  const known: { body: Uint8Array; point: HistoryPoint; votes: Votes | undefined }[] = []
  const work: ItemsWork = {
    channel: operation.channel,
    atOffset,
    itemCount: items.length,
    items,
    pin,
    isSigned,
    request(link) {
      for (const item of items) {
        const round = roundAt(item, pin)
        if (round?.standings[link.index] === STANDING.none)
          round.standings[link.index] = STANDING.asked
      }
      const sign = options.sign || options.mustSign(link)
      signedByLink[link.index] = sign
      const request = operation.request(sign)
      return forwarded === undefined
        ? request
        : { ...request, headers: { ...forwarded, ...request.headers } }
    },
    isWanted: (link) => items.some((item) => isVoteWanted(item, pin, link)),
    receive: (link, reply) => options.receive({ work, link, reply }),
    votesOf(reply, signed) {
      const { point, body } = reply
      const same = known.find(
        (other) =>
          other.point.offset === point.offset &&
          other.point.recordTime === point.recordTime &&
          other.point.historyHash === point.historyHash &&
          bodiesEqual(other.body, body),
      )
      // Answers with signatures differ between nodes, so that keeping them would find nothing.
      if (same !== undefined && !signed) return same.votes
      const votes = operation.cut(reply, signed)
      if (!signed) known.push({ body, point, votes })
      return votes
    },
  }
  return work
}

/** Whether the node's vote could still change the item. */
export function isVoteWanted(item: Item, pin: number | null, link: Link): boolean {
  const standing = item.isDone ? undefined : roundAt(item, pin)?.standings[link.index]
  return standing === STANDING.none || standing === STANDING.asked
}

export function roundAt(item: Item, pin: number | null): Item['rounds'][number] | undefined {
  return item.rounds.findLast((round) => round.pin === pin)
}
