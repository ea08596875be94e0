import { expect, it } from 'vitest';
import { describeLanguage } from '../src/language-names.ts';

// contract.md V43
it.each([
  ['de-1996', 'German (German orthography of 1996) (de-1996)'],
  ['es-419', 'Latin American Spanish (es-419)'],
  ['pt-BR', 'Brazilian Portuguese (pt-BR)'],
  ['zh-TW', 'Chinese (Traditional, Taiwan) (zh-Hant-TW)'],
  ['zh-CN', 'Chinese (Simplified, China) (zh-Hans-CN)'],
  ['sr-Latn', 'Serbian (Latin) (sr-Latn)'],
  ['ca-valencia', 'Catalan (Valencian) (ca-valencia)'],
  ['de-obeyme', 'German (de)'],
  ['de-1996-obeyme', 'German (German orthography of 1996) (de-1996)'],
  ['de-2obe', 'German (de)'],
  ['en-x-obeyme', 'English (en)'],
  ['es-u-ca-buddhist', 'Spanish (es)'],
])('a model reads %s as %s', (tag, name) => {
  expect(describeLanguage(tag)).toBe(name);
});
