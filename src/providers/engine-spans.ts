import { SpanKind } from '@opentelemetry/api';
import { traced } from '../tracing/spans.ts';
import type { ImageModel } from './image-model.ts';
import type { TranslationProvider } from './types.ts';

/** Calls of engines as spans: names that the operator has configured and counts, never a text (contract.md O3). */

interface Counted {
  readonly usage?: { readonly input: number | null; readonly output: number | null };
}

/** One call of a language model, named as the conventions for generative AI have it. */
export const tracedChat = <Response extends Counted>(
  model: string,
  call: () => Promise<Response>,
): Promise<Response> =>
  traced(
    `chat ${model}`,
    {
      kind: SpanKind.CLIENT,
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': model },
    },
    async (span) => {
      const response = await call();
      const { input = null, output = null } = response.usage ?? {};
      if (input !== null) span.setAttribute('gen_ai.usage.input_tokens', input);
      if (output !== null) span.setAttribute('gen_ai.usage.output_tokens', output);
      return response;
    },
  );

/** The engine with each of its calls as a span; those of a language model are further spans in it. */
export const tracedTranslations = (provider: TranslationProvider): TranslationProvider => {
  const { styleSheet } = provider;
  const call = <Result>(what: string, texts: number, work: () => Promise<Result>): Promise<Result> =>
    traced(
      `${what} ${provider.name}`,
      { kind: SpanKind.CLIENT, attributes: { 'engine.name': provider.name, 'engine.texts': texts } },
      work,
    );
  return {
    ...provider,
    translate: (request) => call('translate', request.segments.length, () => provider.translate(request)),
    ...(styleSheet && {
      styleSheet: (request) =>
        call('style sheet', request.texts.length, () => styleSheet.call(provider, request)),
    }),
  };
};

/** The model with each image that it draws as a span. */
export const tracedImages = (model: ImageModel): ImageModel => ({
  ...model,
  draw(request) {
    const name = model.modelOf(request.quality);
    const attributes = { 'gen_ai.operation.name': 'generate_content', 'gen_ai.request.model': name };
    return traced(`draw ${name}`, { kind: SpanKind.CLIENT, attributes }, () => model.draw(request));
  },
});
