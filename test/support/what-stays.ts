/** The table "What stays" of docs/architecture.md: the places of its second column, as patterns of keys and files. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const SECTION = /^## What stays\n([\s\S]*?)^## /m

/** A pattern by the text of each place. @throws {Error} If there is no such section. */
export function placesThatStay(): ReadonlyMap<string, RegExp> {
  const text = readFileSync(join(import.meta.dirname, '../../docs/architecture.md'), 'utf8')
  const section = SECTION.exec(text)?.[1]
  if (section === undefined) throw new Error('docs/architecture.md has no section "What stays"')
  const rows = section.split('\n').filter((line) => line.startsWith('| '))
  const places = rows
    .slice(1)
    .flatMap((row) => [...(row.split(' | ')[1] ?? '').matchAll(/`([^`]+)`/g)])
  return new Map(places.map(([, place = '']) => [place, patternOf(place)]))
}

function patternOf(place: string): RegExp {
  const parts = place.split('*').map((part) => part.replaceAll(/[.{}+?^$()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`)
}
