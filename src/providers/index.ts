/** The one place where a configured provider is made. */
import { createPseudoProvider } from './pseudo.ts';
import type { TranslationProvider } from './types.ts';

/** Which engine translates, with its settings. */
export type TranslationProviderConfig = { readonly provider: 'pseudo' };

/** The provider that the configuration names. */
export function createTranslationProvider(config: TranslationProviderConfig): TranslationProvider {
  switch (config.provider) {
    case 'pseudo':
      return createPseudoProvider();
  }
}
