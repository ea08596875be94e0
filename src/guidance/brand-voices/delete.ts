import type { VerbContext } from '../../context.ts';
import type { BrandVoiceId } from '../../ids.ts';
import { deleteNamedText, VOICES } from '../named-texts.ts';

/**
 * Deletes a voice (generation.configure; contract.md G52). Projects whose default it was have none then.
 * @throws {ServiceError} RESOURCE_NOT_FOUND
 */
export const deleteBrandVoice = (context: VerbContext, id: BrandVoiceId): Promise<void> =>
  deleteNamedText(context, VOICES, id);
