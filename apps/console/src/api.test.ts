import { TRPCClientError } from '@trpc/client'
import { expect, it } from 'vitest'
import { reasonOf } from './api.ts'

it.each([
  [401, 'the token of this address is not that of the cluster'],
  [502, 'the control plane does not answer'],
  [undefined, 'the control plane does not answer'],
])('shows a sentence for an answer with status %s that is not from the router', (status, words) => {
  const meta = status === undefined ? {} : { response: { status } }
  expect(reasonOf(TRPCClientError.from(new Error('no JSON'), { meta }))).toBe(words)
})
