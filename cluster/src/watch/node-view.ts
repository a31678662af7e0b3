/** One process of the cluster looked at closely: its newest certificate, its store, and what it logged. */
import { statSync } from 'node:fs'
import { wordOfRefusal } from '@quorumscan/errors/node-words'
import { ask } from '@quorumscan/runtime'
import type { Service } from '@quorumscan/supervisor'
import {
  createWebCrypto,
  formatInstant as formatTime,
  type Genesis,
  hashGenesis,
} from '@quorumscan/verifier'
import { parseCertificate, verifySignatures } from '@quorumscan/verifier/certified'
import { readFrom } from '../rig/read-from.ts'

/** Whoever looks waits for this; a healthy process answers within milliseconds. */
const TIMEOUT_MS = 1500
/** A certificate of a hundred members has under 20 000 bytes; metrics of a process under 200 000. */
const ANSWER_BYTES_MAX = 1_000_000
/** Of each log: more lines than anybody reads on a page. */
const LOG_TAIL_BYTES = 32_768
const LOG_LINES_MAX = 100

/** Asks it, within bounds; what does not answer is null. */
export async function viewNode(services: readonly [Service, ...Service[]], genesis: Genesis) {
  const [main] = services
  const [certificate, metrics] = await Promise.all([
    main.kind === 'scan' ? askCertificate(main.url, genesis) : null,
    ask(`${main.url}/metrics`, { timeoutMs: TIMEOUT_MS, bytesMax: ANSWER_BYTES_MAX }),
  ])
  const specs = new Set(services.flatMap(({ app, redis }) => [app, redis]))
  const logFiles = new Map([...specs].map(({ id, logFile }) => [id, logFile]))
  return {
    /** Null of what is no scan node. */
    certificate,
    /** Of its Redis, in bytes; null where it does not say. */
    store: {
      memoryBytes: gauge(metrics.text, 'redis_memory_bytes'),
      fileBytes: gauge(metrics.text, 'redis_aof_bytes'),
      diskFreeBytes: gauge(metrics.text, 'disk_free_bytes'),
    },
    /** The end of the log of each of its processes. */
    logs: [...logFiles].map(([process, file]) => ({
      process,
      lines: file === null ? [] : lastLines(file),
    })),
  }
}

/** The newest that it has, or why it shows none. */
async function askCertificate(url: string, genesis: Genesis) {
  const answer = await ask(`${url}/v0/certificate`, {
    timeoutMs: TIMEOUT_MS,
    bytesMax: ANSWER_BYTES_MAX,
  })
  if (answer.status !== 200)
    return { problem: answer.reason ?? wordOfRefusal(answer.status ?? 0, answer.body) }
  try {
    const certificate = parseCertificate(JSON.stringify(Object(answer.body).certificate ?? null))
    const genesisHash = await hashGenesis(genesis)
    await verifySignatures(certificate, { genesis, genesisHash, crypto: createWebCrypto() })
    return {
      offset: certificate.offset,
      recordTime: formatTime(certificate.recordTime),
      signers: certificate.signatures.map(([signer]) => signer),
    }
  } catch (error) {
    return { problem: String(Object(error).message ?? error) }
  }
}

/** The first value of a gauge in the text that Prometheus reads. */
function gauge(text: string, name: string): number | null {
  const found = new RegExp(`^quorumscan_${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)
  return found === null ? null : Number(found[1])
}

/** The whole lines at the end of a file; none where there is none. */
function lastLines(path: string): readonly string[] {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const from = Math.max(0, size - LOG_TAIL_BYTES)
  const lines = size === 0 ? [] : readFrom(path, from).toString().trimEnd().split('\n')
  // Where it does not begin at the start, the first line is half of one.
  return lines.slice(from === 0 ? 0 : 1).slice(-LOG_LINES_MAX)
}
