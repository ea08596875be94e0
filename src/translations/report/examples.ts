import { completedJobExample } from '../../jobs/examples.ts';
import type { Report } from './schemas.ts';

/** A translation with one untranslated text, for the reference page. */
export const reportExample: Report = {
  jobId: completedJobExample.id,
  articleId: completedJobExample.articleId,
  status: 'COMPLETED',
  sourceLanguage: 'en',
  targetLanguage: 'es',
  engine: 'openai-compatible',
  credits: { estimated: 1, reserved: 1, consumed: 1 },
  texts: { total: 48, left: 1, accepted: 1, repaired: 2, memory: 0, clean: 44, open: 0 },
  words: { total: 612, left: 9, accepted: 31, repaired: 58, memory: 0, clean: 514, open: 0 },
  entries: [
    {
      outcome: 'left',
      blockId: 'b17',
      assetId: null,
      field: 'item.3',
      kind: 'listItem',
      words: 9,
      defects: [{ code: 'tags', message: 'the tag <a id="1"> is missing' }],
    },
    {
      outcome: 'accepted',
      blockId: 'b21',
      assetId: null,
      field: 'text',
      kind: 'paragraph',
      words: 31,
      defects: [{ code: 'numbers', message: 'the numbers differ: "12" of the text is missing' }],
    },
  ],
  omitted: 2,
};
