/** The page: header, strip, and one panel for each thing to watch or to do. */

import { ChaosPanel } from './panels/chaos.tsx'
import { ChartPanel } from './panels/charts.tsx'
import { EventPanel } from './panels/events.tsx'
import { LookupPanel } from './panels/lookup.tsx'
import { NodePanel } from './panels/nodes.tsx'
import { QueuePanel } from './panels/queues.tsx'
import { RegistrationPanel } from './panels/registration.tsx'
import { Panel } from './parts.tsx'
import { Strip } from './strip.tsx'
import { ThemeButton } from './theme.tsx'
import { type ClusterView, useCluster } from './use-cluster.ts'

export function App({ token }: { readonly token: string }) {
  return token === '' ? <NoToken /> : <Console token={token} />
}

function Console({ token }: { readonly token: string }) {
  const view = useCluster(token)
  const { api, status, events, samples } = view
  return (
    <>
      <Header view={view} />
      <main>
        {status === null ? (
          <p className="notice" role="status">
            {view.problem ?? 'Connecting to the control plane …'}
          </p>
        ) : (
          <>
            <Strip status={status} />
            <div className="columns">
              <div className="column">
                <LookupPanel api={api} />
                <RegistrationPanel api={api} nodes={status.nodes.map(({ name }) => name)} />
                <QueuePanel api={api} />
              </div>
              <div className="column">
                <NodePanel snapshot={{ api, status, samples }} />
                <ChartPanel samples={samples} events={events} faults={status.faults} />
                <EventPanel events={events} />
                <ChaosPanel api={api} f={status.cluster.f} />
              </div>
            </div>
          </>
        )}
      </main>
    </>
  )
}

const CONNECTION_LABELS = { connecting: 'connecting', open: 'live', lost: 'connection lost' }

function Header({ view: { connection, status } }: { readonly view: ClusterView }) {
  return (
    <header className="top">
      <h1>
        <img className="mark" src="./icon.svg" alt="" /> quorumscan{' '}
        <span className="muted">console</span>
      </h1>
      <div className="top-right">
        {status && (
          <span className="muted genesis" title={`genesis ${status.cluster.genesisHash}`}>
            genesis {status.cluster.genesisHash.slice(0, 8)}
          </span>
        )}
        <span className={`badge ${connection === 'open' ? 'good' : 'warn'}`} role="status">
          {CONNECTION_LABELS[connection]}
        </span>
        <ThemeButton />
      </div>
    </header>
  )
}

function NoToken() {
  return (
    <main>
      <Panel title="No token">
        <p>
          This page controls the cluster, so its address needs the token of the data directory. Run{' '}
          <code>npx --no quorumscan status</code> and open the address that it prints as{' '}
          <strong>console</strong>.
        </p>
      </Panel>
    </main>
  )
}
