/**
 * The patterns of our OpenAPI and AsyncAPI documents, as regular expressions of other languages: each reads them, and finds
 * the same as JavaScript.
 *
 * @module-tag long
 * @module-tag suites-documents
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { required } from '@quorumscan/testkit'
import { it as base } from '@quorumscan/testkit/fixtures'
import fc from 'fast-check'
import { describe } from 'vitest'
import { expectAll } from './tally.ts'

const DOCUMENTS = join(import.meta.dirname, '../../packages/api/generated')

/** Texts that fit each pattern, and texts that are almost the same. */
function samples(): readonly (readonly [pattern: string, text: string])[] {
  const patterns = new Set<string>()
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { pattern } = value as { readonly pattern?: unknown }
    if (typeof pattern === 'string') patterns.add(pattern)
    for (const member of Object.values(value)) collect(member)
  }
  for (const file of readdirSync(DOCUMENTS))
    collect(JSON.parse(readFileSync(join(DOCUMENTS, file), 'utf8')))
  return [...patterns].flatMap((pattern) => {
    const fitting = fc.stringMatching(new RegExp(pattern, 'u'))
    // `$` means before a last line feed, too, in some languages.
    const other = fc.tuple(
      fitting,
      fc.nat(),
      fc.constantFrom('', 'é', '😀', ' ', '-', ':', '0', 'Z'),
    )
    const changed = other.map(([text, at, character]) => {
      const place = at % (text.length + 1)
      return text.slice(0, place) + character + text.slice(place + 1)
    })
    return [fitting, changed].flatMap((texts) =>
      fc.sample(texts, { seed: 1, numRuns: 50 }).map((text) => [pattern, text] as const),
    )
  })
}

const CODE = {
  Python: `
import json, re, sys
for pattern, text in json.load(open(sys.argv[1])):
    print("true" if re.search(pattern, text) else "false")`,
  Go: `package main
import ("encoding/json"; "fmt"; "os"; "regexp")
func main() {
  bytes, _ := os.ReadFile(os.Args[1])
  var rows [][2]string
  if err := json.Unmarshal(bytes, &rows); err != nil { panic(err) }
  for _, row := range rows { fmt.Println(regexp.MustCompile(row[0]).MatchString(row[1])) }
}`,
  Java: `import java.nio.file.*;
import java.util.*;
import java.util.regex.*;
public class Patterns {
  public static void main(String[] args) throws Exception {
    List<String> lines = Files.readAllLines(Path.of(args[0]));
    for (int i = 0; i < lines.size(); i += 2)
      System.out.println(Pattern.compile(text(lines.get(i))).matcher(text(lines.get(i + 1))).find());
  }
  static String text(String base64) {
    return new String(Base64.getDecoder().decode(base64), java.nio.charset.StandardCharsets.UTF_8);
  }
}`,
} as const

const it = base.extend('verdicts', ({ directory }) => (language: keyof typeof CODE) => {
  const rows = samples()
  const write = (name: string, text: string) => {
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  }
  const base64 = (text: string) => `${Buffer.from(text).toString('base64')}\n`
  const commandOf = (): readonly [tool: string, ...args: string[]] => {
    // Java has no JSON of its own.
    if (language === 'Java') {
      const file = write('rows.txt', rows.flat().map(base64).join(''))
      return [required('java'), write('Patterns.java', CODE.Java), file]
    }
    const file = write('rows.json', JSON.stringify(rows))
    if (language === 'Go') return [required('go'), 'run', write('patterns.go', CODE.Go), file]
    return [required('python3'), write('patterns.py', CODE.Python), file]
  }
  const [tool, ...args] = commandOf()
  const output = execFileSync(tool, args, { cwd: directory, encoding: 'utf8' })
  const results = output.trim().split('\n')
  return rows.map(([pattern, text], index) => ({
    name: `${pattern} ${JSON.stringify(text)}`,
    expected: String(new RegExp(pattern, 'u').test(text)),
    actual: results[index],
  }))
})

describe('patterns of the documents', () => {
  it.for(Object.keys(CODE) as (keyof typeof CODE)[])('%s', (language, { verdicts }) => {
    expectAll(`patterns of the documents, ${language}`, verdicts(language))
  })
})
