/** docs/specification.md, "Endpoints", lists exactly the operations and their methods. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  healthRoutes,
  ledgerRoutes,
  scanRoutes,
  socketRoutes,
  synchronizerRoutes,
  validatorRoutes,
} from '@quorumscan/api'
import { expect, it } from 'vitest'

/** Operations such as `POST /v2/updates`, from rows `| POST, WebSocket | /v2/updates, … | … |`. */
function specified(): string[] {
  const text = readFileSync(join(import.meta.dirname, '../../docs/specification.md'), 'utf8')
  const rows = text.matchAll(/^\| ([A-Z][A-Za-z, ]+) \| (\/(?:v|registry)[^|]+) \|/gm)
  return [...rows].flatMap(([, methods = '', paths = '']) =>
    paths
      .replace(/\?\S+/g, '')
      .split(', ')
      .flatMap((path) => methods.split(', ').map((method) => `${method} ${path.trim()}`)),
  )
}

it('the specification lists exactly the operations of the routes', () => {
  const health = new Set<string>(Object.values(healthRoutes).map(({ path }) => path))
  const routes = [scanRoutes, validatorRoutes, synchronizerRoutes, ledgerRoutes]
    .flatMap((table) => Object.values<{ method: string; path: string }>(table))
    .filter(({ path }) => !health.has(path))
    .map(({ method, path }) => `${method} ${path}`)
  const sockets = Object.values(socketRoutes).map(({ path }) => `WebSocket ${path}`)
  expect(specified().toSorted()).toEqual([...new Set([...routes, ...sockets])].toSorted())
})
