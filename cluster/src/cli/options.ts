/** What several commands share: parsing of numbers, and the one way to the terminal. */
import { InvalidArgumentError } from 'commander'

export function integer(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text)
    if (/^[0-9]+$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`It is an integer from ${min} to ${max}.`)
  }
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
