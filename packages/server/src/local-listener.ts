/**
 * The listener of servers on an address of this machine, such as the control plane. It bounds connections like every other
 * listener. It has no rates and sheds no load: its callers are programs of the operator.
 */
import type { RequestListener, Server } from 'node:http'
import { type Clock, createSystemClock } from '@quorumscan/base'
import { PLAIN_CONNECTIONS } from '@quorumscan/config'
import { createClientAddresses } from './client-address.ts'
import { defaultLimits, type HttpLimits } from './limits.ts'
import { createListener } from './listener.ts'

export function createLocalListener(
  listener: RequestListener,
  options: { readonly limits?: Partial<HttpLimits>; readonly clock?: Clock },
): Server {
  return createListener(
    {
      limits: { ...defaultLimits, ...options.limits },
      clock: options.clock ?? createSystemClock(),
      clientAddresses: createClientAddresses(PLAIN_CONNECTIONS.proxies),
      clients: { admitHandshake: () => true },
      certificate: null,
      noteConnection: () => {},
      park: () => false,
    },
    listener,
  )
}
