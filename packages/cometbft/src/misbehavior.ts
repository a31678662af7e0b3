/**
 * Evidence that a member voted twice in one step. The engine reports only the member. Both votes are in the block that
 * reports it, and are read later, as the engine cannot answer while it repeats its blocks.
 */
import { existsSync } from 'node:fs'
import { held, readParsed, toHex } from '@quorumscan/base'
import { writeFileAtomic } from '@quorumscan/runtime'
import {
  type CometbftOrdering,
  createEvidenceLog,
  type Evidence,
  type Genesis,
  verifyEvidence,
} from '@quorumscan/verifier'
import { readDuplicateVotes, type SignedVote } from './engine-answers.ts'
import { nodeIdOf as addressOf } from './engine-files.ts'
import type { EngineRpc } from './engine-rpc.ts'
import { voteSignBytes } from './votes.ts'

/** Blocks that one `fetch` reads. */
const BLOCKS_PER_FETCH = 20

/** Reads what was found before. */
export async function createMisbehavior(options: {
  readonly file: string
  readonly rpc: EngineRpc
  readonly genesis: Genesis
  readonly ordering: CometbftOrdering
  readonly chainId: string
  readonly onFound: (evidence: Evidence) => void
}) {
  const { file, genesis, rpc } = options
  const stored: Stored = existsSync(file)
    ? await readParsed(file, JSON.parse)
    : { heights: [], evidence: [] }
  const log = createEvidenceLog(stored.evidence)
  const heights = held(
    {
      owner: 'cometbft',
      name: 'blocks with evidence',
      kind: 'state',
      bound: 'those that the engine has',
    },
    new Set(stored.heights),
  )
  /** Blocks with evidence that could not be verified. They stay noted for the software of the next start. */
  const unverified = held(
    {
      owner: 'cometbft',
      name: 'blocks with unverified evidence',
      kind: 'state',
      bound: 'those that the engine has',
    },
    new Set<number>(),
  )
  const save = () =>
    writeFileAtomic(file, JSON.stringify({ heights: [...heights], evidence: log.list() }))

  return {
    /** Resolves when it is written down that the block has evidence. */
    async note(height: number): Promise<void> {
      heights.add(height)
      save()
    },
    /**
     * Asks the engine for the blocks that are noted.
     *
     * @throws {EvidenceError} If one holds what others could not verify. @throws {ZodError} If one cannot be read.
     * @throws {EngineUnavailableError} @throws {EngineRefusedError} The next call asks again.
     */
    async fetch(): Promise<void> {
      const due = [...heights].filter((height) => !unverified.has(height))
      if (due.length === 0) return
      const failures: unknown[] = []
      for (const height of due.slice(0, BLOCKS_PER_FETCH)) {
        const failuresBefore = failures.length
        const answer = await rpc.call('block', { height: String(height) })
        for (const votes of duplicateVotesIn(answer, failures))
          try {
            for (const evidence of evidenceOf(votes, options)) {
              await verifyEvidence(evidence, { genesis })
              if (log.add(evidence)) options.onFound(evidence)
            }
          } catch (error) {
            failures.push(error)
          }
        if (failures.length === failuresBefore) heights.delete(height)
        else unverified.add(height)
      }
      save()
      if (failures.length > 0) throw failures[0]
    },
    list: (): readonly Evidence[] => log.list(),
  }
}

type Stored = { readonly heights: readonly number[]; readonly evidence: readonly Evidence[] }

/** None of a block whose evidence cannot be read, which is a failure. */
function duplicateVotesIn(answer: unknown, failures: unknown[]) {
  try {
    return readDuplicateVotes(answer)
  } catch (error) {
    failures.push(error)
    return []
  }
}

/** The engine writes votes as JSON. The signed bytes are encoded from them again. */
function evidenceOf(
  [one, other]: readonly [SignedVote, SignedVote],
  { chainId, ordering }: { readonly chainId: string; readonly ordering: CometbftOrdering },
): readonly Evidence[] {
  const member = ordering.validators.find(
    ({ key }) => addressOf(key) === one.validator_address.toLowerCase(),
  )
  if (member === undefined) return []
  const signed = (vote: SignedVote) => ({
    statement: toHex(voteSignBytes(vote, chainId)),
    signature: toHex(Buffer.from(vote.signature, 'base64')),
  })
  return [{ signer: member.name, statements: [signed(one), signed(other)] }]
}
