/** The detector with its smallest data: the package types only the entry that loads them later. */
declare module 'eld/extrasmall' {
  export const eld: {
    detect(text: string): { getScores(): Record<string, number> };
    info(): { Languages: Record<number, string> };
  };
}
