import {
  askedTexts,
  completion,
  pseudoCompletion,
  schemaProperties,
} from '../../support/chat-completions.ts';
import { type EngineServer, silence, startEngineServer } from '../../support/engine-server.ts';

/** A stand-in for a language model, which translates, and hangs when told to. */
export interface Model {
  readonly url: string;
  /** Translations that are answered before the next ones hang. */
  translations: number;
  /** Texts that translations have asked for. */
  readonly asked: string[];
  /** Questions for suggestions, none of which is answered. */
  readonly suggestions: () => number;
  close(): Promise<void>;
}

export async function startModel(): Promise<Model> {
  let suggestions = 0;
  const asked: string[] = [];
  const server: EngineServer = await startEngineServer((request) => {
    if (Object.hasOwn(schemaProperties(request), 'terms'))
      return completion(JSON.stringify({ address: 'tú', terms: [] }));
    const texts = Object.values(askedTexts(request));
    if (texts.length === 0) {
      suggestions += 1;
      return silence;
    }
    asked.push(...texts);
    if (model.translations <= 0) return silence;
    model.translations -= 1;
    return pseudoCompletion(request);
  });
  const model: Model = {
    url: `${server.url}/v1`,
    translations: Number.POSITIVE_INFINITY,
    asked,
    suggestions: () => suggestions,
    close: () => server.close(),
  };
  return model;
}
