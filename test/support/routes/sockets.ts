/** Cases of the WebSockets: a first frame that an element answers, and one that an error answers. */

import { once } from 'node:events'
import type { socketRoutes } from '@quorumscan/api'
import { WebSocket } from 'undici'
import type { World } from './world.ts'

type SocketCase = {
  readonly success: (world: World) => object | Promise<object>
  readonly error: (world: World) => object | Promise<object>
}

const formatOf = ({ user }: World) => ({ filtersByParty: { [user.party]: {} }, verbose: false })
const updateFormatOf = (world: World) => ({
  includeTransactions: {
    eventFormat: formatOf(world),
    transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA',
  },
})

/** Makes a tap, and returns an offset before it. */
async function beforeTap(world: World): Promise<number> {
  const before = await world.ledgerEnd()
  await world.user.client.POST('/v0/wallet/tap', { body: { amount: '1.0' } })
  return before
}

const completions: SocketCase = {
  success: async (world) => ({
    beginExclusive: await beforeTap(world),
    parties: [world.user.party],
  }),
  error: () => ({ beginExclusive: -1, parties: [] }),
}

const updates: SocketCase = {
  success: async (world) => ({
    beginExclusive: await beforeTap(world),
    updateFormat: updateFormatOf(world),
  }),
  error: (world) => ({ beginExclusive: -1, updateFormat: updateFormatOf(world) }),
}

export const socketCases = {
  streamUpdates: updates,
  streamFlats: updates,
  streamTrees: {
    success: async (world) => ({
      beginExclusive: await beforeTap(world),
      filter: { filtersByParty: { [world.user.party]: {} } },
    }),
    error: (world) => ({ beginExclusive: 0, updateFormat: updateFormatOf(world) }),
  },
  streamCompletions: completions,
  streamCommandCompletions: completions,
  streamActiveContracts: {
    success: async (world) => ({
      activeAtOffset: await world.ledgerEnd(),
      eventFormat: formatOf(world),
    }),
    error: (world) => ({
      activeAtOffset: Number.MAX_SAFE_INTEGER,
      eventFormat: formatOf(world),
    }),
  },
  streamActivities: { success: () => ({}), error: () => [] },
} satisfies { readonly [Id in keyof typeof socketRoutes]: SocketCase }

/** Sends a frame, and returns the first frame of the server. */
export async function firstFrame(world: World, path: string, request: object): Promise<unknown> {
  const socket = new WebSocket(`${world.urls.validator.replace('http', 'ws')}${path}`, {
    headers: { authorization: `Bearer ${world.user.token}` },
  })
  try {
    await once(socket, 'open')
    socket.send(JSON.stringify(request))
    const [event] = await once(socket, 'message')
    return JSON.parse(String((event as { data: unknown }).data))
  } finally {
    socket.close()
  }
}
