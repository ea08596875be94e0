/** The parts of a JSON Schema of /openapi.json that are read here. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

export type Components = Readonly<Record<string, Schema>>;

/** The forms that a value may have: references followed, choices taken apart, null left out. */
export function formsOf(schema: Schema, components: Components): Schema[] {
  if (schema.$ref !== undefined) {
    const target = components[schema.$ref.split('/').at(-1) ?? ''];
    return target === undefined ? [] : formsOf(target, components);
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.flatMap((choice) => formsOf(choice, components));
  if (schema.allOf !== undefined) {
    const parts = schema.allOf.flatMap((part) => formsOf(part, components));
    return [Object.assign({}, ...parts)];
  }
  return schema.type === 'null' ? [] : [schema];
}

export const isType = ({ type }: Schema, name: string): boolean =>
  type === name || (Array.isArray(type) && type.includes(name));

/** The smallest value that fits a form; children of a form that refers to itself are left out. */
export function smallest(form: Schema, components: Components): unknown {
  if (form.const !== undefined) return form.const;
  if (form.enum !== undefined) return form.enum[0];
  if (isType(form, 'object')) {
    const required = form.required ?? [];
    const fields = required.map((name) => {
      const [first] = formsOf(form.properties?.[name] ?? {}, components);
      return [name, first === undefined ? null : smallest(first, components)];
    });
    return Object.fromEntries(fields);
  }
  if (isType(form, 'array')) {
    const [first] = formsOf(form.items ?? {}, components);
    const item = first === undefined ? null : smallest(first, components);
    return Array.from({ length: form.minItems ?? 0 }, () => item);
  }
  if (isType(form, 'string')) {
    if (form.format === 'uuid') return '0198c0de-0000-7000-8000-000000000000';
    if (form.format === 'date-time') return '2027-01-31T12:00:00Z';
    if (form.format === 'uri') return 'http://127.0.0.1:9/';
    return 'a'.repeat(Math.max(1, form.minLength ?? 0));
  }
  if (isType(form, 'boolean')) return false;
  return form.minimum ?? 0;
}
