import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { termsInstructions, translatingInstructions } from '../../src/providers/prompts.ts';

it('shows operators what a model is told, word for word', () => {
  const page = readFileSync(new URL('../../docs/operating-translations.md', import.meta.url), 'utf8');
  const languages = { sourceLanguage: 'en', targetLanguage: 'es' };
  for (const instructions of [translatingInstructions(languages), termsInstructions(languages)]) {
    expect(page).toContain(`\`\`\`text\n${instructions}\n\`\`\`\n`);
  }
});
