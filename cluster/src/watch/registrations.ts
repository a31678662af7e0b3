/** Registrations walked through for whoever watches, step by step, each with the confirmations of its payment. */
import type { Clock } from '@quorumscan/base'
import { CommandError, messageOf } from '@quorumscan/runtime'
import { formatInstant as formatTime, quorumOf } from '@quorumscan/verifier'
import { type Exchange, registerName } from '../rig/registration.ts'
import type { ConfirmationWatch } from './confirmations.ts'

/** What a screen shows; the ledger keeps them all. */
const KEPT_MAX = 20
/** Of one person at one screen. */
const RUNNING_MAX = 8

type Kept = {
  readonly id: string
  readonly name: string
  readonly user: string
  readonly state: 'running' | 'done' | 'failed'
  readonly steps: ReturnType<typeof stepOf>[]
  /** Confirmations of its payment that resolve it (D-23). */
  readonly neededCount: number
  /** Null until it is paid. */
  readonly payment: string | null
  /** Why it failed. */
  readonly problem: string | null
}

export function createRegistrations(options: {
  readonly validatorUrl: string
  readonly nodeNames: readonly string[]
  /** Of a user of the validator. */
  readonly token: (user: string) => Promise<string>
  /** Started at the first registration. */
  readonly watch: () => ConfirmationWatch
  readonly clock: Clock
}) {
  const { clock, nodeNames } = options
  const kept: Kept[] = []
  let count = 0

  const update = (id: string, change: Partial<Kept>): void => {
    const index = kept.findIndex((one) => one.id === id)
    const before = kept[index]
    if (before !== undefined) kept[index] = { ...before, ...change }
  }
  const run = async (registration: Kept, token: string): Promise<void> => {
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
    /** Starts and returns at once. @throws {CommandError} If too many are under way. */
    async start({ name, user }: { readonly name: string; readonly user: string }): Promise<string> {
      if (kept.filter(({ state }) => state === 'running').length >= RUNNING_MAX)
        throw new CommandError('too many registrations are under way')
      const token = await options.token(user)
      options.watch()
      count += 1
      const registration: Kept = {
        ...{ id: `registration-${count}`, name, user, state: 'running', steps: [] },
        ...{ neededCount: quorumOf(nodeNames.length), payment: null, problem: null },
      }
      kept.unshift(registration)
      kept.splice(KEPT_MAX)
      void run(registration, token)
      return registration.id
    },
    /** Newest first, each with the confirmations of its payment. */
    list: () =>
      kept.map((one) => ({
        ...one,
        confirmations: (one.payment === null ? [] : options.watch().of(one.payment)).map(
          ({ confirmer, offset, recordTime }) => ({
            node: nodeOf(confirmer, nodeNames),
            offset,
            at: formatTime(recordTime),
          }),
        ),
      })),
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
