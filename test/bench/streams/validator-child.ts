/** A process with a validator on a Redis that has a history. Its log is down, so that no update is added. */

import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDevelopmentToken } from '@quorumscan/auth'
import { createSystemClock, fromHex } from '@quorumscan/base'
import { PLAIN_CONNECTIONS } from '@quorumscan/config'
import { DEFAULT_AUDIENCE } from '@quorumscan/model'
import { createTestNetwork, testKeyPair } from '@quorumscan/testkit'
import { openValidatorStore } from '@quorumscan/users'
import { startValidator } from '@quorumscan/validator'
import { answer, childArgument } from '../../support/child.ts'

export type ValidatorArgument = { readonly socketPath: string; readonly party: string }
export type ValidatorAnswer = { readonly url: string; readonly token: string }

const TOKEN_SECONDS = 100_000

const { socketPath, party } = childArgument<ValidatorArgument>()
const directory = await mkdtemp(join(tmpdir(), 'qs-bench-'))
const file = async (name: string, text: string) => {
  const path = join(directory, name)
  await writeFile(path, text, { mode: 0o600 })
  return path
}
const secret = testKeyPair('secret').seed
const { genesis, genesisHash } = createTestNetwork()
const READER = 'reader'
/** Adds the user to the store, because requests of an administrator need a validator that follows a log. */
const addReader = async () => {
  await using store = await openValidatorStore({ redis: { path: socketPath }, genesisHash })
  await store.users.insert({
    user: {
      id: READER,
      primaryParty: null,
      isDeactivated: false,
      metadata: {},
      identityProviderId: '',
    },
    rights: [{ kind: 'CanReadAs', party }],
  })
}
await addReader()
const validator = await startValidator({
  genesisFile: await file('genesis.json', JSON.stringify(genesis)),
  host: '127.0.0.1',
  port: 0,
  tracesEndpoint: null,
  peersFile: null,
  connections: PLAIN_CONNECTIONS,
  nodes: [],
  logLevel: 'silent',
  redis: { place: { path: socketPath } },
  log: { url: 'http://127.0.0.1:1', tokenFile: await file('token', 'none'), certificate: null },
  participantKeyFile: await file('participant', testKeyPair('bench').seed),
  seeds: ['http://127.0.0.1:1'],
  tokens: { kind: 'shared-secret', secretFile: await file('jwt', secret) },
  audience: DEFAULT_AUDIENCE,
  tokenLifetimeSecondsMax: null,
  rateLimit: 10_000_000,
  nodeTokensFile: null,
  allowPrivateAddresses: true,
  isLossAccepted: false,
  networkName: 'localnet',
  trustRule: null,
})
const token = await createDevelopmentToken({
  secret: fromHex(secret),
  user: READER,
  ttlSeconds: TOKEN_SECONDS,
  audience: DEFAULT_AUDIENCE,
  clock: createSystemClock(),
})
answer({ url: validator.url, token } satisfies ValidatorAnswer)
