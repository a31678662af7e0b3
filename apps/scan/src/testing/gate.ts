/** For tests: keeps a stream back. */

/** Lets a stream pass, unless it is held. */
export function createGate() {
  let held: Promise<void> = Promise.resolve()
  return {
    async *pass(pieces: AsyncIterable<Uint8Array>) {
      for await (const piece of pieces) {
        await held
        yield piece
      }
    },
    hold() {
      let release = () => {}
      held = new Promise((resolve) => {
        release = resolve
      })
      return release
    },
  }
}
