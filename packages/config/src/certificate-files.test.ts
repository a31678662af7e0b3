import { assertCertificate, type Env, type NoteVariable } from '@quorumscan/base'
import { expect, it } from 'vitest'
import { certificateFilesOf } from './certificate-files.ts'
import { readScanConfig } from './scan-config.ts'
import { readSynchronizerConfig } from './synchronizer-config.ts'
import { readValidatorConfig } from './validator-config.ts'

const common = { QS_GENESIS: '/d/genesis.json', QS_PORT: '1' }
const follower = { ...common, QS_LOG: 'https://orderer.example', QS_REDIS: 'rediss://r.example' }
const seeds = { QS_SEEDS: 'https://sv-1.example', QS_JWKS_URL: 'https://issuer.example' }
type Read = (env: Env, note?: NoteVariable) => Parameters<typeof certificateFilesOf>[0]

it.each<[what: string, read: Read, env: Env]>([
  [
    'a scan node',
    readScanConfig,
    {
      ...follower,
      QS_NODE_NAME: 'sv-1',
      QS_SCAN_KEY_FILE: '/d/scan',
      QS_OPERATOR_KEY_FILE: '/d/operator',
    },
  ],
  [
    'a validator',
    readValidatorConfig,
    { ...follower, ...seeds, QS_PARTICIPANT_KEY_FILE: '/d/key' },
  ],
  [
    'the one synchronizer',
    readSynchronizerConfig,
    { ...common, QS_LOG_REDIS: 'rediss://r.example', QS_KEY_FILE: '/d/key' },
  ],
  [
    'a synchronizer of a member',
    readSynchronizerConfig,
    {
      ...common,
      QS_REDIS: 'rediss://r.example',
      QS_ENGINE_HOME: '/d/engine',
      QS_ENGINE_SOCKETS: '/d/sockets',
      QS_ENGINE_ADDRESS: '0.0.0.0:1',
      QS_ENGINE_KEY_FILE: '/d/engine-key',
    },
  ],
])('finds each variable of %s that names certificates', (_, read, env) => {
  const names = new Set<string>()
  const note: NoteVariable = ({ name, file }) => file === assertCertificate && names.add(name)
  const keys = { QS_LOG_KEY: '/d/k', QS_TLS_KEY: '/d/k', QS_REDIS_KEY: '/d/k' }
  const all: Record<string, string | undefined> = { ...keys, QS_LOG_REDIS_KEY: '/d/k', ...env }
  // Those that are read are known only once it was read.
  try {
    read(all, note)
  } catch {}
  for (const name of names) all[name] = `/d/${name}`
  const found = certificateFilesOf(read(all))
  expect(names.size).toBeGreaterThan(3)
  expect([...found.map(({ variable }) => variable), 'QS_TLS_CERT'].sort()).toEqual(
    [...names].sort(),
  )
  for (const { variable, file } of found) expect(file).toBe(`/d/${variable}`)
})
