/** Registration and renewal in React, with their steps and the state of the payment. */
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { invalidArgument, type PaymentState, type QuorumscanError } from '../errors.ts'
import { assertOptions, isObject } from '../platform/options.ts'
import { KEY } from '../platform/query-keys.ts'
import type { OwnNames } from '../validator-options.ts'
import type { RegisterInput, Registration } from '../wallet/registration.ts'
import type { RegisterProgress } from '../wallet/registration-steps.ts'
import type { Renewal, RenewOptions } from '../wallet/renewal.ts'
import type { AtOffset } from '../wallet/wallet.ts'
import { useSource } from './reads.ts'
import { writeError } from './write-error.ts'

/** What TanStack Query returns of a mutation, and in addition its steps. */
export type UseWriteResult<Done, Input, Step> = UseMutationResult<Done, QuorumscanError, Input> & {
  /** What the call has completed so far, in order. Empty before a call, and after `reset`. */
  readonly steps: readonly Step[]
  /** The state of the coin, as far as it is known; null before the first step. */
  readonly payment: PaymentState | null
}

/** Options of the hooks that write. */
export type UseWriteOptions = {
  /** `names` of `createValidator`. Default: those of the `NamesProvider`, if they come from there. */
  readonly names?: OwnNames
}

/** What `useRenew` renews. */
export type RenewInput = Pick<RenewOptions, 'after'> & { readonly name: string }

/** The coin of the renewal is locked. `isResumed`: an earlier call, or the wallet automatically, locked it. */
export type RenewStep = { readonly step: 'paid'; readonly isResumed: boolean }
/**
 * Registers a name: `mutate({ name: 'alice' })` requests, pays and waits. After an error call it again: it continues and
 * never pays twice for one request. Calls run one after the other. A registration continues if the component is gone.
 *
 * @example
 * const { mutate, isPending, steps, payment, error } = useRegister({ names: validator.names })
 */
export function useRegister(options: UseWriteOptions = {}) {
  return useWrite<Registration & AtOffset, RegisterInput, RegisterProgress>(
    options,
    (names, input, onProgress) => names.register(input, { onProgress }),
  )
}

/**
 * Pays for the next period of a name. Pass the `expiresAt` that the user saw as `after`, so that no second call pays for a
 * further period. Otherwise as `useRegister`.
 */
export function useRenew(options: UseWriteOptions = {}) {
  return useWrite<Renewal & AtOffset, RenewInput, RenewStep>(
    options,
    (names, { name, ...more }, onProgress) => names.renew(name, { ...more, onProgress }),
  )
}

/** What is known of the coin once a step is completed. */
const PAYMENTS = { requested: 'not-paid', paid: 'locked', active: 'paid' } as const

function useWrite<Done, Input, Step extends { readonly step: keyof typeof PAYMENTS }>(
  options: UseWriteOptions,
  write: (names: OwnNames, input: Input, onProgress: (step: Step) => void) => Promise<Done>,
): UseWriteResult<Done, Input, Step> {
  assertOptions<UseWriteOptions>('this hook', options, { names: isObject })
  const names = useOwnNames(options)
  const client = useQueryClient()
  const [steps, setSteps] = useState<readonly Step[]>([])
  const mutation = useMutation<Done, QuorumscanError, Input>({
    async mutationFn(input) {
      setSteps([])
      try {
        return await write(names, input, (step) => setSteps((before) => [...before, step]))
      } catch (error) {
        throw writeError(error)
      }
    },
    onSuccess: () => void client.invalidateQueries({ queryKey: [KEY] }),
    scope: { id: KEY },
    networkMode: 'always',
  })
  const ofCall = mutation.isIdle ? [] : steps
  const last = ofCall.at(-1)
  const known = last === undefined ? null : PAYMENTS[last.step]
  const payment = mutation.isSuccess ? 'paid' : (mutation.error?.payment ?? known)
  return { ...mutation, steps: ofCall, payment }
}

function useOwnNames(options: UseWriteOptions): OwnNames {
  const names = useSource(options.names)
  if ('register' in names) return names
  throw invalidArgument('Writing needs `names` of createValidator: pass them as `names`.')
}
