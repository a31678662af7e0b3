/** Follows the state of the cluster while the page is open. */
import { useEffect, useMemo, useRef, useState } from 'react'
import { connect, type LiveEvent, reasonOf, type Sample, type Status } from './api.ts'
import { unknownOf } from './headlines.ts'
import { every } from './time.ts'

/** Ten minutes of samples; the control plane keeps no more. */
const SAMPLES_MAX = 600
const EVENTS_MAX = 200

type Connection = 'connecting' | 'open' | 'lost'
export type ClusterView = ReturnType<typeof useCluster>

/** The state of the cluster that panels about nodes show. */
export type ClusterSnapshot = Pick<ClusterView, 'api' | 'samples'> & { readonly status: Status }

/** Events and samples are sorted, oldest first. `problem`: why the control plane could not be read. */
export function useCluster(token: string) {
  const [connection, setConnection] = useState<Connection>('connecting')
  const [status, setStatus] = useState<Status | null>(null)
  const [events, setEvents] = useState<readonly LiveEvent[]>([])
  const [samples, setSamples] = useState<readonly Sample[]>([])
  const [problem, setProblem] = useState<string | null>(null)
  const { api, close } = useMemo(
    () => connect(token, (isOpen) => setConnection(isOpen ? 'open' : 'lost')),
    [token],
  )

  useEffect(() => {
    const load = async () => {
      const { cluster, lookups } = api
      const [past, measured] = await Promise.all([cluster.events.query(), lookups.samples.query()])
      setEvents((known) => joined(past, known).slice(-EVENTS_MAX))
      setSamples((known) => joined(measured, known).slice(-SAMPLES_MAX))
      setProblem(null)
    }
    // Also after a lost connection: the control plane has what happened meanwhile.
    if (connection !== 'lost') load().catch((error: unknown) => setProblem(reasonOf(error)))
  }, [api, connection])
  useEffect(() => {
    const onError = (error: unknown) => setProblem(reasonOf(error))
    const onStatus = (now: Status) => {
      setStatus(now)
      setProblem(null)
    }
    const onEvent = (event: LiveEvent) => setEvents((known) => [...known, event].slice(-EVENTS_MAX))
    const onSample = (sample: Sample) =>
      setSamples((known) => [...known, sample].slice(-SAMPLES_MAX))
    const subscriptions = [
      api.cluster.watch.subscribe(undefined, { onData: onStatus, onError }),
      api.cluster.watchEvents.subscribe(undefined, { onData: onEvent, onError }),
      api.lookups.watchSamples.subscribe(undefined, { onData: onSample, onError }),
    ]
    return () => {
      for (const subscription of subscriptions) subscription.unsubscribe()
    }
  }, [api])
  useEffect(() => close, [close])
  // While the connection is lost, no state of a process is known.
  const current = useMemo(
    () => (status !== null && connection === 'lost' ? unknownOf(status) : status),
    [status, connection],
  )
  return { api, connection, status: current, events, samples, problem }
}

/** Joins the items that the control plane stored with those that arrived after the query. */
function joined<T extends { readonly at: string }>(past: readonly T[], known: readonly T[]): T[] {
  const newest = past.at(-1)?.at ?? ''
  return [...past, ...known.filter(({ at }) => at > newest)]
}

/** The newest answer of a query that is repeated each `ms`; null before the first answer and after a failure. */
export function usePolled<T>(ask: () => Promise<T>, ms: number): T | null {
  const [value, setValue] = useState<T | null>(null)
  const latest = useRef(ask)
  latest.current = ask
  useEffect(() => {
    let isMounted = true
    const show = (answer: T | null) => (isMounted ? setValue(answer) : undefined)
    // The header shows that the control plane does not answer.
    const poll = () => void latest.current().then(show, () => show(null))
    poll()
    const stop = every(ms, poll)
    return () => {
      isMounted = false
      stop()
    }
  }, [ms])
  return value
}
