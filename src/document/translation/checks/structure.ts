/** Checks that a translated segment can be written back into the article. */
import { holdsAtom } from '../segments.ts';
import { eachTag, parseTags, type TagContent, type TagNode, tagText } from '../tags.ts';
import { type Defect, hard } from './defects.ts';

/**
 * Requires the tags of `source` in `translated`, both in protected form: well nested, none emptied. All defects are
 * hard.
 */
export function checkStructure(source: string, translated: string): Defect[] {
  if (translated.includes('\0') || !translated.isWellFormed()) {
    return [hard('characters', 'the text contains a NUL character or a lone surrogate')];
  }
  const wanted = parseTags(source);
  if (!wanted.ok) throw new Error(`source segment is not valid markup: ${wanted.problem}`);
  const given = parseTags(translated);
  if (!given.ok) return [hard('markup', given.problem)];
  if (tagText(given.nodes).trim() === '' && tagText(wanted.nodes).trim() !== '') {
    return [hard('empty', 'the translation is empty')];
  }
  const defects = [...compareTags(wanted.nodes, given.nodes), ...checkNesting(wanted.nodes, given.nodes)];
  if (translated.length > source.length * 10 + 500) {
    defects.push(hard('length', 'the translation is more than ten times as long as the text'));
  }
  return defects;
}

function describe(node: TagNode): string {
  return node.tag === 'x' ? `<x id="${node.id}"/>` : `<${node.tag} id="${node.id}">`;
}

function byName(nodes: readonly TagContent[]): Map<string, TagNode[]> {
  const tags = new Map<string, TagNode[]>();
  for (const { node } of eachTag(nodes)) {
    const name = describe(node);
    const same = tags.get(name);
    if (same === undefined) tags.set(name, [node]);
    else same.push(node);
  }
  return tags;
}

function compareTags(wanted: readonly TagContent[], given: readonly TagContent[]): Defect[] {
  const defects: Defect[] = [];
  const expected = byName(wanted);
  const found = byName(given);
  for (const [name, [source]] of expected) {
    const [node, second] = found.get(name) ?? [];
    if (node === undefined || source === undefined) defects.push(hard('tags', `the tag ${name} is missing`));
    else if (second !== undefined) defects.push(hard('tags', `the tag ${name} occurs more than once`));
    else if (node.tag === 'x' && node.children.length > 0) {
      defects.push(hard('tags', `the tag ${name} must stay empty`));
    } else if (node.tag !== 'x' && isBlank(node.children) && !isBlank(source.children)) {
      defects.push(hard('tags', `the tag ${name} has lost its text`));
    }
  }
  for (const name of found.keys()) {
    if (!expected.has(name)) defects.push(hard('tags', `the tag ${name} is not in the text to translate`));
  }
  return defects;
}

function isBlank(nodes: readonly TagContent[]): boolean {
  return tagText(nodes).trim() === '' && !holdsAtom(nodes);
}

/** A tag inside one of its own kind would be lost, so it is allowed only if the source has it. */
function checkNesting(wanted: readonly TagContent[], given: readonly TagContent[]): Defect[] {
  const allowed = nestedInOwnKind(wanted);
  for (const tag of nestedInOwnKind(given)) {
    if (!allowed.has(tag)) return [hard('nesting', `a <${tag}> tag must not be inside another <${tag}> tag`)];
  }
  return [];
}

function nestedInOwnKind(nodes: readonly TagContent[]): Set<string> {
  const tags = new Set<string>();
  for (const { node, around } of eachTag(nodes)) {
    if (around.some((outer) => outer.tag === node.tag || outer.tag === 'x')) tags.add(node.tag);
  }
  return tags;
}
