/** Where peers may be: where the operator of this process configured them, and where the ledger has them by now. */
import { singleFlight } from '@quorumscan/base'
import { isAuthenticated, parseNodeUrl } from '@quorumscan/reader'

/** A node, as the operator of this process names it. */
export type Peer = { readonly name: string; readonly url: string }

export type PeerPlace = Pick<Peer, 'url'> & { readonly isPublicOnly: boolean }

/** @param allowPrivate - Whether a peer with a public address may have moved to a private one. */
export function createPeerAddresses(allowPrivate: boolean) {
  const urlByPeer = new Map<string, string>()
  let read: () => Promise<readonly Peer[]> = async () => []
  const load = singleFlight(async () => {
    for (const { name, url } of await read()) urlByPeer.set(name, url)
  })
  return {
    follow(newRead: typeof read): void {
      read = newRead
    },
    /** Does not wait: the Redis of this process may hang. */
    refresh(): void {
      load().catch(() => {}) // Read again in the next round.
    },
    /** The likeliest place first. */
    placesOf({ name, url }: Peer): readonly PeerPlace[] {
      const configured = { url, isPublicOnly: false } // Peers are configured by the operator.
      const moved = urlByPeer.get(name)
      if (moved === undefined || moved === url) return [configured]
      // Of a private network peers move within it. Others could have this process ask what only it can reach.
      const mayBePrivate = allowPrivate || parseNodeUrl(url, false) === undefined
      const isUsable = parseNodeUrl(moved, mayBePrivate) !== undefined && isAuthenticated(moved)
      return isUsable ? [{ url: moved, isPublicOnly: !mayBePrivate }, configured] : [configured]
    },
  }
}
