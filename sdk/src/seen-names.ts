/** The party that a name had when the user last accepted it, so that a change of owner is noticed. */
import type { NameChange } from './lookups.ts'
import type { Store } from './store.ts'

/** Names remembered, least recently looked up first to go: 160 kB at most. */
const NAMES_MAX = 1000

export interface SeenNames {
  /** Remembers a name that is new; null unless its party is another one than remembered. */
  compare(name: string, party: string): Promise<NameChange | null>
  /** From now on the name belongs to the party. */
  accept(name: string, party: string): Promise<void>
}

/** A store that fails loses the warning, never the lookup: it says nothing about who owns the name. */
export function createSeenNames(store: Store, key: () => Promise<string>): SeenNames {
  let loading: Promise<Map<string, string>> | undefined

  const load = async (): Promise<Map<string, string>> => {
    try {
      const document: unknown = JSON.parse((await store.get(await key())) ?? '[]')
      return new Map(Array.isArray(document) ? document.filter(isPair) : [])
    } catch {
      return new Map() // Unreadable is as good as empty; the next name writes it anew.
    }
  }
  const loaded = () => {
    loading ??= load()
    return loading
  }
  const remember = async (partyByName: Map<string, string>, name: string, party: string) => {
    partyByName.delete(name)
    partyByName.set(name, party)
    for (const oldest of partyByName.keys()) {
      if (partyByName.size <= NAMES_MAX) break
      partyByName.delete(oldest)
    }
    try {
      await store.set(await key(), JSON.stringify([...partyByName]))
    } catch {
      // Full or forbidden storage: remembered until the program ends.
    }
  }

  return {
    async compare(name, party) {
      const partyByName = await loaded()
      const previousParty = partyByName.get(name)
      if (previousParty === undefined) await remember(partyByName, name, party)
      return previousParty === undefined || previousParty === party
        ? null
        : { name, previousParty, party }
    },
    async accept(name, party) {
      await remember(await loaded(), name, party)
    },
  }
}

function isPair(value: unknown): value is [string, string] {
  return Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'string'
}
