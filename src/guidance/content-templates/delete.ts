import { requirePermissions, type VerbContext } from '../../context.ts';
import type { ContentTemplateId } from '../../ids.ts';
import { deleteNamedText, TEMPLATES } from '../named-texts.ts';
import { refuseBuiltIn } from './queries.ts';

/**
 * Deletes a template of the workspace (generation.configure; contract.md G54).
 * @throws {ServiceError} RESOURCE_NOT_FOUND; CONFLICT `built_in_template`
 */
export async function deleteContentTemplate(context: VerbContext, id: ContentTemplateId): Promise<void> {
  requirePermissions(context.actor, 'generation.configure');
  refuseBuiltIn(id);
  await deleteNamedText(context, TEMPLATES, id);
}
