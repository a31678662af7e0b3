/** Prepares the directory of a cluster, and takes its control port. */
import { CommandError } from '@quorumscan/runtime'
import { type Prepared, type PrepareInput, prepareCluster } from '../rig/prepare.ts'

/** Blocks of ports that are drawn before a start fails. */
const DRAWS_MAX = 5

/** Another program listens on the control port. */
export class PortTakenError extends CommandError {}

/**
 * Draws other ports if another cluster, which starts at the same time, has taken the control port since they were drawn. A
 * port that an operator chose, or that an earlier start stored, is taken or refused: whoever has it is the only control plane
 * of this directory.
 *
 * @param listen - Listens on the control port. Throws PortTakenError if it is taken.
 * @throws {PortTakenError} If a chosen port is taken, or each of the blocks that were drawn.
 * @throws {CommandError} As `prepareCluster`.
 */
export async function takePorts<S>(
  input: PrepareInput,
  listen: (prepared: Prepared) => Promise<S>,
): Promise<{ readonly prepared: Prepared; readonly server: S }> {
  const isChosen = input.basePort !== null && input.basePort !== 0
  for (let draws = 1; ; draws++) {
    // The first round has made the genesis.
    const again = { isRedrawn: true, overrides: null }
    const prepared = await prepareCluster(draws === 1 ? input : { ...input, ...again })
    try {
      return { prepared, server: await listen(prepared) }
    } catch (error) {
      const mayDraw = prepared.hasDrawnPorts && !isChosen && draws < DRAWS_MAX
      if (!(error instanceof PortTakenError) || !mayDraw) throw error
    }
  }
}
