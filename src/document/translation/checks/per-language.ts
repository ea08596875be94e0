/** The most languages that a fact is remembered for: customers choose tags. */
const MAX_REMEMBERED = 200;

/** Remembers what `read` returns for a language tag. */
export function perLanguage<Fact>(read: (language: string) => Fact): (language: string) => Fact {
  const known = new Map<string, Fact>();
  return (language) => {
    const before = known.get(language);
    if (before !== undefined) return before;
    const fact = read(language);
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(language, fact);
    return fact;
  };
}
