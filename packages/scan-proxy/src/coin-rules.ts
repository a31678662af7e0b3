/** Rules and rounds of coin: from the form of the nodes to that of upstream's proxy (D-16). Pure. */
import { isScanAnswer, type ResponseOf, type scanRoutes } from '@quorumscan/api'
import { fromUtf8, utf8 } from '@quorumscan/base'
import type { Decided } from '@quorumscan/reader'

type Rules = ResponseOf<typeof scanRoutes.getAmuletRules>
type Rounds = ResponseOf<typeof scanRoutes.getOpenAndIssuingMiningRounds>

/** Whether a node's answer holds the rules: it was told that nothing is cached. */
export function isWholeRules(body: unknown): boolean {
  return (
    isScanAnswer('getAmuletRules', body) && (body as Rules).amulet_rules_update.contract !== null
  )
}

/** As `isWholeRules`, of every round. */
export function isWholeRounds(body: unknown): boolean {
  if (!isScanAnswer('getOpenAndIssuingMiningRounds', body)) return false
  const { open_mining_rounds: open, issuing_mining_rounds: issuing } = body as Rounds
  const rounds = [...Object.values(open), ...Object.values(issuing)]
  return rounds.every(({ contract }) => contract !== null)
}

/** @param outcome - Of an answer that `isWholeRules`. */
export function rulesAnswer({ answer }: Decided): Uint8Array {
  const { amulet_rules_update: rules }: Rules = JSON.parse(fromUtf8(answer))
  return utf8(JSON.stringify({ amulet_rules: rules }))
}

/** @param outcome - Of an answer that `isWholeRounds`. */
export function roundsAnswer({ answer }: Decided): Uint8Array {
  const { open_mining_rounds: open, issuing_mining_rounds: issuing }: Rounds = JSON.parse(
    fromUtf8(answer),
  )
  const rounds = {
    open_mining_rounds: Object.values(open),
    issuing_mining_rounds: Object.values(issuing),
  }
  return utf8(JSON.stringify(rounds))
}
