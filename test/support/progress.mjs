// Progress of `npm test`: which kinds of tests are done, how many tests passed, and how long the others will take, as far
// as test/durations.json knows.

/** A line is printed at least this often, and when a kind is done. */
const EVERY_MS = 15_000
/** Recorded seconds that must have passed before the speed of this machine is known. */
const KNOWN_AFTER_S = 20

/**
 * @param print - Of a line. Default: on stdout.
 * @param now - In milliseconds. Default: the clock of this process.
 */
export function createProgress({
  print = (line) => console.log(line),
  now = () => performance.now(),
} = {}) {
  const startedMs = now()
  const lanes = []
  /** By kind: how many files there are, and how many have ended. */
  const kinds = new Map()
  const counts = { passed: 0, failed: 0 }
  const timer = setInterval(() => print(line()), EVERY_MS)

  /** Each lane continues as fast in relation to the record as it was so far. One that has not begun is unknown. */
  function remainingSeconds() {
    return Math.max(
      0,
      ...lanes.map(({ done, all, begunMs }) => {
        const elapsed = (now() - begunMs) / 1000
        if (done < KNOWN_AFTER_S) return Math.max(0, all / 2 - elapsed)
        return (elapsed * (all - done)) / done
      }),
    )
  }

  function line() {
    const done = [...kinds].filter(([, kind]) => kind.ended === kind.files).map(([name]) => name)
    const running = [...kinds].filter(([, kind]) => kind.ended < kind.files)
    const parts = running.map(([name, { ended, files }]) => `${name} ${ended}/${files}`)
    return [
      `${time((now() - startedMs) / 1000)}  ${counts.passed} passed, ${counts.failed} failed`,
      ...(done.length > 0 ? [`done: ${done.join(', ')}`] : []),
      ...(parts.length > 0 ? [`files: ${parts.join(', ')}`] : []),
      `about ${time(remainingSeconds())} left`,
    ].join('; ')
  }

  return {
    /** Returns a function that takes the messages of one process (test/support/report.ts). */
    lane() {
      const lane = { done: 0, all: 0, begunMs: now() }
      lanes.push(lane)
      return (message) => {
        if (message.type === 'start')
          for (const { kind, seconds } of message.files) {
            lane.all += seconds
            const { ended, files } = kinds.get(kind) ?? { ended: 0, files: 0 }
            kinds.set(kind, { ended, files: files + 1 })
          }
        if (message.type !== 'end') return
        lane.done += message.seconds
        counts.passed += message.passed
        counts.failed += message.failed
        const kind = kinds.get(message.kind)
        if (kind === undefined) return
        kind.ended += 1
        if (kind.ended === kind.files) print(line())
      }
    },
    end() {
      clearInterval(timer)
    },
  }
}

function time(seconds) {
  const rounded = Math.round(seconds)
  return `${Math.floor(rounded / 60)}:${String(rounded % 60).padStart(2, '0')}`
}
