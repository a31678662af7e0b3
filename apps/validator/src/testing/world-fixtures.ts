/** `it` with a network, its validator, and people who use it: one for all tests of a file. */
import { it } from '@quorumscan/testkit/fixtures'
import { genesisContracts } from './genesis-contracts.ts'
import { startTestValidator } from './test-validator.ts'

export const itInWorld = it
  .extend('world', { scope: 'file' }, async ({ fileResources }) =>
    fileResources.opened(await startTestValidator()),
  )
  .extend('admin', { scope: 'file' }, ({ world }) => world.clientOf('participant_admin'))
  .extend('contracts', { scope: 'file' }, ({ world }) => genesisContracts(world))

/** `client` is that of alice. */
export const itWithPeople = itInWorld
  .extend('alice', { scope: 'file' }, ({ world }) => world.registered('alice'))
  .extend('bob', { scope: 'file' }, ({ world }) => world.registered('bob'))
  .extend('client', { scope: 'file' }, ({ alice }) => alice.client)
