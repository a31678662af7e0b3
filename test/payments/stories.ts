/** Stories of one payment: a fault, what the user does then, and what must hold at the end. */
import { formatInstant } from '@quorumscan/verifier'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import { parseParty } from '../../sdk/src/platform/parse-party.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import { createMemoryStore } from '../../sdk/src/platform/store.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import type { PaymentResult } from '../../sdk/src/wallet/payment-result.ts'
// @boundaries-ignore What no entry point exports is tried with mutants and manual clocks.
import type { Payments } from '../../sdk/src/wallet/payments.ts'
import { type Answer, type Modules, PERIOD_MICROS, World } from './world.ts'

export const KINDS = [
  'transfer',
  'own id',
  'accept',
  'withdraw',
  'tap',
  'register',
  'renew',
] as const
export type Kind = (typeof KINDS)[number]

/** When the fault happens, seen from the effect of the first request. */
export const MOMENTS = ['before', 'during', 'after'] as const
export type Moment = (typeof MOMENTS)[number]

export const FAULTS = [
  'lost request',
  'lost answer',
  'half an answer',
  '401',
  '403',
  '408',
  '409',
  '429',
  '500',
  '502 with HTML',
  'reset',
  'silence',
  'page closed',
  'second tab',
  'second device',
  'clock +10 min',
  'clock -10 min',
  'synchronizer paused',
  'validator killed',
  'validator restored',
  'repeat after the period',
  'repeat after expiry',
] as const
export type FaultName = (typeof FAULTS)[number]

const EFFECTS = { before: 'none', during: 'later', after: 'now' } as const
const HOUR_MICROS = 3_600_000_000
const LIFE_MICROS = 24 * HOUR_MICROS
const CLOCK_MICROS = 600_000_000
const NAME = 'a.unverified.ns'
/** For all steps of a registration or renewal. */
const WAIT_MS = 6_000

const refusal = (status: number, code: string): Answer => ({ status, code, definite: true })
/** Refusals that come before any effect of their own request. */
const REFUSALS: Readonly<Partial<Record<FaultName, Answer>>> = {
  '401': refusal(401, 'UNAUTHENTICATED'),
  '403': refusal(403, 'PERMISSION_DENIED'),
  '408': refusal(408, 'REQUEST_TIMEOUT'),
  '409': refusal(409, 'CHOICE_REFUSED'),
  '429': refusal(429, 'RATE_LIMITED'),
}
const ANSWERS: Readonly<Partial<Record<FaultName, Answer>>> = {
  'half an answer': 'half',
  '500': { status: 500, code: 'INTERNAL', definite: false },
  '502 with HTML': 'html',
  silence: 'silence',
}

export type Story = {
  readonly kind: Kind
  readonly moment: Moment
  readonly faults: readonly FaultName[]
}

