/**
 * The socket on which the engine reaches its application. Requests of a connection are answered in their order. Checks of
 * the mempool wait for all other requests: other members decide how many checks arrive, and block execution needs the
 * other requests. An error ends the engine, which must not continue with an application that cannot follow.
 */
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { held } from '@quorumscan/base'
import { isErrno, type Logger } from '@quorumscan/runtime'
import { Request, Response } from 'cosmjs-types/tendermint/abci/types'
import type { Application } from './application.ts'
import { createMessageReader, encodeMessage } from './messages.ts'

/** Consensus, mempool, queries, snapshots; twice, as an engine may come back before the old one is gone. */
const CONNECTIONS_MAX = 8
/** How a connection ends in the middle, by the other side or by this one. */
const LOST = ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']

/** Listens on a unix socket, which only the owner's processes reach. Disposing ends all connections. */
export async function serveAbci(options: {
  readonly socketPath: string
  readonly application: Pick<Application, 'answer'>
  readonly logger: Pick<Logger, 'error' | 'warn'>
}): Promise<AsyncDisposable> {
  const { application, logger } = options
  const sockets = held(
    { owner: 'cometbft', name: 'connections of the engine', kind: 'state', bound: CONNECTIONS_MAX },
    new Set<Socket>(),
  )
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => {}) // `converse` gets it, too.
    converse(socket, application).catch((error: unknown) => {
      // The engine or this server ended, as at each stop. Its supervisor reports an end that nobody asked for.
      if (LOST.some((code) => isErrno(error, code)))
        return logger.warn("the engine's ABCI connection was lost")
      // The engine sent an invalid request, which is answered with the reason.
      logger.error({ err: error }, "the engine's ABCI connection closed with an error")
      const message = error instanceof Error ? error.message : 'unknown'
      socket.end(encoded(Response.fromPartial({ exception: { error: message } })))
    })
  })
  server.maxConnections = CONNECTIONS_MAX
  // A process that was killed leaves the socket file.
  await rm(options.socketPath, { force: true })
  server.listen(options.socketPath)
  await once(server, 'listening')
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await server[Symbol.asyncDispose]()
    },
  }
}

async function converse(socket: Socket, application: Pick<Application, 'answer'>): Promise<void> {
  const read = createMessageReader()
  // The last answer must still reach the engine.
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    // Entries arrive in batches: one write for the replies to a chunk is cheaper than one for each.
    socket.cork()
    for (const message of read(chunk)) {
      const request = Request.decode(message)
      // Requests that have arrived on other connections are read first.
      if (request.checkTx !== undefined) await setImmediate()
      socket.write(encoded(await application.answer(request)))
    }
    socket.uncork()
    if (socket.writableNeedDrain) await once(socket, 'drain')
  }
}

function encoded(answer: Response): Uint8Array {
  return encodeMessage(Response.encode(answer).finish())
}
