import { z } from 'zod';

export type JsonSchema = { readonly [key: string]: unknown };

/** Adds a schema under components, once per name. */
type AddComponent = (name: string, schema: JsonSchema) => void;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema of a value that may also be null, without the null. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const { type, anyOf } = schema;
  if (Array.isArray(type)) return { ...schema, type: type.find((name) => name !== 'null') };
  const [first, ...others] = (Array.isArray(anyOf) ? anyOf.filter(isObject) : []).filter(
    (choice) => choice.type !== 'null',
  );
  return first === undefined || others.length > 0 ? schema : first;
}

type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>;

/**
 * For responses. zod does not know the shape of a transformed field and allows anything: ours only turn null into
 * absent, so the shape is the input without null. Clients must tolerate fields added later.
 */
const describeResponse: Override = ({ jsonSchema, zodSchema: { _zod } }) => {
  const { def } = _zod;
  if (Object.keys(jsonSchema).length === 0 && def.type === 'pipe' && def.out._zod.def.type === 'transform') {
    const options = { io: 'output', unrepresentable: 'any', override: describeResponse } as const;
    const { $schema: _, ...before } = z.toJSONSchema(def.in, options);
    Object.assign(jsonSchema, withoutNull(before));
  }
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
};

/** The schema, or null: in a request null stands for an absent optional field. */
function orNull(schema: unknown): unknown {
  if (!isObject(schema) || schema.default === null) return schema;
  const { type, enum: values, anyOf } = schema;
  if (Array.isArray(anyOf) && anyOf.some((choice) => isObject(choice) && choice.type === 'null'))
    return schema;
  if (typeof type !== 'string' || 'const' in schema) {
    return Array.isArray(type) && type.includes('null') ? schema : { anyOf: [schema, { type: 'null' }] };
  }
  return { ...schema, type: [type, 'null'], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) };
}

/** The schema with null allowed for every optional property, at every depth. */
function withOptionalNulls(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withOptionalNulls);
  if (!isObject(schema)) return schema;
  const inner = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, withOptionalNulls(value)]),
  );
  const { properties, required } = inner;
  if (!isObject(properties)) return inner;
  const needed = new Set(Array.isArray(required) ? required : []);
  inner.properties = Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name, needed.has(name) ? value : orNull(value)]),
  );
  return inner;
}

/**
 * Turns zod schemas into the JSON Schema of OpenAPI 3.1, from the same objects that validate. Schemas
 * with an id (`.meta({ id: 'Article' })`) become components, once each; where a request's form of one
 * differs from the response's, it is called `ArticleInput`.
 */
export function createSchemaWriter(addComponent: AddComponent) {
  const known = new Map<string, string>();

  const componentName = (wanted: string, json: string, io: 'input' | 'output'): string => {
    const isFree = (name: string): boolean => (known.get(name) ?? json) === json;
    const base = isFree(wanted) || io === 'output' ? wanted : `${wanted}Input`;
    let name = base;
    for (let suffix = 2; !isFree(name); suffix += 1) name = `${base}${suffix}`;
    return name;
  };

  return (schema: z.ZodType, io: 'input' | 'output', owner: string): JsonSchema => {
    const generated = z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      ...(io === 'output' ? { override: describeResponse } : {}),
    });
    const {
      $schema: _,
      $defs,
      ...root
    } = (io === 'input' ? withOptionalNulls(generated) : generated) as typeof generated;
    const definitions = Object.entries($defs ?? {}).map(([id, definition]) => {
      const wanted = id.startsWith('__') ? `${owner}${id.replaceAll('_', '')}` : id;
      const json = JSON.stringify(definition);
      return { id, json, name: componentName(wanted, json, io) };
    });
    const names = new Map(definitions.map(({ id, name }) => [id, name]));
    const relink = (json: string): JsonSchema =>
      JSON.parse(
        json.replaceAll(/"#\/\$defs\/([^"]+)"/g, (_match, id: string) =>
          JSON.stringify(`#/components/schemas/${names.get(id) ?? id}`),
        ),
      ) as JsonSchema;
    for (const { json, name } of definitions) {
      if (known.has(name)) continue;
      known.set(name, json);
      const { id: _id, ...component } = relink(json);
      addComponent(name, component);
    }
    return relink(JSON.stringify(root));
  };
}
