/** Transfers in React: what became of the payment, also after a reload and in another tab. */
import {
  type UseMutationResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useCallback, useId, useRef, useState } from 'react'
import type { PaymentState, QuorumscanError } from '../errors.ts'
import { assertOptions, isObject } from '../platform/options.ts'
import { KEY } from '../platform/query-keys.ts'
import type { PaymentProgress, PaymentResult } from '../wallet/payment-result.ts'
import type { Payments, TransferInput, UnfinishedPayment } from '../wallet/payments.ts'
import type { TransferResult } from '../wallet/wallet.ts'
import { cancelledTransfer, writeError } from './write-error.ts'

/** Options of `useTransfer`. */
export type UseTransferOptions = {
  /** `payments` of `createValidator`, with a `store` that survives a reload. */
  readonly payments: Payments
}

/** What to send, or a payment of `unfinished` to settle. */
export type TransferWork = TransferInput | UnfinishedPayment

/** What TanStack Query returns of a mutation, and in addition what became of the payment. */
export type UseTransferResult = UseMutationResult<
  PaymentResult<TransferResult>,
  QuorumscanError,
  TransferWork
> & {
  /** What the call has completed so far, in order. Empty before a call, and after `reset`. */
  readonly steps: readonly PaymentProgress[]
  /** null before a call. While it is `unknown`, the ledger is read every few seconds, and nothing is sent. */
  readonly result: PaymentResult<TransferResult> | null
  /** The state of the coin, as of `useRegister`; null before the first step. */
  readonly payment: PaymentState | null
  /** What a closed session, another tab or this one left. `mutate` settles one of them. */
  readonly unfinished: readonly UnfinishedPayment[]
  /** Ends the wait. A request that was sent may have taken effect: the result is `unknown` then. */
  readonly cancel: () => void
}

/** Between two reads of the ledger, and of the store. */
const READ_MS = 5_000

/** What is known of the coin once a step is completed. */
const PAYMENTS = { stored: 'not-paid', sent: 'unknown', done: 'paid' } as const

/**
 * Sends coin: `mutate({ receiver, coin })` pays at most once. Offline it fails at once, and nothing is sent later
 * without a call. Calls run one after the other.
 *
 * @example
 * const { mutate, isPending, result, unfinished, cancel } = useTransfer({ payments: validator.payments })
 */
export function useTransfer(options: UseTransferOptions): UseTransferResult {
  assertOptions<UseTransferOptions>('useTransfer', options, { payments: isObject })
  const { payments } = options
  const client = useQueryClient()
  const id = useId()
  const running = useRef<AbortController | null>(null)
  const [steps, setSteps] = useState<readonly PaymentProgress[]>([])
  const mutation = useMutation<PaymentResult<TransferResult>, QuorumscanError, TransferWork>({
    async mutationFn(work) {
      const controller = new AbortController()
      running.current = controller
      const { signal } = controller
      setSteps([])
      const onProgress = (step: PaymentProgress) => setSteps((before) => [...before, step])
      try {
        if (!('settle' in work)) return await payments.transfer(work, { signal, onProgress })
        // The kind of the payment decides on the type of the result.
        return (await work.settle({ signal, onProgress })) as PaymentResult<TransferResult>
      } catch (error) {
        // A payment throws the reason of its signal only if it sent nothing.
        if (signal.aborted) throw cancelledTransfer('settle' in work ? undefined : work.trackingId)
        throw writeError(error)
      }
    },
    onSettled: () => void client.invalidateQueries({ queryKey: [KEY] }),
    scope: { id: KEY },
    // A library that waits for the network would send the payment later, by itself.
    networkMode: 'always',
    retry: false,
  })
  const { data: listed } = useQuery({
    queryKey: [KEY, 'unfinished'],
    queryFn: ({ signal }) => payments.unfinished({ signal }),
    refetchInterval: READ_MS,
    networkMode: 'always',
    retry: false,
  })
  const made = mutation.data ?? null
  const { data: later } = useQuery({
    // Of this hook alone: another one may begin a payment in the same millisecond.
    queryKey: [KEY, 'settled', id, mutation.submittedAt],
    queryFn: async ({ signal }) =>
      made?.kind === 'unknown' ? await made.settle({ send: false, signal }) : made,
    enabled: made?.kind === 'unknown',
    refetchInterval: ({ state }) => (state.data?.kind === 'unknown' ? READ_MS : false),
    networkMode: 'always',
    retry: false,
  })
  // A query that is disabled still has what was read before.
  const isSettled = made?.kind === 'unknown' && later != null && later.kind !== 'unknown'
  const result = isSettled ? later : made
  const cancel = useCallback(() => running.current?.abort(), [])
  const unfinished = mutation.isPending ? [] : (listed ?? [])
  const ofCall = mutation.isIdle ? [] : steps
  const last = ofCall.at(-1)
  const known = mutation.error?.payment ?? (last === undefined ? null : PAYMENTS[last.step])
  const settled = result?.kind === 'done' ? 'paid' : (result?.error.payment ?? known)
  return { ...mutation, steps: ofCall, result, payment: settled, unfinished, cancel }
}
