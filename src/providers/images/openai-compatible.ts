/** Images by a model behind an OpenAI-compatible API. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError } from 'ai';
import { imageMediaType } from '../../blobs/media-type.ts';
import { type AddressGuard, createAddressGuard } from '../../outbound/resolver.ts';
import { errorResponse } from '../chat-model.ts';
import { type EngineNames, wasRequestWritten } from '../http.ts';
import { IMAGE_SIZE, type ImageModel, type ImageRequest } from '../image-model.ts';
import { ProviderError } from '../types.ts';
import { createBoundedFetch } from './bounded-fetch.ts';
import { promptOf } from './styles.ts';

export interface ImageModelOptions {
  /** Such as `http://127.0.0.1:8080/v1`. */
  readonly baseUrl: string;
  readonly models: Readonly<Record<ImageRequest['quality'], string>>;
  /** Local servers need none. */
  readonly apiKey?: string | undefined;
  /** Milliseconds for one call, with the image that its response names. */
  readonly timeoutMs: number;
  /** Decides which addresses of responses are fetched; public ones alone by default. */
  readonly guard?: AddressGuard;
}

const NAMES: EngineNames = {
  engine: 'The image model',
  addressVariables: 'IMAGE_BASE_URL, IMAGE_MODEL_STANDARD and IMAGE_MODEL_HD',
  keyVariable: 'IMAGE_API_KEY',
};
const CHECK = `If this lasts, check ${NAMES.addressVariables}.`;

/** What options of the request are listed under. */
const PROVIDER = 'images';
/** The two qualities by the names that OpenAI's models have for them; servers refuse parameters that they do not know. */
const OPENAI_MODEL = /^gpt-image-/;
const OPENAI_QUALITIES = { standard: 'medium', hd: 'high' } as const;
/** Older models have fixed sizes. The widest one is nearest. */
const FIXED_SIZES: readonly (readonly [RegExp, `${number}x${number}`])[] = [
  [/^gpt-image-1(?![0-9])/, '1536x1024'],
  [/^dall-e-3$/, '1792x1024'],
];

/** What a picture is, and not a document. */
const isPicture = (bytes: Uint8Array): boolean => {
  const mediaType = imageMediaType(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return mediaType !== null && mediaType !== 'image/svg+xml';
};

/**
 * A model without retries of its own, one image a call (contract.md G93 and G94): the caller decides whether to pay again.
 * A response that names an address is fetched from the API's own origin or through the guarded dial.
 */
export function createOpenAiCompatibleImageModel({
  baseUrl,
  models,
  apiKey,
  timeoutMs,
  guard = createAddressGuard({ allowedNetworks: [] }),
}: ImageModelOptions): ImageModel {
  return {
    name: 'openai-compatible',
    modelOf: (quality) => models[quality],
    async draw(request) {
      const { signal, quality } = request;
      signal.throwIfAborted();
      const clock = AbortSignal.timeout(timeoutMs);
      const either = AbortSignal.any([signal, clock]);
      let hasResponded = false;
      const fetch = createBoundedFetch({
        ...{ baseUrl, guard, timeoutMs, signal: either },
        onResponse: () => {
          hasResponded = true;
        },
      });
      const model = createOpenAICompatible({
        ...{ name: PROVIDER, baseURL: baseUrl, fetch },
        ...(apiKey === undefined ? {} : { apiKey }),
      }).imageModel(models[quality]);
      try {
        const { images } = await model.doGenerate({
          prompt: promptOf(request),
          n: 1,
          size: sizeOf(models[quality]),
          aspectRatio: undefined,
          seed: undefined,
          files: undefined,
          mask: undefined,
          providerOptions: OPENAI_MODEL.test(models[quality])
            ? { [PROVIDER]: { quality: OPENAI_QUALITIES[quality] } }
            : {},
          abortSignal: either,
        });
        return readImage(images[0]);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw failure(error, { hasResponded, isLate: clock.aborted, timeoutMs, apiKey });
      }
    },
  };
}

function sizeOf(model: string): `${number}x${number}` {
  const [, fixed] = FIXED_SIZES.find(([name]) => name.test(model)) ?? [];
  return fixed ?? `${IMAGE_SIZE.width}x${IMAGE_SIZE.height}`;
}

/** @throws {ProviderError} `unusable` for what is no picture */
function readImage(image: string | Uint8Array | undefined): Uint8Array {
  const bytes = typeof image === 'string' ? Buffer.from(withoutPrefix(image), 'base64') : image;
  if (bytes === undefined || !isPicture(bytes)) {
    throw new ProviderError('unusable', 'The image model sent something that is no image.');
  }
  return bytes;
}

/** Some servers send a data URL. */
const withoutPrefix = (text: string): string =>
  text.startsWith('data:') ? text.slice(text.indexOf(',') + 1) : text;

/** What a call failed by. Whatever fails after the model has responded is its response's fault. */
function failure(
  error: unknown,
  call: { hasResponded: boolean; isLate: boolean; timeoutMs: number; apiKey: string | undefined },
): ProviderError {
  const own = providerErrorIn(error);
  if (own !== null) return own;
  if (call.isLate) {
    const message = `${NAMES.engine} did not send an image within ${call.timeoutMs / 1_000} s.`;
    return new ProviderError('retryable', message, { unanswered: true, cause: error });
  }
  if (!call.hasResponded) {
    if (wasRequestWritten(error)) {
      const message = `${NAMES.engine} did not send a whole response. ${CHECK}`;
      return new ProviderError('retryable', message, { unanswered: true, cause: error });
    }
    return new ProviderError('retryable', `${NAMES.engine} could not be reached. ${CHECK}`, { cause: error });
  }
  const isOfModel = APICallError.isInstance(error) && error.url.endsWith('/images/generations');
  const refused = isOfModel ? errorResponse(error, call.apiKey, NAMES) : null;
  if (refused !== null) return refused;
  const message = isOfModel
    ? `${NAMES.engine} sent a response that has no list of images. ${CHECK}`
    : `${NAMES.engine} sent an address from which no image could be fetched.`;
  // Without its cause, which quotes the whole response.
  return new ProviderError('unusable', message);
}

/** Our own error, which the client may have wrapped. */
function providerErrorIn(error: unknown): ProviderError | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProviderError) return cause;
  }
  return null;
}
