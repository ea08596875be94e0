import type { Schema } from './document.ts';
import { escapeHtml } from './html.ts';
import { code, prose } from './text.ts';

const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);
const asList = (value: unknown): Schema[] => (Array.isArray(value) ? (value as Schema[]) : []);

/** The schemas that a value may have, nested choices flattened. */
function choices(schema: Schema): Schema[] {
  const own = [...asList(schema.oneOf), ...asList(schema.anyOf)];
  return own.length === 0 ? [schema] : own.flatMap(choices);
}

/** The constant of an object's `type`, if it has one. */
function kindOf(schema: Schema): string | null {
  const { type } = (schema.properties ?? {}) as Record<string, Schema>;
  return typeof type?.const === 'string' ? type.const : null;
}

function typesOf(schema: Schema): string[] {
  const { $ref, type, items, const: constant, enum: values, format } = schema;
  if (typeof $ref === 'string') {
    return [`<a href="#schema-${escapeHtml(nameOf($ref))}">${escapeHtml(nameOf($ref))}</a>`];
  }
  if (constant !== undefined) return [escapeHtml(JSON.stringify(constant))];
  if (Array.isArray(values)) return values.map((value) => escapeHtml(JSON.stringify(value)));
  if (choices(schema).length > 1 || choices(schema)[0] !== schema) return choices(schema).flatMap(typesOf);
  if (type === 'array') {
    const inner = [...new Set(typesOf((items ?? {}) as Schema))];
    return [inner.length > 1 ? `(${inner.join(' | ')})[]` : `${inner.join('')}[]`];
  }
  if (Array.isArray(type)) return type.flatMap((one: unknown) => typesOf({ ...schema, type: one }));
  const kind = kindOf(schema);
  if (kind !== null) return [escapeHtml(kind)];
  const name = typeof type === 'string' ? type : 'any';
  return [escapeHtml(typeof format === 'string' && name === 'string' ? `string, ${format}` : name)];
}

/** A schema's type in a few words, as HTML with links to the shapes it names. */
export const typeOf = (schema: Schema): string => [...new Set(typesOf(schema))].join(' | ');

/** A bound worth showing: neither 0 nor the largest safe integer. */
const isWorthShowing = (value: unknown): value is number =>
  typeof value === 'number' && value !== 0 && Math.abs(value) !== Number.MAX_SAFE_INTEGER;

function range(least: unknown, most: unknown, unit: string): string | null {
  const from = isWorthShowing(least) ? least : null;
  const count = (number: number): string => `${number}${number === 1 ? unit.replace(/s$/, '') : unit}`;
  if (isWorthShowing(most)) return `${from === null ? 'at most ' : `${from} to `}${count(most)}`;
  return from === null ? null : `at least ${count(from)}`;
}

/** The bounds of a value in words: `1 to 120 characters`; empty when it has none. */
function boundsOf(schema: Schema): string {
  return [
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' items'),
    range(schema.minimum, schema.maximum, ''),
    schema.default === undefined ? null : `default ${JSON.stringify(schema.default)}`,
  ]
    .filter((text) => text !== null)
    .join(', ');
}

const notesOf = (schema: Schema): string => {
  const bounds = boundsOf(schema);
  return [
    typeof schema.description === 'string' ? prose(schema.description) : '',
    bounds === '' ? '' : `<span class="muted">${escapeHtml(bounds)}</span>`,
  ]
    .filter((part) => part !== '')
    .join(' ');
};

export interface Field {
  readonly name: string;
  readonly optional: boolean;
  /** HTML. */
  readonly type: string;
  readonly schema: Schema;
}

/** One field or parameter with its type and notes, and its inner fields below. */
export function fieldItem({ name, optional, type, schema }: Field): string {
  const notes = notesOf(schema);
  return (
    `<li>${code(name)} <span class="type">${type}</span>${optional ? ' <span class="muted">· optional</span>' : ''}` +
    `${notes === '' ? '' : `<div>${notes}</div>`}${innerFields(schema)}</li>`
  );
}

/** The fields of an object; empty for anything else. */
function fieldItems(schema: Schema, hidden: ReadonlySet<string> = new Set()): string {
  const required = new Set((schema.required ?? []) as string[]);
  return Object.entries((schema.properties ?? {}) as Record<string, Schema>)
    .filter(([name]) => !hidden.has(name))
    .map(([name, property]) =>
      fieldItem({ name, optional: !required.has(name), type: typeOf(property), schema: property }),
    )
    .join('');
}

const inList = (items: string): string => (items === '' ? '' : `<ul class="fields">${items}</ul>`);

/** The inner fields of a field's objects or lists. Several kinds of objects are folded. */
function innerFields(schema: Schema): string {
  return choices(schema)
    .map((choice) => {
      if (choice.items !== undefined) return innerFields((choice.items ?? {}) as Schema);
      const kind = kindOf(choice);
      if (kind === null) return inList(fieldItems(choice));
      const items = inList(fieldItems(choice, new Set(['type'])));
      return `<details><summary>${code(kind)}</summary>${items}</details>`;
    })
    .join('');
}

/** A list of all fields of a value, or its type when it has none. */
export const fieldList = (schema: Schema): string =>
  inList(fieldItems(schema)) || `<p class="type">${typeOf(schema)}</p>`;
