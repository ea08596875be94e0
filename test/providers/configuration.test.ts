import { describe, expect, it } from 'vitest';
import { ConfigurationError, loadConfig } from '../../src/config.ts';
import { createTranslationProvider } from '../../src/providers/index.ts';

describe('the configured engine', () => {
  it('is pseudo by default', async () => {
    expect(await createTranslationProvider(loadConfig({}))).toMatchObject({ name: 'pseudo' });
  });

  it.each([
    ['openai-compatible', { AI_BASE_URL: 'http://127.0.0.1:1/v1', AI_MODEL: 'm' }],
    ['deepl', { DEEPL_API_KEY: 'key' }],
    ['apertium', { APERTIUM_URL: 'http://127.0.0.1:2737' }],
  ])('%s starts with what it needs, and not without, naming every missing variable', async (name, needed) => {
    const config = loadConfig({ TRANSLATION_PROVIDER: name, ...needed });
    expect(await createTranslationProvider(config)).toMatchObject({ name });
    const empty = Object.fromEntries(Object.keys(needed).map((variable) => [variable, '']));
    for (const env of [{}, empty]) {
      const start = () => loadConfig({ TRANSLATION_PROVIDER: name, ...env });
      expect(start).toThrow(ConfigurationError);
      for (const variable of Object.keys(needed)) {
        expect(start).toThrow(`${variable}: needed by TRANSLATION_PROVIDER=${name}`);
      }
    }
  });

  it('refuses unknown engines and addresses that are none, without repeating values', () => {
    expect(() => loadConfig({ TRANSLATION_PROVIDER: 'babelfish' })).toThrow('TRANSLATION_PROVIDER');
    const bad = () => loadConfig({ APERTIUM_URL: 'ftp://secret@host', AI_BASE_URL: 'secret' });
    expect(bad).toThrow(/APERTIUM_URL: expected http/);
    expect(bad).toThrow(/AI_BASE_URL: expected http/);
    expect(bad).not.toThrow(/secret/);
  });
});
