/** For tests: a client of the stream of activities. */
import { once } from 'node:events'
import { WebSocket } from 'ws'

export type ActivitySocket = AsyncDisposable & {
  /** All received frames, in order, parsed. */
  readonly frames: readonly { readonly offset: number }[]
  readonly closed: Promise<number>
}

export async function openActivities(
  url: string,
  request: object | string,
): Promise<ActivitySocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v0/scan-proxy/activities`)
  await once(socket, 'open')
  const frames: { readonly offset: number }[] = []
  socket.on('message', (data) => frames.push(JSON.parse(String(data))))
  const closed = once(socket, 'close').then(([code]) => Number(code))
  socket.send(typeof request === 'string' ? request : JSON.stringify(request))
  return {
    frames,
    closed,
    async [Symbol.asyncDispose]() {
      socket.close()
      await closed
    },
  }
}
