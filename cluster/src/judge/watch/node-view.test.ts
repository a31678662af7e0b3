/** The details of a node: a small HTTP server, and its log file. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Service } from '@quorumscan/supervisor'
import { createDirectory, serve } from '@quorumscan/testkit'
import type { Genesis } from '@quorumscan/verifier'
import { expect, it } from 'vitest'
import { viewNode } from './node-view.ts'

// Looked at only where a certificate is well-formed.
const genesis = {} as Genesis

function serviceAt(url: string, logFile: string): Service {
  return {
    kind: 'scan',
    url,
    app: { id: 'sv-1', logFile },
    redis: { id: 'sv-1.redis', logFile: `${logFile}.none` },
  } as Service
}

it('returns metrics and logs of a process, and refuses documents that are not certificates', async () => {
  using directory = createDirectory()
  const logFile = join(directory.path, 'sv-1.log')
  // Longer than the part that is read, which begins in the middle of a line.
  const lines = Array.from({ length: 200 }, (_, index) => `${index} `.padEnd(500, 'x'))
  writeFileSync(logFile, `${lines.join('\n')}\n`)
  const server = await serve((request, response) => {
    response.end(
      request.url === '/metrics'
        ? '# HELP quorumscan_redis_memory_bytes Memory.\nquorumscan_redis_memory_bytes 1024\n' +
            'quorumscan_redis_memory_max_bytes 7\nquorumscan_disk_free_bytes{disk="a"} 2e9\n'
        : '{"offset":1}',
    )
  })
  const { url } = server
  const { certificate, store, logs } = await viewNode([serviceAt(url, logFile)], genesis)
  expect(certificate).toEqual({ problem: expect.stringContaining('malformed') })
  expect(store).toEqual({ memoryBytes: 1024, fileBytes: null, diskFreeBytes: 2e9 })
  expect(logs.map(({ process }) => process)).toEqual(['sv-1', 'sv-1.redis'])
  const shown = logs[0]?.lines ?? []
  expect(shown.length).toBeGreaterThan(50)
  expect(shown).toEqual(lines.slice(-shown.length))
  expect(logs[1]?.lines).toEqual([])
  await server[Symbol.asyncDispose]()
  const gone = await viewNode([serviceAt(url, logFile)], genesis)
  // By a kept connection, or by a new one.
  expect(gone.certificate).toEqual({ problem: expect.stringMatching(/^re(set|fused)$/) })
  expect(gone.store).toEqual({ memoryBytes: null, fileBytes: null, diskFreeBytes: null })
})
