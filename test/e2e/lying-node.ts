/**
 * A node that misbehaves, at the address and with the key of one that was killed: what a super-validator
 * could do who turned against the others. It knows the truth from an honest node.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { type KeyPair, sha256Hex, toHex, utf8 } from '@quorumscan/base'
import {
  canonicalRequest,
  encodeAnswerStatement,
  type Lookup,
  parseInstant,
  requestOfLookup,
} from '@quorumscan/consensus'
import { until } from './client.ts'

/** The answer to a batch, before it is signed and sent. */
export type Said = {
  readonly offset: number
  readonly recordTime: string
  readonly historyHash: string
  readonly results: readonly unknown[]
}

/** What it does with a batch of lookups: say something else, or answer in a way of its own. */
export type Misbehaviour =
  | {
      readonly say: (truth: Said, lookups: readonly Lookup[]) => Said
      /** Instead of the node's own. */
      readonly key?: KeyPair
    }
  | { readonly respond: (response: ServerResponse, truth: Said) => void }

type Batch = { readonly lookups: readonly Lookup[]; readonly sign?: boolean }

export async function startLyingNode(options: {
  /** Where the killed node was. */
  readonly url: string
  readonly honestUrl: string
  readonly genesisHash: string
  readonly key: KeyPair
}): Promise<AsyncDisposable & { misbehave(how: Misbehaviour): void }> {
  let how: Misbehaviour = { say: (truth) => truth }

  const sign = (said: Said, lookups: readonly Lookup[], key: KeyPair): string[] =>
    lookups.map((lookup, index) =>
      toHex(
        key.sign(
          encodeAnswerStatement({
            genesisHash: options.genesisHash,
            offset: said.offset,
            recordTime: parseInstant(said.recordTime) ?? 0,
            historyHash: said.historyHash,
            requestHash: sha256Hex(canonicalRequest(requestOfLookup(lookup))),
            answerHash: sha256Hex(utf8(JSON.stringify(said.results[index]))),
          }),
        ),
      ),
    )

  const answerBatch = async (request: IncomingMessage, response: ServerResponse) => {
    const batch = (await json(request)) as Batch
    const answer = await fetch(`${options.honestUrl}${request.url}`, {
      method: 'POST',
      body: JSON.stringify({ ...batch, sign: false }),
    })
    const body = (await answer.json()) as { readonly results: readonly unknown[] }
    const header = (name: string) => answer.headers.get(`x-ledger-${name}`) ?? ''
    const head = { 'x-ledger-head': header('head'), 'x-ledger-head-time': header('head-time') }
    if (answer.status !== 200) {
      response.writeHead(answer.status, { ...head, 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
      return
    }
    const truth: Said = {
      offset: Number(header('offset')),
      recordTime: header('record-time'),
      historyHash: header('history-hash'),
      results: body.results,
    }
    if ('respond' in how) {
      how.respond(response, truth)
      return
    }
    const said = how.say(truth, batch.lookups)
    const signatures =
      batch.sign === true ? { signatures: sign(said, batch.lookups, how.key ?? options.key) } : {}
    response.writeHead(200, {
      ...head,
      'content-type': 'application/json',
      'x-ledger-offset': String(said.offset),
      'x-ledger-record-time': said.recordTime,
      'x-ledger-history-hash': said.historyHash,
    })
    response.end(JSON.stringify({ results: said.results, ...signatures }))
  }

  const passOn = async (request: IncomingMessage, response: ServerResponse) => {
    const answer = await fetch(`${options.honestUrl}${request.url}`)
    response.writeHead(answer.status, { 'content-type': 'application/json' })
    response.end(await answer.text())
  }

  const server = createServer((request, response) => {
    const isBatch = request.method === 'POST' && request.url === '/v0/ans-entries/batch'
    const work = isBatch ? answerBatch(request, response) : passOn(request, response)
    work.catch(() => response.destroy()) // A liar may crash as well.
  })
  const port = Number(new URL(options.url).port)
  await until(
    `port ${port} to be free`,
    () =>
      new Promise<true | undefined>((resolve) => {
        server.once('error', () => resolve(undefined))
        server.listen(port, '127.0.0.1', () => resolve(true))
      }),
  )
  return {
    misbehave(next) {
      how = next
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
