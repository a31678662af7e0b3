/**
 * Bounds the bytes of answers and WebSockets that clients have not read yet, of one client and in all. At a bound, the connection of the
 * client whose answer waits longest is closed; of all clients, that of the one with most bytes.
 */
import { held } from '@quorumscan/base'
import { keysOf, PROXIES } from './client.ts'

export type UnreadLimits = {
  /** Its row in the table "Pools" of docs/architecture.md. */
  readonly pool: string
  readonly max: number
  readonly perClientMax: number
}

type Unread = { readonly bytes: number; readonly evict: () => void }

export class UnreadAnswers {
  readonly #limits: UnreadLimits
  /** The answers of each client, the longest waiting first. */
  readonly #clients = held(
    {
      owner: 'server',
      name: 'clients that do not read',
      kind: 'work',
      bound: 'the pool of connections',
    },
    new Map<string, Set<Unread>>(),
  )
  #bytes = 0

  constructor(limits: UnreadLimits) {
    this.#limits = limits
    const { pool: name, max: bound } = limits
    held({ owner: 'pool', name, kind: 'work', bound }, this)
  }

  /** The bytes that wait. */
  get size(): number {
    return this.#bytes
  }

  /**
   * Counts an answer until the returned function is called. A client's only answer is not closed for its own bound.
   *
   * @param address - Of the client; undefined on a unix socket; null of a reverse proxy, which serves many clients.
   */
  add(address: string | undefined | null, bytes: number, evict: () => void): () => void {
    const client = address === null ? PROXIES : keysOf(address).client
    const perClientMax = address === null ? Number.POSITIVE_INFINITY : this.#limits.perClientMax
    const unread = { bytes, evict }
    const answers = this.#clients.get(client) ?? new Set()
    this.#clients.set(client, answers.add(unread))
    this.#bytes += bytes
    while (answers.size > 1 && sum(answers) > perClientMax) this.#evictOldest(client)
    while (this.#bytes > this.#limits.max) {
      const [largest = client] = [...this.#clients.keys()].sort(
        (a, b) => sum(this.#clients.get(b)) - sum(this.#clients.get(a)),
      )
      this.#evictOldest(largest)
    }
    return () => this.#remove(client, unread)
  }

  #evictOldest(client: string): void {
    const [oldest] = this.#clients.get(client) ?? []
    if (oldest === undefined) return
    this.#remove(client, oldest)
    oldest.evict()
  }

  #remove(client: string, unread: Unread): void {
    const answers = this.#clients.get(client)
    if (answers?.delete(unread) !== true) return
    this.#bytes -= unread.bytes
    if (answers.size === 0) this.#clients.delete(client)
  }
}

function sum(answers: Iterable<Unread> = []): number {
  let bytes = 0
  for (const one of answers) bytes += one.bytes
  return bytes
}
