/** For tests: a client of the stream of activities. */
import { once } from 'node:events'
import { WebSocket } from 'ws'

export type PageFrame = {
  readonly answer: { readonly activities: readonly { readonly event_id: string }[] }
  readonly receipt: unknown
  readonly headers: Readonly<Record<string, string>>
}

export type PageSocket = AsyncDisposable & {
  /** All that came, in order, parsed. */
  readonly frames: readonly PageFrame[]
  /** event_ids of all rows that came. */
  ids(): string[]
  readonly closed: Promise<number>
}

export async function openPages(url: string, request: object | string): Promise<PageSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v0/scan-proxy/activities`)
  await once(socket, 'open')
  const frames: PageFrame[] = []
  socket.on('message', (data) => frames.push(JSON.parse(String(data))))
  const closed = once(socket, 'close').then(([code]) => Number(code))
  socket.send(typeof request === 'string' ? request : JSON.stringify(request))
  return {
    frames,
    closed,
    ids: () => frames.flatMap(({ answer }) => answer.activities.map((row) => row.event_id)),
    async [Symbol.asyncDispose]() {
      socket.close()
      await closed
    },
  }
}
