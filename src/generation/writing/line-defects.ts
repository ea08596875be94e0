import type { Defect } from './brief.ts';
import { excerpt } from './defects.ts';
import { textDefect } from './language.ts';
import { isChatter } from './markdown/chatter.ts';
import type { ArticleWriter } from './writer.ts';

export interface LineRules {
  readonly writer: ArticleWriter;
  readonly language: string;
  /** As in `Said`. */
  readonly said: string;
}

/** What only another call can correct of a title or another text on one line. @param name of it in the response */
export function lineDefects(name: string, text: string, { writer, language, said }: LineRules): Defect[] {
  if (text === '') return [{ code: 'empty', problem: `${name}: It is empty.` }];
  const foreign = textDefect(writer, text, language);
  return [
    ...(foreign === null ? [] : [{ ...foreign, problem: `${name}: ${foreign.problem}` }]),
    ...(isChatter(text, said)
      ? [excerpt('chatter', `${name}: It speaks about the response or its writer.`, text)]
      : []),
  ];
}
