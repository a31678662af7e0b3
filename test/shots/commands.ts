/** Commands of the transcript of README.md, in order. */

type Typed = {
  readonly typed: string
  /** Indexes of the shown paragraphs; negative ones count from the end. Default: all. */
  readonly paragraphs?: readonly number[]
}

export const LOOKED_UP = 'alice.unverified.ns'
export const COMMANDS: readonly Typed[] = [
  { typed: 'npm start -- --detach', paragraphs: [0, 1, 2] },
  { typed: 'npx --no -- quorumscan kill sv-1' },
  { typed: `npx --no -- quorumscan resolve ${LOOKED_UP}` },
  { typed: 'npx --no -- quorumscan status', paragraphs: [0, -1] },
]
