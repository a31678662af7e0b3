/** Every WebSocket as data: where it is, what its first frame asks, what the frames of the server hold. */
import type { TSchema } from 'typebox'
import { ActivitiesNews, ActivitiesStreamRequest } from './schemas/activities.ts'
import { ErrorAnswer, LedgerErrorAnswer } from './schemas/errors.ts'
import { CompletionsElement, CompletionsRequest } from './schemas/ledger/commands.ts'
import { ActiveContractsElement, GetActiveContractsRequest } from './schemas/ledger/state.ts'
import { GetUpdatesElement, GetUpdatesRequest } from './schemas/ledger/updates.ts'

export type SocketDef = {
  readonly path: `/v${0 | 2}/${string}`
  readonly summary: string
  readonly description: string
  /** The first frame of the client; there is no other. */
  readonly request: TSchema
  /** Each frame of the server, but for an error, which is its last. */
  readonly element: TSchema
  readonly error: TSchema
  readonly auth: 'none' | 'user'
}

const ledger = {
  error: LedgerErrorAnswer,
  auth: 'user',
} as const

const TOKEN =
  'The token comes in `Authorization`, or in a sub-protocol `jwt.token.<JWT>` beside `daml.ws.auth`, and is checked before there is a socket. ' +
  'The first frame, of at most 1 MiB, comes within 10 s.'

export const socketRoutes = {
  streamUpdates: {
    ...ledger,
    path: '/v2/updates',
    summary: 'Updates after an offset, as they happen.',
    description: `Without \`endInclusive\` the stream goes on. ${TOKEN}`,
    request: GetUpdatesRequest,
    element: GetUpdatesElement,
  },
  streamCompletions: {
    ...ledger,
    path: '/v2/commands/completions',
    summary: 'What becomes of the submissions of a user.',
    description: `The stream goes on. ${TOKEN}`,
    request: CompletionsRequest,
    element: CompletionsElement,
  },
  streamActiveContracts: {
    ...ledger,
    path: '/v2/state/active-contracts',
    summary: 'Contracts that are active at an offset.',
    description: `The stream ends with the last of them. ${TOKEN}`,
    request: GetActiveContractsRequest,
    element: ActiveContractsElement,
  },
  streamActivities: {
    path: '/v0/scan-proxy/activities',
    summary: 'When there may be more rows in the history of coin.',
    description:
      'The first frame comes within 10 s. A frame follows at once, whenever the ledger has changed, and after 15 s at the latest. It proves nothing: the rows are read over HTTP, with proofs, at the offset that it tells. ' +
      'A frame costs a unit. Of one client address at most 256 such sockets, of all clients 1024.',
    request: ActivitiesStreamRequest,
    element: ActivitiesNews,
    error: ErrorAnswer,
    auth: 'none',
  },
} as const satisfies Readonly<Record<string, SocketDef>>

/** How each socket below a prefix is opened: one that is missing does not compile. */
export type Openers<Prefix extends string, Open> = {
  readonly [Id in keyof typeof socketRoutes as (typeof socketRoutes)[Id]['path'] extends `${Prefix}${string}`
    ? Id
    : never]: Open
}
