/**
 * A second, simple implementation of the ledger's rules: a few arrays and numbers, no contracts, no authority, no log.
 * It follows the decisions, not the code, so that tests can compare the two.
 */
import { type Amount, ceilDivide, type Micros } from '@quorumscan/model'

export type ModelRules = {
  readonly users: readonly string[]
  readonly svs: readonly string[]
  readonly quorum: number
  readonly start: Micros
  readonly feeUsd: Amount
  readonly priceUsd: Amount
  readonly reward: Amount
  readonly tick: Micros
  readonly lifetime: Micros
  readonly window: Micros
  readonly requestLifetime: Micros
}

/** One attempt at a name, from request to clean-up. */
export type Registration = {
  readonly user: string
  readonly name: string
  readonly requestEnds: Micros
  stage: 'requested' | 'paid' | 'idle' | 'renewing' | 'terminated' | 'gone'
  lockEnds: Micros
  due: Micros
  readonly votes: Set<string>
}

export type Entry = { readonly user: string; readonly name: string; expiresAt: Micros }

export type Offer = {
  readonly from: string
  readonly to: string
  readonly amount: Amount
  readonly ends: Micros
  isOpen: boolean
}

/** Every step returns whether it succeeds. A step that fails changes nothing. */
export class PlainModel {
  readonly rules: ModelRules
  readonly unlocked = new Map<string, Amount>()
  readonly locked = new Map<string, Amount>()
  readonly registrations: Registration[] = []
  readonly offers: Offer[] = []
  /** Newest address of each super-validator that published one. */
  readonly addresses = new Map<string, { readonly sequence: number; readonly at: Micros }>()
  entries: Entry[] = []
  roundsClose: Micros[]
  created: Amount = 0n
  burned: Amount = 0n
  now: Micros

  constructor(rules: ModelRules) {
    this.rules = rules
    this.now = rules.start
    this.roundsClose = [1, 2, 3].map((ticks) => rules.start + ticks * rules.tick)
  }

  get price(): Amount {
    return ceilDivide(this.rules.feeUsd, this.rules.priceUsd)
  }

  isLive(name: string): boolean {
    return this.entries.some((entry) => entry.name === name && entry.expiresAt > this.now)
  }

  tap(user: string, amount: Amount): boolean {
    if (amount <= 0n || amount > 10n ** 22n) return false
    this.#earn(user, amount)
    return true
  }

  transfer(from: string, to: string, amount: Amount): boolean {
    if (amount <= 0n || (this.unlocked.get(from) ?? 0n) < amount) return false
    this.#add(this.unlocked, from, -amount)
    this.#add(this.unlocked, to, amount)
    return true
  }

