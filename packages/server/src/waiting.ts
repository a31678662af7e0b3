import type { RouteDef } from '@quorumscan/api'
import type { ApiRequest } from './handler.ts'

/** The part of a request by which its handler waits. The signal is made when it is asked for: hardly any read waits. */
export type WaitingRequest = Pick<ApiRequest<RouteDef, never>, 'signal' | 'waiting'>

/** Other members of a request, with the way in which it waits. */
export function withWaitOf<Rest extends object>(
  request: WaitingRequest,
  rest: Rest,
): Rest & WaitingRequest {
  return {
    ...rest,
    get signal() {
      return request.signal
    },
    waiting: (wait) => request.waiting(wait),
  }
}
