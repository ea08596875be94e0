/** Raised whenever a document comes out differently: publishing renders anew what an earlier one has rendered. */
export const RENDERER = 2;

/** A code block's language as shown: only A-Z a-z 0-9 _ + # . - (contract.md F9). */
export function codeLanguage(language: string | undefined): string {
  return (language ?? '').replace(/[^A-Za-z0-9_+#.-]/g, '');
}
