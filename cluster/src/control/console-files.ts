/**
 * Serves the built console. It is found by a path, not by a dependency: the console imports types from this package, and
 * two builds cannot depend on each other.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { urlOf } from '../rig/ports.ts'

/** A file of the console, read once: no request names a path of the disk. */
type ConsoleFile = { readonly path: string; readonly type: string; readonly bytes: Buffer }

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The page can kill processes, so it may only load its own files and call its own server. */
const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/** Null unless the console is built. */
export function readConsole(directory: string): readonly ConsoleFile[] | null {
  try {
    const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
    const files = entries.flatMap((entry): ConsoleFile[] => {
      const type = TYPES[extname(entry.name)]
      if (!entry.isFile() || type === undefined) return []
      const file = join(entry.parentPath, entry.name)
      const path = `/${file.slice(directory.length).replace(/^\/+/, '')}`
      return [{ path, type, bytes: readFileSync(file) }]
    })
    return files.some(({ path }) => path === '/index.html') ? files : null
  } catch {
    return null // Not built: all else works without it.
  }
}

/** The address with the token in the fragment, which no request carries. */
export function consoleUrl({ port, token }: { readonly port: number; readonly token: string }) {
  return `${urlOf(port)}/#token=${token}`
}

/** Files need no token: they hold no secret, and a browser sends no token for them. */
export function serveConsole(server: FastifyInstance, files: readonly ConsoleFile[]): void {
  for (const { path, type, bytes } of files) {
    // The names below `assets` contain a hash of the content.
    const isFixed = path.startsWith('/assets/')
    const cacheControl = isFixed ? 'public, max-age=31536000, immutable' : 'no-cache'
    const headers = { ...SECURITY_HEADERS, 'content-type': type, 'cache-control': cacheControl }
    server.get(path === '/index.html' ? '/' : path, async (_request, reply) =>
      reply.headers(headers).send(bytes),
    )
  }
}
