/** Code of wallet developers for lookups, compiled with every supported compiler and resolution. */
import {
  type CertifiedReceipt,
  createLocalStorageStore,
  createScan,
  createValidator,
  type ErrorCode,
  isErrorCode,
  isQuorumscanError,
  type LookupOutcome,
  type NameEntry,
  type Network,
  parseContractId,
  QuorumscanError,
  type TrustList,
  type TrustRule,
} from '@quorumscan/sdk'

const scan = createScan({ seeds: ['https://sv-1.example.com'], genesis: 'ab'.repeat(32) })
const validator = createValidator({
  url: 'https://validator.example.com',
  token: async ({ refused, signal }) => {
    const why: string | null = refused
    signal.throwIfAborted()
    return `token ${why}`
  },
  store: createLocalStorageStore(),
})

/** Scan and validator have the same interface for lookups. */
export const both = [scan.names, validator.names].map((names) => names.resolve)

export async function recipient(name: string): Promise<string> {
  const party: string | null = await scan.names.resolve(name, {
    threshold: 'strong',
    acceptChange: ({ previousParty, seenAt }) => `${previousParty} ${seenAt}` === name,
  })
  if (party === null) throw new Error(`${name} is not registered`)
  return party
}

export function describeOutcome(outcome: LookupOutcome): string {
  switch (outcome.kind) {
    case 'proven': {
      const entry: NameEntry | null = outcome.value
      const receipt: CertifiedReceipt | null = outcome.receipt
      const recordTime: string = outcome.recordTime
      return `${entry?.party} ${JSON.stringify(receipt)} ${recordTime} ${outcome.validUntil}`
    }
    case 'changed':
      return `${outcome.value.party}, before ${outcome.previous.previousParty}`
    case 'failed': {
      const { error, facts } = outcome
      if (error.code === 'NAME_EXPIRED') return `${error.details?.entry.party} ${facts?.offset}`
      if (error.code !== 'CONSENSUS_DISPUTED') return error.message
      const answers = error.details?.outcome
      return answers !== undefined && 'nodeCount' in answers ? `${answers.nodeCount}` : ''
    }
    default: {
      // Every outcome has a case.
      const nothing: never = outcome
      return nothing
    }
  }
}

export async function all(): Promise<readonly (NameEntry | null)[]> {
  for await (const entry of scan.names.search('a', { pageSize: 10 })) entry.party?.toUpperCase()
  for await (const row of scan.activities({ follow: true })) {
    if (row.activityType === 'transfer') row.transfer.sender.inputCoinAmount.length
    else if (row.activityType === 'mint') row.mint.coinOwner.length
    const none: null = row.activityType === 'devnet_tap' ? row.mint : null
    if (none === null) break
  }
  const back = await scan.names.reverse('a::1220')
  if (back?.changed === null) return [back]
  const outcomes = await scan.names.resolveMany(['a', 'b'], { signal: AbortSignal.timeout(1000) })
  return outcomes.map((outcome) => {
    if (outcome.kind === 'failed') throw outcome.error
    return outcome.value
  })
}

export async function register(): Promise<void> {
  try {
    await validator.names.register(
      { name: 'alice.unverified.ns', autoRenew: true },
      {
        onProgress(event) {
          if (event.step === 'paid') event.paymentCid.length
          // @ts-expect-error Only the step that pays has a payment.
          if (event.step === 'requested') event.paymentCid.length
        },
      },
    )
  } catch (error) {
    if (!isQuorumscanError(error)) throw error
    const is: QuorumscanError = error
    if (is.payment === 'unknown' || is.payment === 'locked') return
    const status: number | null = is.status
    if (is.code === 'INSUFFICIENT_FUNDS' && status === 400) return
    // The code decides on the details.
    const until: string | undefined =
      error.code === 'NAME_TAKEN' ? error.details?.expiresAt : undefined
    // @ts-expect-error Other details than those of the code.
    if (error.code === 'NAME_CHANGED' && error.details?.expiresAt === until) return
    throw error instanceof QuorumscanError ? error : new Error('another copy')
  }
}

export async function wallet(): Promise<string> {
  const { effectiveUnlockedQty } = await validator.wallet.balance()
  const [first] = await validator.wallet.subscriptions()
  if (first !== undefined && 'idle' in first.state) return first.state.idle.contractId
  for await (const item of validator.wallet.transactions())
    if (item.transactionType === 'transfer') return item.sender.party ?? ''
  return effectiveUnlockedQty
}

/** A wallet can have a sentence for every code. A text that is not a code does not compile. */
export function explain(code: ErrorCode): string {
  const known: Partial<Record<ErrorCode, string>> = { NAME_CHANGED: 'ask', NETWORK_ERROR: 'wait' }
  // @ts-expect-error The code does not exist.
  if (code === 'NO_SUCH_CODE') return ''
  const read: unknown = code
  return isErrorCode(read) ? (known[read] ?? read) : ''
}

export async function reject(stored: string): Promise<void> {
  // @ts-expect-error A string is not a contract id.
  await validator.wallet.rejectSubscriptionRequest(stored)
  await validator.wallet.rejectSubscriptionRequest(parseContractId(stored))
  const networks: readonly Network[] = [{ name: 'dev', genesis: 'ab'.repeat(32), seeds: [] }]
  const [network] = networks
  if (network !== undefined) createScan({ ...network, timeoutMs: 1 })
}

// @ts-expect-error The genesis is required.
createScan({ seeds: ['https://sv-1.example.com'] })
// @ts-expect-error A threshold is a word of D-36 or a number.
void scan.names.resolve('a', { threshold: 'most' })
// @ts-expect-error The party may be null: a proven absence is an answer.
export const wrong: Promise<string> = scan.names.resolve('a')
// @ts-expect-error A scan is read-only.
scan.names.register
// @ts-expect-error An amount is a string.
void validator.wallet.tap({ usd: 1 })

export async function trusting(name: string): Promise<readonly string[]> {
  const trust: TrustList = { members: ['sv-1', 'sv-2', 'sv-3'], threshold: 2 }
  const seeds = ['https://sv-1.example.com']
  const own = createScan({ seeds, genesis: 'ab'.repeat(32), trust })
  const outcome = await own.names.lookup(name)
  if (outcome.kind !== 'proven') return []
  const basis: 'proof' | 'trusted' | 'proxy' = outcome.basis
  const rule: TrustRule | null = outcome.trust
  return [basis, ...(rule?.members ?? [])]
}
