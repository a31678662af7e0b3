/** Patterns in words, for messages: a person cannot read a pattern. `pattern-sentences.test.ts` requires a row for each. */
import {
  LEDGER_CONTRACT_ID_PATTERN,
  LEDGER_PARTY_PATTERN,
  LEDGER_STRING_PATTERN,
  PACKAGE_ID_PATTERN,
  SYNCHRONIZER_ID_PATTERN,
  USER_ID_PATTERN,
} from './schemas/ledger/grammar.ts'
import {
  INTEGER_TEXT,
  PAGE_TOKEN_PATTERN,
  PARTY_PATTERN,
  WELL_FORMED_PATTERN,
} from './schemas/scalars.ts'

const QUORUM = 'must be weak, strong, all, or a number of nodes'

const SENTENCES: Readonly<Record<string, string>> = {
  [WELL_FORMED_PATTERN]: 'must not have half of a surrogate pair',
  [INTEGER_TEXT]: 'must be a whole number without leading zeros',
  [PARTY_PATTERN]:
    'must be a party identifier: a hint of 1 to 185 letters, digits, "_" and "-", then "::1220" and 64 hex digits in lower case',
  [PAGE_TOKEN_PATTERN]: 'must be the next_page_token of the page before',
  [LEDGER_STRING_PATTERN]: 'must have 1 to 255 letters, digits, spaces and characters of ._:-#/',
  [LEDGER_PARTY_PATTERN]: 'must have 1 to 255 letters, digits, spaces and characters of :-_',
  [USER_ID_PATTERN]:
    "must have 1 to 128 letters, digits and characters of @^$.!`-#+'~_|:(), without spaces",
  [PACKAGE_ID_PATTERN]: 'must have 1 to 64 letters, digits, spaces and characters of -_',
  [SYNCHRONIZER_ID_PATTERN]: 'must be the id of a synchronizer, such as global::1220ab',
  [LEDGER_CONTRACT_ID_PATTERN]:
    'must be a contract id: "00" and 64 hex digits in lower case, or with a suffix',
  '^00[0-9a-f]{64}$': 'must be a contract id: "00" and 64 hex digits in lower case',
  '^[0-9a-f]{64}$': 'must have 64 hex digits in lower case',
  '^[0-9a-f]{128}$': 'must have 128 hex digits in lower case',
  '^[a-z0-9-]{1,32}$': 'must be the name of a node: 1 to 32 of a-z, 0-9 and "-"',
  '^([0-9]{16}:[0-9]{4})?$': 'must be empty, or the event_id of a row',
  '^[0-9]{16}:[0-9]{4}$': 'must be the event_id of a row',
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z$':
    'must be a time in UTC with six fractional digits, such as 2026-11-22T10:00:00.000000Z',
  '^\\+?[0-9]+(\\.[0-9]*)?$': 'must be a decimal without sign, such as 1.5',
  '^(weak|strong|all|[1-9][0-9]*)$': QUORUM,
  '^(weak|strong|all|[1-9][0-9]*|certified|certified-strong)$': `${QUORUM}, or certified, or certified-strong`,
  '^[!-~]+$': 'must have visible ASCII characters only',
  '^[A-Za-z0-9_-]{0,185}$': 'must have at most 185 letters, digits, "_" and "-"',
  '^[A-Za-z$_][A-Za-z0-9$_]{0,999}$': 'must be the name of a choice',
  '^[^:]+:[^:]+:[^:]+$': 'must be <package>:<module>:<entity>',
  '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$':
    'must be standard Base64 with padding',
}
const EMPTY_OR = '^$|'
const ONE_OF = /^\^\(([\w\\.|-]+)\)\$$/

/** What a text must be that fails the pattern: the end of a sentence whose subject is the member. */
export function patternSentence(pattern: string): string | undefined {
  if (pattern.startsWith(EMPTY_OR))
    return patternSentence(pattern.slice(EMPTY_OR.length))?.replace('must', 'must be empty, or')
  const [, words] = ONE_OF.exec(pattern) ?? []
  if (words !== undefined)
    return `must be one of ${words.replaceAll('\\', '').split('|').join(', ')}`
  return SENTENCES[pattern]
}
