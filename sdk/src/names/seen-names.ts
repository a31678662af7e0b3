/** The party that a name had when the user last accepted it, so that a change of owner is noticed. */

import type { Store } from '../platform/store.ts'
import type { NameChange } from './lookups.ts'

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
  /** The last is the one that was looked up last. */
  const partyByName = new Map<string, string>()
  let writing: Promise<void> = Promise.resolve()

  /** What is stored wins: another client of the same store, in another tab for one, may have written it. */
  const load = async (): Promise<void> => {
    try {
      const pairs: Iterable<unknown> = JSON.parse((await store.get(await key())) ?? '[]')
      for (const pair of pairs) if (isPair(pair)) partyByName.set(...pair)
    } catch {
      // Unreadable is as good as empty; the next name writes it anew.
    }
  }
  const touch = (name: string, party: string) => {
    partyByName.delete(name)
    partyByName.set(name, party)
  }
  /** One write after the other, each of all that is known by then. */
  const remember = (name: string, party: string): Promise<void> => {
    writing = writing.then(async () => {
      await load()
      touch(name, party)
      for (const oldest of [...partyByName.keys()].slice(0, -NAMES_MAX)) partyByName.delete(oldest)
      try {
        await store.set(await key(), JSON.stringify([...partyByName]))
      } catch {
        // Full or forbidden storage: remembered until the program ends.
      }
    })
    return writing
  }

  return {
    async compare(name, party) {
      if (partyByName.get(name) !== party) await load()
      const previousParty = partyByName.get(name)
      if (previousParty === undefined) await remember(name, party)
      else touch(name, previousParty)
      return previousParty === undefined || previousParty === party
        ? null
        : { name, previousParty, party }
    },
    accept: remember,
  }
}

function isPair(value: unknown): value is [string, string] {
  return Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'string'
}
