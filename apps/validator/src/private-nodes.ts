/** Scan nodes that the validator may not ask, because their addresses are private: for its operator, who can allow it. */
import { parseNodeUrl } from '@quorumscan/reader'

type Node = { readonly name: string; readonly url: string }

export type PrivateNodes = {
  /** A node has signed a private address, or a name that leads to one. */
  note(node: Node): void
  /** Which nodes are not asked, and what to set; null while all may be. */
  detail(): string | null
}

export function createPrivateNodes(options: {
  /** As they are configured. */
  readonly nodes: readonly Node[]
  readonly nodeCount: number
  /** So many must answer a lookup. */
  readonly needed: number
  readonly isAllowed: boolean
}): PrivateNodes {
  const { nodes, nodeCount, needed, isAllowed } = options
  const urlByName = new Map<string, string>()
  if (!isAllowed)
    for (const { name, url } of nodes)
      if (parseNodeUrl(url, false) === undefined) urlByName.set(name, url)
  return {
    note: ({ name, url }) => void urlByName.set(name, url),
    detail() {
      if (urlByName.size === 0) return null
      const asked = [...urlByName].map(([name, url]) => `${name} (${url})`).join(', ')
      const isTooFew = nodeCount - urlByName.size < needed
      return (
        `${urlByName.size} of ${nodeCount} nodes may not be asked, as their addresses are private: ${asked}. ` +
        `${isTooFew ? `Lookups need ${needed} nodes, and end with NOT_ENOUGH_NODES. ` : ''}` +
        'Set QS_ALLOW_PRIVATE_ADDRESSES=1 if this is their network'
      )
    },
  }
}
