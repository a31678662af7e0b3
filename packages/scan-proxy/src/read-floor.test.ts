import { ScanError } from '@quorumscan/errors'
import { expect, it } from 'vitest'
import { createShown, noteAnswers } from './read-floor.ts'

const refusal = new ScanError('NAME_TAKEN', 'the name is taken')

it.each([
  [
    'throws',
    () => {
      throw refusal
    },
  ],
  ['rejects', () => Promise.reject(refusal)],
])('a handler that %s notes the offset that its refusal shows', async (_, handle) => {
  const shown = createShown({ visibleOffset: () => 7 }, 0)
  const { ask } = noteAnswers(shown, { ask: handle }) as unknown as { ask(): Promise<unknown> }
  expect(await ask()).toEqual({ error: refusal, headers: { 'x-ledger-offset': '7' } })
})
