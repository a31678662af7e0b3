/** At which offset to read: pure arithmetic on what nodes claim to have (D-37). */

/**
 * The t-th largest of the heads that distinct nodes claim, never below the floor.
 *
 * Whatever f liars claim, it lies between the t-th and the (t−f)-th most advanced honest node.
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
 * The second and last pin of a read whose votes did not come in (D-37): low enough for those that
 * lag to complete the largest group, whose members have it anyway, even if f of them lie about what
 * they have, or do not vote again.
 *
 * Members of smaller groups are not counted on: what they said was outvoted.
 */
export function chooseNextPin(input: {
  /** Heads of the nodes that said OFFSET_NOT_REACHED. */
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
