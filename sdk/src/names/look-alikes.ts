/** Characters that only look like those of names. */

/** A character of names, then those that look like it and have no decomposition to it (UTS #39, the letters in use). */
const LOOK_ALIKES = `
  aаɑα bьв cсϲ dԁ eеҽє gɡց hһհн iіıɩι jјϳ kкκ lӏǀ|∣ mм nոηп oоοօσ pрρ qԛգ rгꭇ sѕꜱ
  tтτ uυսʋ vѵν wԝѡωա xхχ× yуγүყ zᴢ 3з -‐‑‒–—―− .。· _‗
`.split(/\s+/)

/** The character of names that this one looks like; undefined: none. "é", "ａ" and "𝐚" have a decomposition to it. */
export function lookAlikeOf(character: string): string | undefined {
  const [base = ''] = character.normalize('NFKD').toLowerCase()
  if (/[a-z0-9_.-]/.test(base)) return base
  return LOOK_ALIKES.find((row) => row.includes(base, 1))?.[0]
}
