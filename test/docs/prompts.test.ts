import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { REPAIR } from '../../src/providers/prompts/repair.ts';
import type { Prompt } from '../../src/providers/prompts/shared.ts';
import { DRAW_STYLE_SHEET } from '../../src/providers/prompts/style-sheet.ts';
import { TRANSLATE } from '../../src/providers/prompts/translate.ts';
import { translatingInstructions } from '../../src/providers/prompts.ts';

const LANGUAGES = { sourceLanguage: 'en', targetLanguage: 'es' };

it.each([
  ['translate', translatingInstructions(LANGUAGES)],
  ['style-sheet', DRAW_STYLE_SHEET.instructions(LANGUAGES)],
])('shows operators the instructions of a model, word for word: %s', (name, instructions) => {
  const shown = readFileSync(new URL(`../../examples/prompts/${name}.txt`, import.meta.url), 'utf8');
  expect(shown).toBe(`${instructions}\n`);
});

// Texts of another version of the instructions are not reused: whoever changes the words raises the version, and writes
// both here.
// contract.md V50
it.each<[string, Prompt, string]>([
  ['translate', TRANSLATE, '4 xBMdtczU'],
  ['repair', REPAIR, '1 KInvGeaG'],
  ['style sheet', DRAW_STYLE_SHEET, '1 hw3Ecc-g'],
])('has a version for each wording: %s', (_, { version, instructions }, known) => {
  const words = hash('sha256', instructions(LANGUAGES), 'base64url').slice(0, 8);
  expect(`${version} ${words}`).toBe(known);
});
