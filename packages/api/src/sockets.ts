/** Every WebSocket as data: its path, its first frame, and the frames of the server. */
import type { TSchema } from 'typebox'
import { ActivitiesNews, ActivitiesStreamRequest } from './schemas/activities.ts'
import { ErrorAnswer, LedgerErrorAnswer } from './schemas/errors.ts'
import {
  CommandCompletionsRequest,
  CompletionsElement,
  CompletionsRequest,
} from './schemas/ledger/commands.ts'
import { ActiveContractsElement, GetActiveContractsRequest } from './schemas/ledger/state.ts'
import {
  GetUpdatesElement,
  GetUpdatesRequest,
  GetUpdateTreesElement,
  GetUpdateTreesRequest,
} from './schemas/ledger/updates.ts'

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

const ledger = { error: LedgerErrorAnswer, auth: 'user' } as const

const TOKEN =
  'The token is in `Authorization`, or in a sub-protocol `jwt.token.<JWT>` next to `daml.ws.auth`. It is checked before the upgrade. ' +
  'The first frame, of at most 1 MiB, must arrive within 10 s.'

export const socketRoutes = {
  streamUpdates: {
    ...ledger,
    path: '/v2/updates',
    summary: 'Updates after an offset, as they happen.',
    description: `Without \`endInclusive\` the stream does not end. ${TOKEN}`,
    request: GetUpdatesRequest,
    element: GetUpdatesElement,
  },
  streamFlats: {
    ...ledger,
    path: '/v2/updates/flats',
    summary: 'As `/v2/updates`, under its former name.',
    description: `Without \`endInclusive\` the stream does not end. ${TOKEN}`,
    request: GetUpdatesRequest,
    element: GetUpdatesElement,
  },
  streamTrees: {
    ...ledger,
    path: '/v2/updates/trees',
    summary: 'Transactions as trees, as they happen, for older clients.',
    description: `Without \`endInclusive\` the stream does not end. ${TOKEN}`,
    request: GetUpdateTreesRequest,
    element: GetUpdateTreesElement,
  },
  streamCommandCompletions: {
    ...ledger,
    path: '/v2/commands/command-completions',
    summary: 'The outcomes of the submissions of parties, of any user.',
    description: `The stream does not end. ${TOKEN}`,
    request: CommandCompletionsRequest,
    element: CompletionsElement,
  },
  streamCompletions: {
    ...ledger,
    path: '/v2/commands/completions',
    summary: 'The outcomes of the submissions of a user.',
    description: `The stream does not end. ${TOKEN}`,
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
    summary: 'Reports new rows in the history of coin.',
    description:
      'The first frame must arrive within 10 s. The server sends a frame at once, after each change of the ledger, and after 15 s at the latest. Frames prove nothing: read the rows over HTTP, with proofs, at the offset of the frame. ' +
      'A frame costs a unit. At most 64 such sockets of one client address, 1024 of all clients.',
    request: ActivitiesStreamRequest,
    element: ActivitiesNews,
    error: ErrorAnswer,
    auth: 'none',
  },
} as const satisfies Readonly<Record<string, SocketDef>>

/** How each socket below a prefix is opened: a missing one does not compile. */
export type Openers<Prefix extends string, Open> = {
  readonly [Id in keyof typeof socketRoutes as (typeof socketRoutes)[Id]['path'] extends `${Prefix}${string}`
    ? Id
    : never]: Open
}
