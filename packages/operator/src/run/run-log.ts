/** What `run` prints: one JSON object a line, with ISO times, also for what Redis and a crash write as text. */
import { EnvError, held } from '@quorumscan/base'
import { CommandError, createLogger, type Logger, messageOf } from '@quorumscan/runtime'

/** `pid:role date mark text` of Redis and Valkey. Its time has no zone: the line gets that of its arrival. */
const REDIS_LINE = /^\d+:[A-Z] \d+ \w+ \d+ [\d:.]+ ([.*#-]) (.*)$/
/** What the signal handler of Redis writes has no mark, and comes in pieces if it is signalled twice. */
const REDIS_SIGNAL = /^(?:\d+:signal-handler \(\d+|\)? ?\) Received SIGTERM|\) )/
/** Lines that Redis marks as warnings, and that report a normal start or stop. */
const REDIS_NOTICE =
  /oO0OoO0OoO0Oo|^(?:Redis|Valkey) version=|^Configuration loaded|^Server initialized|^User requested shutdown|ready to exit, bye bye/
const LEVEL_OF_MARK = { '.': 'debug', '-': 'debug', '*': 'info', '#': 'warn' } as const

type Level = 'debug' | 'info' | 'warn' | 'error'
type Stream = 'stdout' | 'stderr'

export type RunLog = ReturnType<typeof createRunLog>

/** @param options.level - Lines of Redis below it are left out (`QS_LOG_LEVEL`). What `run` says itself is not. */
export function createRunLog(options: {
  /** The operator. */
  readonly name: string
  readonly level: string
  readonly write: (line: string) => void
}) {
  const { level, write } = options
  const stream = { write }
  const own = createLogger({ name: `${options.name}.run`, level: 'info', stream })
  const byProcess = held(
    {
      owner: 'operator',
      name: 'loggers of processes',
      kind: 'state',
      bound: 'one of each process',
    },
    new Map<string, Logger>(),
  )
  const loggerOf = (id: string): Logger => {
    const logger = byProcess.get(id) ?? createLogger({ name: id, level, stream })
    byProcess.set(id, logger)
    return logger
  }
  return {
    /** What `run` itself has to say. */
    report: (sentence: string, as: 'info' | 'warn' | 'error' = 'info'): void => own[as](sentence),
    /** Why it ends: a sentence for an operator; of any other error also its stack trace, if it is a defect. */
    reportEnd(error: unknown): void {
      const isForOperators = error instanceof CommandError || error instanceof EnvError
      own.error(isForOperators ? {} : { err: error }, messageOf(error))
    },
    /** A line that a process wrote. */
    pass(id: string, line: string, from: Stream): void {
      if (line.trim() === '') return
      if (isLogLine(line)) {
        write(`${line}\n`)
        return
      }
      const [as, text] = readText(line, from)
      loggerOf(id)[as](text)
    },
  }
}

/** Whether it is a line of the log of a process, which stays as it is. */
function isLogLine(line: string): boolean {
  if (!line.startsWith('{')) return false
  try {
    const { level, time, msg } = JSON.parse(line)
    return [level, time, msg].every((one) => typeof one === 'string')
  } catch {
    return false
  }
}

/** The level and the text of another line. */
function readText(line: string, from: Stream): readonly [Level, string] {
  const [, mark, text] = REDIS_LINE.exec(line) ?? []
  if (mark !== undefined && text !== undefined)
    return [
      REDIS_NOTICE.test(text) ? 'info' : LEVEL_OF_MARK[mark as keyof typeof LEVEL_OF_MARK],
      text,
    ]
  if (REDIS_SIGNAL.test(line)) return ['debug', line]
  // Node prints its warnings there.
  if (from === 'stderr') return [/^\(node:\d+\)|^\(Use `node /.test(line) ? 'warn' : 'error', line]
  return ['info', line]
}
