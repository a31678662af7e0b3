/**
 * The page's client of the control plane, over the same router as the command line. It imports only types of the project,
 * so no code of a server gets into the page.
 */
import {
  createTRPCClient,
  createWSClient,
  httpLink,
  splitLink,
  TRPCClientError,
  wsLink,
} from '@trpc/client'
import type { AppRouter } from 'quorumscan'

export type Api = ReturnType<typeof createTRPCClient<AppRouter>>
type Answer<Query extends { query: (...args: never[]) => Promise<unknown> }> = Awaited<
  ReturnType<Query['query']>
>

/** The cluster as it is shown. */
export type Status = Answer<Api['cluster']['status']>
export type NodeStatus = Status['nodes'][number]
export type NodeDetails = Answer<Api['nodes']['view']>
export type Fault = Status['faults'][number]
export type FaultSpec = Parameters<Api['faults']['inject']['mutate']>[0]['fault']
export type LiveEvent = Answer<Api['cluster']['events']>[number]
export type Sample = Answer<Api['lookups']['samples']>[number]
export type ServiceJobs = Answer<Api['jobs']['list']>[number]
export type Registration = Answer<Api['registrations']['list']>[number]
export type ChaosRun = Answer<Api['chaos']['list']>[number]
export type ChaosSummary = NonNullable<ChaosRun['summary']>
export type Voted = Answer<Api['lookups']['votes']>

/** The token is in the fragment, which no request carries. */
export function tokenOf(hash: string): string {
  return new URLSearchParams(hash.replace(/^#/, '')).get('token') ?? ''
}

/** Calls go over HTTP with the token as a bearer; subscriptions over one socket whose first message has it. */
export function connect(
  token: string,
  onConnection: (isOpen: boolean) => void,
): { readonly api: Api; readonly close: () => void } {
  const { host, origin } = window.location
  const socket = createWSClient({
    url: `ws://${host}/trpc`,
    connectionParams: { token },
    onOpen: () => onConnection(true),
    onClose: () => onConnection(false),
  })
  const api = createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: (operation) => operation.type === 'subscription',
        true: wsLink({ client: socket }),
        false: httpLink({ url: `${origin}/trpc`, headers: { authorization: `Bearer ${token}` } }),
      }),
    ],
  })
  return { api, close: () => void socket.close() }
}

/** Why a call failed, as text. */
export function reasonOf(error: unknown): string {
  if (error instanceof TRPCClientError && error.data == null) {
    // Refused before the router: the answer is not from tRPC.
    const { status } = (error.meta?.['response'] ?? {}) as { readonly status?: number }
    return status === 401
      ? 'the token of this address is not that of the cluster'
      : 'the control plane does not answer'
  }
  return error instanceof Error ? error.message : String(error)
}
