// What a run of tests reports: the lines of its end. test/support/report.ts collects a summary in each process of vitest,
// and test/run.mjs prints one end for all of them.

/** The sums of several summaries. */
export function merged(summaries) {
  const reasons = {}
  for (const { skipped } of summaries)
    for (const [reason, count] of Object.entries(skipped))
      reasons[reason] = (reasons[reason] ?? 0) + count
  return {
    kinds: summaries.flatMap(({ kinds }) => kinds),
    failures: summaries.flatMap(({ failures }) => failures),
    skipped: reasons,
    slower: summaries.flatMap(({ slower }) => slower),
  }
}

/** Time and counts of each kind, a line for each failure, what was skipped and why, what became slower. */
export function linesOf({ kinds, failures, skipped, slower }, seconds) {
  const sum = (key) => kinds.reduce((total, kind) => total + kind[key], 0)
  return [
    '',
    'kind           seconds   passed   failed  skipped',
    ...kinds.map(({ name, seconds, passed, failed, skipped }) => {
      const cells = [passed, failed, skipped].map((count) => String(count).padStart(8))
      return `${name.padEnd(12)} ${seconds.toFixed(1).padStart(9)} ${cells.join(' ')}`
    }),
    // At the very end: a reader of the last lines of a long output sees what failed.
    ...failures.map((failure) => `\nFAILED  ${failure}`),
    ...Object.entries(skipped).map(([reason, count]) => `\nSKIPPED  ${reason}: ${count}`),
    ...slower.map((sentence) => `\nSLOWER  ${sentence}`),
    `\n${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped in ${Math.round(seconds)} s`,
  ]
}