  request(user: string, name: string): Registration | false {
    if (this.isLive(name) || this.#count(user, ['requested']) >= 16) return false
    const registration: Registration = {
      user,
      name,
      requestEnds: this.now + this.rules.requestLifetime,
      stage: 'requested',
      lockEnds: 0,
      due: 0,
      votes: new Set(),
    }
    this.registrations.push(registration)
    return registration
  }

  accept(registration: Registration): boolean {
    if (registration.stage !== 'requested' || this.now >= registration.requestEnds) return false
    return this.#pay(registration, 'paid')
  }

  reject(registration: Registration): boolean {
    return this.#move(registration, 'requested', 'terminated')
  }

  confirm(registration: Registration, sv: string): boolean {
    if (registration.stage !== 'paid') return false
    registration.votes.add(sv)
    if (registration.votes.size < this.rules.quorum) return true
    if (this.now >= registration.lockEnds || this.isLive(registration.name)) {
      this.#unlock(registration.user, this.price)
      registration.stage = 'terminated'
    } else {
      this.#burn(registration.user)
      registration.stage = 'idle'
      registration.due = this.now + this.rules.lifetime
      const { user, name, due } = registration
      this.entries.push({ user, name, expiresAt: due })
    }
    return true
  }

  refund(registration: Registration): boolean {
    const { stage } = registration
    if ((stage !== 'paid' && stage !== 'renewing') || this.now < registration.lockEnds) return false
    this.#unlock(registration.user, this.price)
    registration.stage = stage === 'paid' ? 'terminated' : 'idle'
    return true
  }

  payRenewal(registration: Registration): boolean {
    if (registration.stage !== 'idle' || this.now + this.rules.window < registration.due)
      return false
    return this.#pay(registration, 'renewing')
  }

  collectRenewal(registration: Registration): boolean {
    const { stage, user, name, due, lockEnds } = registration
    const entry = this.entries.find(
      (other) => other.user === user && other.name === name && other.expiresAt === due,
    )
    if (stage !== 'renewing' || entry === undefined || this.now >= due || this.now >= lockEnds)
      return false
    this.#burn(user)
    registration.stage = 'idle'
    registration.due += this.rules.lifetime
    entry.expiresAt += this.rules.lifetime
    return true
  }

  cancel(registration: Registration): boolean {
    return this.#move(registration, 'idle', 'terminated')
  }

  expireSubscription(registration: Registration): boolean {
    return registration.due < this.now && this.#move(registration, 'idle', 'gone')
  }

  expireRequest(registration: Registration): boolean {
    return registration.requestEnds <= this.now && this.#move(registration, 'requested', 'gone')
  }

  terminate(registration: Registration): boolean {
    return this.#move(registration, 'terminated', 'gone')
  }

  expireEntry(entry: Entry): boolean {
    if (!this.entries.includes(entry) || entry.expiresAt > this.now) return false
    this.entries = this.entries.filter((other) => other !== entry)
    return true
  }

  advanceRounds(): boolean {
    const [oldest] = this.roundsClose
    if (oldest === undefined || oldest > this.now) return false
    const newest = this.roundsClose.at(-1) ?? 0
    this.roundsClose = [...this.roundsClose.slice(1), Math.max(newest, this.now) + this.rules.tick]
    for (const sv of this.rules.svs) this.#earn(sv, this.rules.reward)
    return true
  }

  publish(sv: string, sequence: number): boolean {
    const last = this.addresses.get(sv)
    if (last !== undefined && (sequence <= last.sequence || this.now < last.at + 10_000_000))
      return false
    this.addresses.set(sv, { sequence, at: this.now })
    return true
  }

  offer(from: string, offer: { to: string; amount: Amount; ends: Micros }): Offer | false {
    if (offer.amount <= 0n || offer.ends <= this.now || !this.#lock(from, offer.amount))
      return false
    const made = { from, ...offer, isOpen: true }
    this.offers.push(made)
    return made
  }

  acceptOffer(offer: Offer): boolean {
    if (!offer.isOpen || this.now >= offer.ends) return false
    this.#unlock(offer.from, offer.amount)
    this.#add(this.unlocked, offer.from, -offer.amount)
    this.#add(this.unlocked, offer.to, offer.amount)
    offer.isOpen = false
    return true
  }

  /** Rejected or withdrawn. */
  returnOffer(offer: Offer): boolean {
    if (!offer.isOpen) return false
    this.#unlock(offer.from, offer.amount)
    offer.isOpen = false
    return true
  }

  expireOffer(offer: Offer): boolean {
    return offer.ends <= this.now && this.returnOffer(offer)
  }

  #pay(registration: Registration, stage: 'paid' | 'renewing'): boolean {
    if (this.#count(registration.user, ['paid', 'renewing']) >= 16) return false
    if (!this.#lock(registration.user, this.price)) return false
    registration.stage = stage
    registration.lockEnds = this.now + 3 * this.rules.tick
    return true
  }

  #move(
    registration: Registration,
    from: Registration['stage'],
    to: Registration['stage'],
  ): boolean {
    if (registration.stage !== from) return false
    registration.stage = to
    return true
  }

  #count(user: string, stages: readonly Registration['stage'][]): number {
    return this.registrations.filter(
      (registration) => registration.user === user && stages.includes(registration.stage),
    ).length
  }

  #earn(user: string, amount: Amount): void {
    this.created += amount
    this.#add(this.unlocked, user, amount)
  }

  #lock(user: string, amount: Amount): boolean {
    if ((this.unlocked.get(user) ?? 0n) < amount) return false
    this.#add(this.unlocked, user, -amount)
    this.#add(this.locked, user, amount)
    return true
  }

  #unlock(user: string, amount: Amount): void {
    this.#add(this.locked, user, -amount)
    this.#add(this.unlocked, user, amount)
  }

  #burn(user: string): void {
    this.burned += this.price
    this.#add(this.locked, user, -this.price)
  }

  #add(balances: Map<string, Amount>, user: string, amount: Amount): void {
    balances.set(user, (balances.get(user) ?? 0n) + amount)
  }
}
