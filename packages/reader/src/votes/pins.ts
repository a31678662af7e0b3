/** The offset to read at: pure arithmetic on the heads that nodes claim (D-37). */

/**
 * The t-th largest of the heads that distinct nodes claim, never below the floor.
 *
 * For any claims of f liars, it is between the heads of the t-th and the (t−f)-th most advanced honest node.
 *
 * @returns null if fewer than t nodes have claimed a head.
 */
export function choosePin(
  heads: readonly number[],
  options: { readonly threshold: number; readonly floor: number },
): number | null {
  const head = claimedByMany(heads, options.threshold)
  return head === null ? null : Math.max(head, options.floor)
}

/** The largest offset that at least `count` of the nodes claim to have; null if they are fewer. */
export function claimedByMany(heads: readonly number[], count: number): number | null {
  return [...heads].sort((a, b) => b - a)[count - 1] ?? null
}

/**
 * The second and last pin of a read without enough votes (D-37): low enough that lagging nodes complete the largest
 * group, whose members have the offset, even if f of them lie about their heads or do not vote again.
 *
 * Members of smaller groups do not count, since they were outvoted.
 */
export function chooseNextPin(input: {
  /** Heads of the nodes that answered OFFSET_NOT_REACHED. */
  readonly laggingHeads: readonly number[]
  /** Heads of all nodes that answered. */
  readonly answeredHeads: readonly number[]
  readonly largestGroupSize: number
  readonly threshold: number
  readonly faultyMax: number
  readonly floor: number
}): number | null {
  const missing = Math.max(1, input.threshold - input.largestGroupSize)
  const lagging = input.laggingHeads
  const counted = Math.max(missing, Math.min(missing + input.faultyMax, lagging.length))
  const head =
    claimedByMany(lagging, counted) ?? claimedByMany(input.answeredHeads, input.threshold)
  return head === null ? null : Math.max(head, input.floor)
}
