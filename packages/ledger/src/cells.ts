/** The cells of the state that interpretation needs. */
import type { CellKey, StateView } from './state.ts'

/** The cells of these keys that are not loaded, and the contracts that loaded index cells list. */
export function missingCells(view: StateView, keys: readonly CellKey[]): readonly CellKey[] {
  const missing: CellKey[] = []
  for (const key of keys) {
    if (!isLoaded(view, key)) missing.push(key)
    else if (key.kind === 'index')
      for (const id of view.index(key.key) ?? [])
        if (view.contract(id) === undefined) missing.push({ kind: 'contract', id })
  }
  return dedupe(missing)
}

export function isLoaded(view: StateView, key: CellKey): boolean {
  switch (key.kind) {
    case 'contract':
      return view.contract(key.id) !== undefined
    case 'index':
      return view.index(key.key) !== undefined
    case 'change':
      return view.change(key.id) !== undefined
    case 'seen':
      return view.seen(key.id) !== undefined
    case 'party':
      return view.isPartyAllocated(key.id) !== undefined
  }
}

export function dedupe(keys: readonly CellKey[]): readonly CellKey[] {
  if (keys.length < 2) return keys
  const byName = new Map(keys.map((key) => [cellName(key), key]))
  return [...byName.values()]
}

/** One text per cell, for maps. */
export function cellName(key: CellKey): string {
  return `${key.kind}/${key.kind === 'index' ? key.key : key.id}`
}
