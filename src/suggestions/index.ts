import type { Config } from '../config.ts';
import type { SuggestionProvider } from './provider.ts';
import { createPseudoSuggestions } from './pseudo.ts';

/** A client waits for the response, so a call gets less time than a translation batch. */
const LONGEST_CALL_MS = 25_000;

/** The configured model, loaded here with its library; without AI_BASE_URL the offline pseudo provider. */
export async function createSuggestionProvider(config: Config): Promise<SuggestionProvider> {
  const { AI_BASE_URL: baseUrl, AI_MODEL: model, AI_API_KEY: apiKey } = config;
  if (baseUrl === undefined || model === undefined) return createPseudoSuggestions();
  const timeoutMs = Math.min(config.PROVIDER_TIMEOUT_SECONDS * 1_000, LONGEST_CALL_MS);
  const { createOpenAiCompatibleSuggestions } = await import('./openai-compatible.ts');
  return createOpenAiCompatibleSuggestions({ baseUrl, model, apiKey, timeoutMs });
}
