import { canonicalLanguage } from '../fields.ts';

/**
 * Which of the languages that were asked for a model means by the tag it answers with. The tag itself comes first;
 * else one that differs only in naming a region, or not (`en` for `en-GB`), when there is no other it could be.
 * @param targets canonical tags
 */
export function targetOf(tag: string, targets: readonly string[]): string | null {
  const answered = canonicalLanguage(tag);
  if (answered === null) return null;
  if (targets.includes(answered)) return answered;
  const alike = targets.filter((target) => differOnlyInRegion(answered, target));
  return alike.length === 1 ? (alike[0] ?? null) : null;
}

/** True for `en` and `en-GB`; not for `en-US` and `en-GB`, nor for `zh` and `zh-Hant`, which is another script. */
function differOnlyInRegion(one: string, other: string): boolean {
  const [first, second] = [new Intl.Locale(one), new Intl.Locale(other)];
  const [a, b] = [first.maximize(), second.maximize()];
  return (
    a.language === b.language &&
    a.script === b.script &&
    (first.region === undefined) !== (second.region === undefined)
  );
}
