/** What the state says of the network itself, as ranges of the state tree. */
import type { Json } from '../encoding/canonical-json.ts'
import { parseValue, type Question, rangeUnder } from './question.ts'

/** What endpoints answer that is the same on all nodes: operator and rules, the rules of names, the nodes. */
export type NetworkValue = 'dso' | 'ans-rules' | 'scans'

/** The answer of the endpoint; null: the state has none, which no network's is. */
export function askNetwork(value: NetworkValue): Question<Json> {
  return {
    ranges: [rangeUnder(['c', value], 1)],
    offset: null,
    answer: ([run = []]) => (run[0] === undefined ? null : (parseValue(run[0].value) as Json)),
  }
}