/** Runs a story. @returns What does not hold. */
export async function tell(modules: Modules, { kind, moment, faults }: Story): Promise<string[]> {
  const world = new World(modules)
  const store = createMemoryStore()
  const has = (name: FaultName) => faults.includes(name)
  const skewMicros = has('clock +10 min') ? CLOCK_MICROS : has('clock -10 min') ? -CLOCK_MICROS : 0
  const due = kind === 'renew' ? world.ownName(NAME) : ''
  const earlier = world.collected(COLLECTS[kind] ?? '').length
  const open = () => world.client({ user: 'alice', store, skewMicros })
  const expiresAt = formatInstant(world.nowMicros() + LIFE_MICROS)
  const offer = kind === 'accept' ? await world.offer() : kind === 'withdraw' ? null : undefined
  const own = offer === null ? await ownOffer(world) : offer
  const pay = (payments: Payments): Promise<PaymentResult<unknown>> => {
    if (kind === 'register') return payments.register({ name: NAME }, { timeoutMs: WAIT_MS })
    if (kind === 'renew') return payments.renew(NAME, { after: due, timeoutMs: WAIT_MS })
    const transfer = { receiver: parseParty(world.bob.party), coin: '7', expiresAt }
    if (kind === 'transfer') return payments.transfer(transfer)
    if (kind === 'own id') return payments.transfer({ ...transfer, trackingId: 'own' })
    if (kind === 'tap') return payments.tap({ usd: '1', commandId: 'tap' })
    if (own === undefined) throw new Error('an answer needs an offer')
    return kind === 'accept' ? payments.acceptTransfer(own) : payments.withdrawTransfer(own)
  }

  const effect = EFFECTS[moment]
  const [answer] = faults.flatMap((name) => ANSWERS[name] ?? [])
  const [refused] = faults.flatMap((name) => REFUSALS[name] ?? [])
  if (has('synchronizer paused')) world.isPaused = true
  // A refusal of the first request comes before its effect. After it, the repeat is refused.
  else if (refused !== undefined && moment === 'before')
    world.fail({ answer: refused, effect: 'none' })
  else world.fail({ answer: answer ?? 'lost', effect, isLasting: COLLECTS[kind] !== undefined })

  const first = open()
  const requestsBefore = world.paymentRequests
  let last = await pay(first).catch(() => null)
  // A registration or renewal repeats by itself what is lost.
  world.heal()
  const hasThrown = last === null && world.paymentRequests > requestsBefore
  /** All that users saw, on any page. */
  const shown: PaymentResult<unknown>[] = last === null ? [] : [last]

  const firstKind = last?.kind
  if (has('validator killed')) world.restart(false)
  if (has('validator restored')) world.restart(true)
  if (has('repeat after the period')) world.advance(PERIOD_MICROS + HOUR_MICROS / 60)
  if (has('repeat after expiry')) world.advance(LIFE_MICROS + HOUR_MICROS)
  if (has('synchronizer paused') && moment === 'after') await world.deliver()
  if (has('synchronizer paused') && moment === 'before') world.advance(HOUR_MICROS)
  if (refused !== undefined && moment !== 'before') world.fail({ answer: refused, effect: 'none' })

  const page = has('page closed') || has('second tab') ? open() : first
  // The result is gone with the page: the user has what the store lists, and else sends again.
  if (has('page closed') && last?.kind === 'unknown') last = null
  const listed = await page.unfinished()
  // A closed session leaves what may take effect.
  const isLost = firstKind === 'unknown' && listed.length === 0
  for (const left of listed) {
    const settled = await left.settle({ timeoutMs: WAIT_MS })
    shown.push(settled)
    if (has('page closed')) last = settled
  }
  if (has('second device') && OF_SEVERAL_DEVICES.includes(kind))
    await pay(world.client({ user: 'alice' }))
  if (last?.kind === 'unknown') last = await last.settle({ timeoutMs: WAIT_MS })
  // What the network held arrives at last.
  await world.deliver()
  if (last === null) last = await pay(first)
  if (last.kind === 'unknown') last = await last.settle({ timeoutMs: WAIT_MS })
  world.advance(LIFE_MICROS + 2 * HOUR_MICROS)
  if (last.kind === 'unknown') last = await last.settle({ send: false })

  shown.push(last)
  const choice = COLLECTS[kind]
  const effects =
    choice === undefined
      ? world.effects('alice', idOf(kind, own))
      : world.collected(choice).slice(earlier)
  const broken: string[] = []
  if (hasThrown) broken.push('thrown after a request was sent')
  if (isLost) broken.push('not unfinished')
  if (effects.length > 1) broken.push(`paid ${effects.length} times`)
  if (last.kind === 'unknown') broken.push('not settled')
  for (const result of shown) {
    if (result.kind === 'done' && result.offset !== effects[0])
      broken.push(`done at ${result.offset}, on the ledger at ${effects[0] ?? 'no offset'}`)
    if (result.kind === 'refused' && effects.length > 0)
      broken.push(`refused (${result.error.code}), on the ledger at ${effects[0]}`)
  }
  if (last.kind !== 'unknown' && (await first.unfinished()).length > 0)
    broken.push('settled, and still unfinished')
  return broken
}

async function ownOffer(world: World) {
  const made = await world.client({ user: 'alice' }).transfer({
    receiver: parseParty(world.bob.party),
    coin: '5',
    expiresAt: formatInstant(world.nowMicros() + 10 * LIFE_MICROS),
  })
  if (made.kind !== 'done' || !('transferInstructionCid' in made.result.output))
    throw new Error('the offer is made')
  return made.result.output.transferInstructionCid
}

/** Two devices can request the same one. */
const OF_SEVERAL_DEVICES: readonly Kind[] = ['own id', 'register', 'renew']
const COLLECTS: Readonly<Partial<Record<Kind, string>>> = {
  register: 'SubscriptionInitialPayment_Collect',
  renew: 'SubscriptionPayment_Collect',
}

/** With what the command ids of the payment begin. */
function idOf(kind: Kind, offer: string | undefined): string {
  if (kind === 'tap') return 'tap'
  return kind === 'transfer' || kind === 'own id' ? 'transfer-' : `${kind}-transfer-${offer}`
}
