/** Creates the configured provider. */
import { type Config, ConfigurationError } from '../config.ts';
import { createApertiumProvider } from './apertium.ts';
import { createDeepLProvider } from './deepl.ts';
import { createPseudoProvider } from './pseudo.ts';
import type { TranslationProvider } from './types.ts';

/**
 * The configured provider. The library of chat models is loaded only where one translates.
 * @throws {ConfigurationError} naming a missing variable; `loadConfig` has checked it already
 */
export async function createTranslationProvider(config: Config): Promise<TranslationProvider> {
  const timeoutMs = config.PROVIDER_TIMEOUT_SECONDS * 1_000;
  switch (config.TRANSLATION_PROVIDER) {
    case 'pseudo':
      return createPseudoProvider();
    case 'openai-compatible': {
      const { createOpenAiCompatibleProvider } = await import('./openai-compatible.ts');
      return createOpenAiCompatibleProvider({
        baseUrl: needed(config, 'AI_BASE_URL'),
        model: needed(config, 'AI_MODEL'),
        apiKey: config.AI_API_KEY,
        timeoutMs,
      });
    }
    case 'deepl':
      return createDeepLProvider({
        apiKey: needed(config, 'DEEPL_API_KEY'),
        serverUrl: config.DEEPL_SERVER_URL,
        timeoutMs,
      });
    case 'apertium':
      return createApertiumProvider({ url: needed(config, 'APERTIUM_URL'), timeoutMs });
  }
}

function needed(config: Config, name: 'AI_BASE_URL' | 'AI_MODEL' | 'DEEPL_API_KEY' | 'APERTIUM_URL'): string {
  const value = config[name];
  if (value === undefined) {
    throw new ConfigurationError(`${name}: needed by TRANSLATION_PROVIDER=${config.TRANSLATION_PROVIDER}`);
  }
  return value;
}
