import type { IncomingMessage, ServerResponse } from 'node:http'
import { serve, until } from '@quorumscan/testkit'

/** Starts a server at the address of a killed process, as soon as the port is free. */
export async function standIn(
  url: string,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<AsyncDisposable> {
  const at = Number(new URL(url).port)
  return until(`port ${at} to be free`, () =>
    serve((request, response) => void answer(request, response).catch(() => response.destroy()), {
      at,
    }).catch(() => undefined),
  )
}
