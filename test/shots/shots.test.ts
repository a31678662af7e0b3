/** Pictures of the console and the transcript in README.md show the current texts. `npm run docs:shots` makes them. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { COMMANDS } from './commands.ts'
import { currentDigest, digestOf, README, recordedDigest, textsOf } from './shown-texts.ts'
import { transcriptOf, typedIn, withTranscript } from './transcript.ts'

const MAKE = 'The texts changed since the shots were made. Run: npm run docs:shots'
const textsIn = (source: string) => textsOf('a.tsx', source)

it('the digest changes with a text, but not with the code around it', () => {
  const panel = `import { x } from './x.ts'; const a = <p title="One">Two {\`three \${x} four\`}</p>`
  const texts = textsIn(panel)
  expect(texts).toEqual(['One', 'Two', 'three', 'four'])
  const moved = `import { x } from './y.ts'; const a = [\`three \${x} four\`, 'One', <b>
Two </b>]`
  expect(digestOf(textsIn(moved))).toBe(digestOf(texts))
  expect(digestOf(textsIn(panel.replace('Two', '2')))).not.toBe(digestOf(texts))
})

it('a transcript contains no token, long hash or line of npm', () => {
  const printed = `> run\n\nconsole  http://x/#token=ab12\nid ${'0123456789abcdef'.repeat(4)}\n`
  const transcript = transcriptOf([{ typed: 'npm start', printed }])
  expect(transcript).toBe('$ npm start\nconsole  http://x/#…\nid 01234567…\n')
  const printedParts = { typed: 'x', printed: '  a\nb\n\nc\n\nd\n', paragraphs: [0, -1] }
  expect(transcriptOf([printedParts])).toBe('$ x\n  a\nb\n\nd\n\n…\n')
  expect(() => withTranscript('# A document', transcript)).toThrow(/no place/)
})

it('the README contains the transcript of all commands', () => {
  expect(typedIn(readFileSync(README, 'utf8'))).toEqual(COMMANDS.map(({ typed }) => typed))
})

it('the shots show the current texts', () => {
  expect(recordedDigest(), MAKE).toBe(currentDigest())
})
