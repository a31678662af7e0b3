import type { Environment } from '../environment.ts'

/** For tests: a command that is typed where nothing is installed. */
export function testEnvironment(changes: Partial<Environment> = {}): Environment {
  return {
    version: '0.0.0',
    commit: () => 'unknown',
    isTerminal: true,
    defaultDataDirectory: '/somewhere/.quorumscan',
    redisServer: 'none',
    entryFiles: { scan: '', synchronizer: '', validator: '' },
    ...changes,
  }
}
