/** For tests: a client of the ledger interface, who is told what came, JSON or text. */

import { hashGenesis } from '@quorumscan/consensus'
import { disclose, genesisDelta } from '@quorumscan/ledger'
import type { World } from './world.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
export type LedgerAnswer = { readonly status: number; readonly type: string; readonly body: any }

export type LedgerClient = {
  send(method: string, path: string, body?: unknown): Promise<LedgerAnswer>
  get(path: string): Promise<LedgerAnswer>
  post(path: string, body: unknown): Promise<LedgerAnswer>
  patch(path: string, body: unknown): Promise<LedgerAnswer>
}

/** `token` null sends none. A text is sent as it is, everything else as JSON, without a content type (D-5). */
export function createLedgerClient(url: () => string, token: string | null): LedgerClient {
  const send = async (method: string, path: string, body?: unknown): Promise<LedgerAnswer> => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await fetch(`${url()}${path}`, {
      method,
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
      // A text would get a content type of its own.
      ...(body === undefined ? {} : { body: new TextEncoder().encode(text) }),
    })
    const type = (response.headers.get('content-type') ?? '').replace(/;.*/, '')
    const answer = await response.text()
    return {
      status: response.status,
      type,
      body: type === 'application/json' ? JSON.parse(answer) : answer,
    }
  }
  return {
    send,
    get: (path) => send('GET', path),
    post: (path, body) => send('POST', path, body),
    patch: (path, body) => send('PATCH', path, body),
  }
}

export type DisclosedRules = readonly { contractId: string; createdEventBlob: string }[]

/** Contracts of the genesis: their ids, by entity, and all of them as a request discloses them. */
export async function genesisContracts(world: Pick<World, 'network'>): Promise<{
  readonly rules: Readonly<Record<string, string>>
  readonly disclosedContracts: DisclosedRules
}> {
  const { genesis } = world.network
  const { created } = genesisDelta(genesis, await hashGenesis(genesis))
  const rules = Object.fromEntries(
    created.map(({ templateId, contractId }) => [templateId.split(':')[2], contractId]),
  )
  const disclosedContracts = created.map(disclose).map(({ contractId, blob }) => ({
    contractId,
    createdEventBlob: blob,
  }))
  return { rules, disclosedContracts }
}
