/** Version of the renderer; raise it when output changes. Publishing renders again what an older version rendered. */
export const RENDERER = 2;

/** A code block's language as shown: only A-Z a-z 0-9 _ + # . - (contract.md F9). */
export function codeLanguage(language: string | undefined): string {
  return (language ?? '').replace(/[^A-Za-z0-9_+#.-]/g, '');
}
