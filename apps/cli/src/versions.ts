/** The output of `--version`: what an operator compares before an upgrade, and reports with a problem. */
import { KNOWN_RULES } from '@quorumscan/ledger'
import { ENGINE_VERSION } from '@quorumscan/operator/engine'
import type { Environment } from './environment.ts'

export function versionsText({ version, commit }: Pick<Environment, 'version' | 'commit'>): string {
  const protocols = KNOWN_RULES.map((rules) => rules.version).join(', ')
  return `quorumscan ${version}
commit ${commit()}
protocol versions ${protocols}
engine CometBFT ${ENGINE_VERSION}
`
}
