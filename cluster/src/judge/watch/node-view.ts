/** The details of one node for the console: its newest certificate, its store, and its log files. */
import { describeRefusal } from '@quorumscan/errors/node-words'
import { ask } from '@quorumscan/runtime'
import type { Service } from '@quorumscan/supervisor'
import {
  createPlatformCrypto,
  formatInstant,
  type Genesis,
  hashGenesis,
  memberOf,
} from '@quorumscan/verifier'
import { parseCertificate, verifySignatures } from '@quorumscan/verifier/certified'
import { lastLines } from '../../rig/log-files.ts'

/**
 * The console waits for the time limit. A healthy process answers within milliseconds. A certificate of a hundred members has
 * less than 20 000 bytes; the metrics of a process less than 200 000.
 */
const BOUNDS = { timeoutMs: 1500, bytesMax: 1_000_000 }
/** The part of each log file that is read: more lines than a page shows. */
const LOG_TAIL = { bytes: 32_768, lines: 100 }

/** Asks the processes of a node, within bounds. Values that they do not report are null. */
export async function viewNode(services: readonly [Service, ...Service[]], genesis: Genesis) {
  const [main] = services
  const [certificate, metrics] = await Promise.all([
    main.kind === 'scan' ? askCertificate(main.url, genesis) : null,
    ask(`${main.url}/metrics`, BOUNDS),
  ])
  const specs = new Set(services.flatMap(({ app, redis }) => [app, redis]))
  const logFiles = new Map([...specs].map(({ id, logFile }) => [id, logFile]))
  return {
    /** Null unless it is a scan node. */
    certificate,
    /** The sizes of its Redis in bytes; null where it does not report them. */
    store: {
      memoryBytes: gauge(metrics.text, 'redis_memory_bytes'),
      fileBytes: gauge(metrics.text, 'redis_aof_bytes'),
      diskFreeBytes: gauge(metrics.text, 'disk_free_bytes'),
    },
    /** The latest lines of each of its processes. */
    logs: [...logFiles].map(([process, file]) => ({
      process,
      lines: file === null ? [] : lastLines(file, LOG_TAIL).lines,
    })),
  }
}

/** The newest certificate of a node, or why it gives none. */
async function askCertificate(url: string, genesis: Genesis) {
  const answer = await ask(`${url}/v0/certificate`, BOUNDS)
  if (answer.status !== 200)
    return { problem: answer.reason ?? describeRefusal(answer.status ?? 0, answer.body) }
  try {
    const certificate = parseCertificate(
      JSON.stringify(memberOf(answer.body, 'certificate') ?? null),
    )
    const genesisHash = await hashGenesis(genesis)
    await verifySignatures(certificate, { genesis, genesisHash, crypto: createPlatformCrypto() })
    return {
      offset: certificate.offset,
      recordTime: formatInstant(certificate.recordTime),
      signers: certificate.signatures.map(([signer]) => signer),
    }
  } catch (error) {
    return { problem: String(memberOf(error, 'message') ?? error) }
  }
}

/** The first value of a gauge in the metrics of a process. */
function gauge(text: string, name: string): number | null {
  const found = new RegExp(`^quorumscan_${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)
  return found === null ? null : Number(found[1])
}
