/** Registrations for the console, step by step, with the confirmations of their payments. */
import type { Clock } from '@quorumscan/base'
import { CommandError, messageOf } from '@quorumscan/runtime'
import { formatInstant as formatTime, quorumOf } from '@quorumscan/verifier'
import { type Exchange, registerName } from '../rig/registration.ts'
import type { ConfirmationWatch } from './confirmations.ts'

/** As many as a screen shows. The ledger has all of them. */
const STORED_MAX = 20
/** Enough for one person. */
const RUNNING_MAX = 8

type Registration = {
  readonly id: string
  readonly name: string
  readonly user: string
  readonly state: 'running' | 'done' | 'failed'
  readonly steps: ReturnType<typeof stepOf>[]
  /** How many confirmations its payment needs (D-23). */
  readonly neededCount: number
  /** Null until it is paid. */
  readonly payment: string | null
  /** Why it failed. */
  readonly problem: string | null
}

/** The latest registrations, in memory. Each runs without its caller. */
export function createRegistrations(options: {
  readonly validatorUrl: string
  readonly nodeNames: readonly string[]
  /** A token of a user of the validator. */
  readonly token: (user: string) => Promise<string>
  /** Called first for the first registration. */
  readonly watch: () => ConfirmationWatch
  readonly clock: Clock
}) {
  const { clock, nodeNames } = options
  const stored: Registration[] = []
  let count = 0

  const update = (id: string, change: Partial<Registration>): void => {
    const index = stored.findIndex((one) => one.id === id)
    const before = stored[index]
    if (before !== undefined) stored[index] = { ...before, ...change }
  }
  const run = async (registration: Registration, token: string): Promise<void> => {
    const { id, name, steps } = registration
    try {
      await registerName({
        validatorUrl: options.validatorUrl,
        token,
        name,
        description: 'Registered from the console.',
        clock,
        onStep: (title, exchange) => {
          steps.push(stepOf(title, exchange, clock))
          const { initial_payment_contract_id: payment } = Object(exchange.body)
          if (typeof payment === 'string') update(id, { payment })
        },
      })
      update(id, { state: 'done' })
    } catch (error) {
      update(id, { state: 'failed', problem: messageOf(error) })
    }
  }
  return {
    /** Starts, and returns the id at once. @throws {CommandError} If too many are running. */
    async start({ name, user }: { readonly name: string; readonly user: string }): Promise<string> {
      if (stored.filter(({ state }) => state === 'running').length >= RUNNING_MAX)
        throw new CommandError('too many registrations are running; wait until one has ended')
      const token = await options.token(user)
      options.watch()
      count += 1
      const registration: Registration = {
        id: `registration-${count}`,
        name,
        user,
        state: 'running',
        steps: [],
        neededCount: quorumOf(nodeNames.length),
        payment: null,
        problem: null,
      }
      stored.unshift(registration)
      stored.splice(STORED_MAX)
      void run(registration, token)
      return registration.id
    },
    /** Newest first, each with the confirmations of its payment. */
    list: () =>
      stored.map((one) => {
        const seen = one.payment === null ? [] : options.watch().of(one.payment)
        const confirmations = seen.map(({ confirmer, offset, recordTime }) => {
          return { node: nodeOf(confirmer, nodeNames), offset, at: formatTime(recordTime) }
        })
        return { ...one, confirmations }
      }),
  }
}

function stepOf(title: string, { method, path, status, body }: Exchange, clock: Clock) {
  const at = formatTime(clock.nowMicros())
  return { at, title, request: `${method} ${path}`, status, body: JSON.stringify(body) }
}

/** A super-validator's party begins with its name (D-30). */
function nodeOf(confirmer: string, nodeNames: readonly string[]): string {
  const hint = confirmer.split('::', 1)[0] ?? ''
  return nodeNames.find((name) => name === hint) ?? hint
}
