/** Code of developers for single HTTP calls. */
import {
  createLedgerClient,
  createScanClient,
  createValidatorClient,
  type ErrorBody,
  type LedgerErrorBody,
} from '@quorumscan/sdk/raw'

const scan = createScanClient({ baseUrl: 'http://localhost' })
const validator = createValidatorClient({ baseUrl: 'http://localhost', token: async () => 't' })

export async function owner(name: string): Promise<string | null> {
  const { data, error } = await scan.GET('/v0/ans-entries/by-name/{name}', {
    params: { path: { name }, header: { 'x-read-at-offset': 7 } },
  })
  if (error !== undefined) throw new Error((error satisfies ErrorBody).error)
  const expiresAt: string | null = data.entry.expires_at
  return expiresAt === null ? null : data.entry.user
}

export async function register(): Promise<string | undefined> {
  await validator.POST('/v0/register', { body: {} })
  await validator.POST('/v0/register')
  const { data } = await validator.POST('/v0/wallet/tap', { body: { amount: '10.0' } })
  return data?.contract_id
}

export async function batch() {
  const { data } = await validator.POST('/v0/scan-proxy/ans-entries/batch', {
    params: { query: { quorum: 'strong' } },
    body: { lookups: [{ name: 'a' }, { party: 'b' }] },
  })
  return data?.results.map(({ entry }) => entry?.name ?? null)
}

export async function ledgerEnd(): Promise<number> {
  const ledger = createLedgerClient({ baseUrl: 'http://localhost' })
  const { data, error } = await ledger.GET('/v2/state/ledger-end')
  if (error !== undefined)
    throw new Error(typeof error === 'string' ? error : (error satisfies LedgerErrorBody).cause)
  return data.offset
}

// @ts-expect-error A page without a size is refused.
void scan.GET('/v0/ans-entries', { params: { query: {} } })
// @ts-expect-error The operation does not exist.
void scan.GET('/v0/entries')
// @ts-expect-error An amount is a string.
void validator.POST('/v0/wallet/tap', { body: { amount: 10 } })
// @ts-expect-error A lookup has a name or a party.
void validator.POST('/v0/scan-proxy/ans-entries/batch', { body: { lookups: [{}] } })
