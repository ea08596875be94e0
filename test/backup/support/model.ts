import { askedTexts, chatRequest, pseudoCompletion } from '../../support/chat-completions.ts';
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
    const [instructions] = chatRequest(request).messages;
    if (instructions?.content.startsWith('An article is about to be translated') === true) {
      return pseudoCompletion(request);
    }
    if (instructions?.content.startsWith('You translate the texts of an article') !== true) {
      suggestions += 1;
      return silence;
    }
    asked.push(...Object.values(askedTexts(request)));
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
