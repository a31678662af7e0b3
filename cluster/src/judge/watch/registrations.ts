/** Registrations for the console, step by step, with the confirmations of their payments. */
import type { Clock } from '@quorumscan/base'
import { CommandError, messageOf } from '@quorumscan/runtime'
import { formatInstant, type MemberSet, membersOf } from '@quorumscan/verifier'
import { type Exchange, registerName } from '../../rig/registration.ts'
import type { ConfirmationWatch } from './cluster-log.ts'

/** The number of registrations that a screen shows. The ledger has all of them. */
const STORED_MAX = 20
/** Registrations at once: enough for one person. */
const RUNNING_MAX = 8

type User = { readonly name: string; readonly user: string }
type Registration = ReturnType<typeof newRegistration>

/** A registration that has begun; its steps change it. */
function newRegistration(id: string, { name, user }: User, set: Pick<MemberSet, 'quorum'>) {
  return {
    id,
    name,
    user,
    state: 'running' as 'running' | 'done' | 'failed',
    steps: [] as ReturnType<typeof stepOf>[],
    /** How many confirmations its payment needs (D-23). */
    neededCount: set.quorum,
    /** Null until it is paid. */
    payment: null as string | null,
    /** Why it failed. */
    problem: null as string | null,
  }
}

/** The latest registrations, in memory. Each runs without its caller. */
export function createRegistrations(options: {
  readonly validatorUrl: string
  /** The members that confirm. */
  readonly set: Pick<MemberSet, 'quorum'>
  /** A token of a user of the validator. */
  readonly token: (user: string) => Promise<string>
  /** Called first for the first registration. */
  readonly watch: () => ConfirmationWatch
  readonly clock: Clock
}) {
  const { clock, set } = options
  const stored: Registration[] = []
  let count = 0

  const run = async (registration: Registration, token: string): Promise<void> => {
    try {
      await registerName({
        validatorUrl: options.validatorUrl,
        token,
        name: registration.name,
        description: 'Registered from the console.',
        clock,
        onStep: (title, exchange) => {
          registration.steps.push(stepOf(title, exchange, clock))
          const { initial_payment_contract_id: payment } = membersOf(exchange.body)
          if (typeof payment === 'string') registration.payment = payment
        },
      })
      registration.state = 'done'
    } catch (error) {
      registration.problem = messageOf(error)
      registration.state = 'failed'
    }
  }
  return {
    /** Starts, and returns the id at once. @throws {CommandError} If too many are running. */
    async start(asked: User): Promise<string> {
      if (stored.filter(({ state }) => state === 'running').length >= RUNNING_MAX)
        throw new CommandError('too many registrations are running; wait until one has ended')
      const token = await options.token(asked.user)
      options.watch()
      count += 1
      const registration = newRegistration(`registration-${count}`, asked, set)
      stored.unshift(registration)
      stored.splice(STORED_MAX)
      void run(registration, token)
      return registration.id
    },
    /** Newest first, each with the confirmations of its payment. */
    list: () =>
      stored.map((one) => {
        const seen = one.payment === null ? [] : options.watch().confirmationsOf(one.payment)
        const confirmations = seen.map(({ confirmer, offset, recordTime }) => {
          // A super-validator's party begins with its name (D-30).
          const node = confirmer.split('::', 1)[0] ?? ''
          return { node, offset, at: formatInstant(recordTime) }
        })
        return { ...one, confirmations }
      }),
  }
}

function stepOf(title: string, { method, path, status, body }: Exchange, clock: Clock) {
  const at = formatInstant(clock.nowMicros())
  return { at, title, request: `${method} ${path}`, status, body: JSON.stringify(body) }
}
