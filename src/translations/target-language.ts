import { invalid } from '../errors.ts';

/**
 * Refuses a target that the source can't be translated into.
 * @throws {ServiceError} INVALID_REQUEST naming `pointer` (contract.md T)
 */
export function checkTargetLanguage(
  pointer: string,
  target: string,
  source: { primary_language: string; languages: readonly string[] },
): void {
  if (target === source.primary_language) {
    throw invalid(pointer, `The article is already written in ${target}; choose another language.`);
  }
  if (!source.languages.includes(target)) {
    throw invalid(
      pointer,
      `${target} is not one of the project's languages: ${source.languages.join(', ')}.`,
    );
  }
}
